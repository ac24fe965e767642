// The latest matches, newest first.

import { $, element, say } from "./elements.js";
import { openMatch } from "./pair.js";
import { count, kindWords, moment, naming, similarityWords } from "./wording.js";

const FRESH_MAX = 5;

let shown = null; // what was listed last

function matchRow(match) {
  const others = match.match_count > 1 ? ` and ${count(match.match_count - 1)} more` : "";
  const button = element("button", { type: "button", class: "row" },
    element("span", {}, moment(match.decided_at)),
    element("span", {}, ...kindWords(match.kind)),
    element("span", { class: "number" }, similarityWords(match)),
    element("span", { title: match.id }, ...naming(match.id, match.source, match.namespace)),
    element("span", { title: match.matched_id }, ...naming(match.matched_id, match.matched_source), others),
    element("span", { class: "number" }, match.cluster_size ? count(match.cluster_size) : ""));
  button.addEventListener("click", () => openMatch(match));
  return element("li", { "data-number": match.number }, button);
}

// Rows that move away under a finger, a pointer or the keyboard cannot be chosen.
function isHeld() {
  const list = $("matches");
  return $("hold").getAttribute("aria-pressed") === "true"
    || list.contains(document.activeElement)
    || (matchMedia("(hover: hover)").matches && list.matches(":hover"));
}

export function showMatches(live) {
  shown = live;
  const list = $("matches");
  const newest = Number(list.firstChild?.dataset.number ?? 0);
  // Another process counts from one again.
  const isAnother = newest > live.matches;
  const waiting = isAnother ? live.matches : live.matches - newest;
  $("matches-empty").hidden = live.latest.length > 0;
  say("matches-empty", live.settings.emit === "none"
    ? "Verdicts are not published (events.emit = \"none\"), so there are none to show."
    : "No match yet.");
  if (isHeld() && !isAnother) {
    say("matches-note", waiting ? `held, ${count(waiting)} newer` : "held");
    return;
  }
  say("matches-note", live.matches ? `${count(live.matches)} since the start` : "");
  if (!waiting && !isAnother) return;
  const rows = live.latest.filter((match) => isAnother || match.number > newest).map(matchRow);
  // Where all is new nothing needs to be pointed out.
  if (rows.length <= FRESH_MAX) rows.forEach((row) => row.classList.add("fresh"));
  if (isAnother) list.replaceChildren();
  list.prepend(...rows);
  while (list.childElementCount > live.latest.length) list.lastChild.remove();
}

$("hold").addEventListener("click", () => {
  const isPressed = $("hold").getAttribute("aria-pressed") === "true";
  $("hold").setAttribute("aria-pressed", String(!isPressed));
  if (shown) showMatches(shown);
});
