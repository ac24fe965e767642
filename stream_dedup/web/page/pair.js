// Two documents side by side.

import { alone, mark, wordsOf } from "./differences.js";
import { $, element, facts, say } from "./elements.js";
import { NOT_KEPT, ask, failureWords, remembered } from "./service.js";
import {
  CALENDAR, HUNDREDTHS, THOUSANDTHS, count, counted, moment, share, similarityWords,
} from "./wording.js";

function showTexts(first, second) {
  $("pair-sides").hidden = false;
  const words = [wordsOf(first.text), wordsOf(second.text)];
  [first, second].forEach((side, which) => {
    const name = which ? "pair-second" : "pair-first";
    const differing = mark($(`${name}-text`), side.text, words[which], alone(words[which], words[1 - which]));
    $(name).replaceChildren(element("bdi", {}, side.name));
    $(`${name}-note`).replaceChildren(
      ...(side.source ? [element("bdi", {}, side.source), " · "] : []),
      ...(side.seen_at ? [moment(side.seen_at, CALENDAR), " · "] : []),
      `${counted(words[which].length, "word", "words")}, ${count(differing)} marked`);
  });
}

let opened = 0;

// Open at once with what is known, and fill in what has to be asked for.
export async function openPair(head, known, texts, explained) {
  const mine = ++opened;
  $("pair-head").replaceChildren(...head);
  $("pair-sides").hidden = true;
  facts("pair-facts", known);
  say("pair-answer", "Fetching the texts …");
  if (!$("pair").open) $("pair").showModal();
  try {
    const [first, second] = await texts();
    if (mine !== opened) return;
    if (first.text === null || second.text === null) return say("pair-answer", NOT_KEPT);
    showTexts(first, second);
    say("pair-answer", "Marked: words in no phrase of three that the other text has.");
    const explanation = await explained(first, second);
    const others = known.filter(([name]) => name !== "similarity" && name !== "contained");
    if (mine === opened) facts("pair-facts", [...explanationWords(explanation), ...others]);
  } catch (failure) {
    if (mine === opened) say("pair-answer", failureWords(failure));
  }
}

const explanationWords = (said) => [
  ["similarity", THOUSANDTHS.format(Math.floor(said.similarity * 1000 + 1e-9) / 1000)],
  ["by the signatures", `${HUNDREDTHS.format(said.estimate)} ± ${HUNDREDTHS.format(said.error)}`],
  ["bands shared", `${count(said.bands_shared)} of ${count(said.bands)}`],
  ["chance to be compared", share(said.candidate_probability)],
  ["found in the other", `${share(said.a.containment)} and ${share(said.b.containment)}`],
];

export function openMatch(match) {
  const pairs = [
    ["kind", match.kind],
    ["similarity", similarityWords(match)],
    ["contained", share(match.containment)],
    ["matches", count(match.match_count)],
    ...(match.cluster_size ? [["cluster", `${match.cluster_id}, ${count(match.cluster_size)}`]] : []),
  ];
  const side = (name, source, seenAt) => remembered(name, match.namespace).then(
    (found) => ({ name, source, seen_at: seenAt, text: found.text ?? null }));
  openPair(
    [element("bdi", {}, match.id), " resembles ", element("bdi", {}, match.matched_id)],
    pairs,
    () => Promise.all([
      side(match.id, match.source, match.seen_at),
      side(match.matched_id, match.matched_source, match.matched_seen_at),
    ]),
    () => ask("v1/explain", { a: match.id, b: match.matched_id, by: "id", namespace: match.namespace }),
  );
}

$("pair-close").addEventListener("click", () => $("pair").close());
$("pair").addEventListener("close", () => { opened++; });
