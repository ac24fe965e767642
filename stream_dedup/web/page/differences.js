// Which words of two texts differ.

import { element } from "./elements.js";

const PHRASE_WORDS = 3; // as many in a row are no coincidence

// Scripts without spaces are taken sign by sign.
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]|[\p{L}\p{N}\p{M}]+/gu;

export function wordsOf(text) {
  return Array.from(text.matchAll(WORD), (found) => ({
    begin: found.index,
    end: found.index + found[0].length,
    word: found[0].normalize("NFKC").toLowerCase(),
  }));
}

const phrase = (words, place, size) => words.slice(place, place + size).map(({ word }) => word).join(" ");

// Which words lie in no phrase that the other text has: as shingles are compared, so that a passage
// that moved is no difference.
export function alone(words, others) {
  const size = Math.max(1, Math.min(PHRASE_WORDS, words.length, others.length));
  const theirs = new Set(others.map((_, place) => phrase(others, place, size)));
  const isShared = new Array(words.length).fill(false);
  for (let place = 0; place + size <= words.length; place++) {
    if (theirs.has(phrase(words, place, size))) isShared.fill(true, place, place + size);
  }
  return isShared.map((shared) => !shared);
}

// The text with every run of such words marked; return how many words are.
export function mark(node, text, words, isAlone) {
  const parts = [];
  let written = 0;
  for (let place = 0; place < words.length; place++) {
    if (!isAlone[place]) continue;
    let last = place;
    while (isAlone[last + 1]) last++;
    parts.push(text.slice(written, words[place].begin));
    parts.push(element("mark", {}, text.slice(words[place].begin, words[last].end)));
    written = words[last].end;
    place = last;
  }
  node.replaceChildren(...parts, text.slice(written));
  const first = node.querySelector("mark");
  node.scrollTop = first ? Math.max(0, first.offsetTop - node.clientHeight / 3) : 0;
  return isAlone.filter(Boolean).length;
}
