// A text of the reader's own, looked up.

import { askForToken } from "./access.js";
import { $, element, say } from "./elements.js";
import { openPair } from "./pair.js";
import { ask, failureWords, remembered } from "./service.js";
import { count, counted, kindWords, known, naming, share, similarityWords } from "./wording.js";

function resultRow(match, text, namespace) {
  const button = element("button", { type: "button", class: "row" },
    element("span", {}, ...kindWords(match.kind)),
    element("span", { class: "number" }, similarityWords(match)),
    element("span", { title: match.id }, ...naming(match.id, match.source)));
  button.addEventListener("click", () => openPair(
    ["Your text resembles ", element("bdi", {}, match.id)],
    [["kind", match.kind], ["similarity", similarityWords(match)], ["contained", share(match.containment)]],
    async () => [
      { name: "your text", source: "", seen_at: null, text },
      { name: match.id, source: match.source, seen_at: match.seen_at, text: (await remembered(match.id, namespace)).text ?? null },
    ],
    (first, second) => ask("v1/explain", { a: first.text, b: second.text, by: "text" }),
  ));
  return element("li", {}, button);
}

async function query(event) {
  event.preventDefault();
  const text = $("query-text").value;
  const namespace = $("query-namespace").value;
  const threshold = $("query-threshold").valueAsNumber;
  const body = { text, namespace, ...(known(threshold) ? { threshold } : {}) };
  $("query-results").replaceChildren();
  say("query-answer", "Looking …");
  try {
    const said = await ask("v1/query", body);
    $("query-results").replaceChildren(...said.matches.map((match) => resultRow(match, text, namespace)));
    say("query-answer", queryWords(said));
  } catch (failure) {
    if (failure.status === 401) askForToken();
    say("query-answer", failureWords(failure));
  }
}

function queryWords(said) {
  if (!said.matches.length) {
    return `Not known at ${said.threshold}. ${share(said.recall)} of what is right at the threshold would have been found.`;
  }
  const shown = said.match_count > said.matches.length ? `, the best ${count(said.matches.length)} shown` : "";
  return `${counted(said.match_count, "document resembles", "documents resemble")} it${shown}.`;
}

$("query").addEventListener("submit", query);
