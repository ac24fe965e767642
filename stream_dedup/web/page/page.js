// The live page: asks the service once a second how it is, and draws the answer.

import { askForToken, isShut, onEntered } from "./access.js";
import { showCurve } from "./curve.js";
import { $, filled } from "./elements.js";
import { showFigures, showGrowing, showOutcomes, showSettings } from "./figures.js";
import { showMatches } from "./matches.js";
import "./query.js";
import { Failure, ask, failureWords } from "./service.js";
import { answered, failed, hasAnswered, showStanding } from "./standing.js";
import { moment } from "./wording.js";

const POLL_MILLISECONDS = 1000;
const POLL_HIDDEN_MILLISECONDS = 15000; // nobody looks

let next = 0;
let isAsking = false;

function show(live) {
  $("as-of").replaceWith(filled(moment(live.at), { id: "as-of" }, []));
  showFigures(live);
  showOutcomes(live);
  showMatches(live);
  showGrowing(live);
  showCurve(live);
  showSettings(live);
}

async function poll() {
  if (isAsking) return;
  isAsking = true;
  clearTimeout(next);
  try {
    const [live, ready] = await Promise.all([ask("v1/live"), ask("readyz")]);
    answered(live.at, ready);
    show(live);
  } catch (failure) {
    if (failure.status === 401) return askForToken();
    // A mistake of this page is to be seen as one, not as a lost connection.
    if (!(failure instanceof Failure)) throw failure;
    failed(failureWords(failure));
  } finally {
    isAsking = false;
    if (!isShut()) {
      showStanding();
      next = setTimeout(poll, document.hidden ? POLL_HIDDEN_MILLISECONDS : POLL_MILLISECONDS);
    }
  }
}

onEntered(poll);
document.addEventListener("visibilitychange", () => { if (!document.hidden && !isShut()) poll(); });
setInterval(() => { if (!isShut() && hasAnswered()) showStanding(); }, POLL_MILLISECONDS);
poll();
