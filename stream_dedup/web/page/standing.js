// How the service stands: whether it answers, and whether it is ready.

import { $, element } from "./elements.js";
import { CLOCK } from "./wording.js";

const STALE_MILLISECONDS = 5000;

let trueAt = null; // what is shown, by the service's clock
let answeredAt = null; // by the browser's
let trouble = "";
let readiness = null;

export function answered(at, ready) {
  trueAt = at;
  answeredAt = performance.now();
  trouble = "";
  readiness = ready;
}

export function failed(words) {
  trouble = words;
}

export const hasAnswered = () => answeredAt !== null;

export function stand(name, sign, words) {
  const standing = $("standing");
  standing.className = `standing ${name}`;
  const [shown, said] = standing.children;
  if (shown.textContent !== sign) shown.textContent = sign;
  if (said.textContent !== words) said.textContent = words;
}

export function banner(lines) {
  const box = $("banner");
  const words = lines.join("\n");
  box.hidden = !lines.length;
  // Said once: a live region that is written again is read again.
  if (box.dataset.words === words) return;
  box.dataset.words = words;
  box.replaceChildren(...lines.map((words) => element("p", {}, words)));
}

export function showStanding() {
  const silent = answeredAt === null ? 0 : performance.now() - answeredAt;
  const isStale = Boolean(trouble) || silent > STALE_MILLISECONDS;
  document.body.classList.toggle("stale", isStale && hasAnswered());
  if (isStale) {
    stand("lost", "▲", "no answer");
    const since = hasAnswered() ? ` What is shown was true at ${CLOCK.format(trueAt * 1000)}.` : "";
    banner([`${trouble || "The service does not answer."} Trying again.${since}`]);
  } else if (readiness && !readiness.ok) {
    stand("waiting", "◌", "not ready");
    banner(readiness.reasons.length ? readiness.reasons : ["no role has reported yet"]);
  } else if (readiness) {
    const roles = Object.entries(readiness.roles).map(([role, { phase }]) => `${role} ${phase}`);
    stand("ready", "●", roles.length ? `ready: ${roles.join(", ")}` : "ready");
    banner([]);
  }
}
