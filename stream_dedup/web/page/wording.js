// How numbers, times and matches are written.

import { element } from "./elements.js";

// What a kind is, said by a sign as well: a part of, and containing.
export const GLYPHS = {
  unique: "○", exact: "=", near: "≈", excerpt: "⊂", extension: "⊃",
  repeat: "↻", skipped: "–", deleted: "×", rejected: "!",
};

export const known = (value) => value !== null && value !== undefined && Number.isFinite(value);
const written = (digits) => new Intl.NumberFormat("en", {
  minimumFractionDigits: digits, maximumFractionDigits: digits,
});
export const [WHOLE, TENTHS, HUNDREDTHS, THOUSANDTHS] = [0, 1, 2, 3].map(written);
export const count = (value) => (known(value) ? WHOLE.format(value) : "–");
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
export const about = (value) => (known(value) ? `≈ ${COMPACT.format(value)}` : "–");

export function share(value) {
  if (!known(value)) return "–";
  const percent = value * 100;
  // Rounded down: nothing short of all reads 100 %.
  return `${TENTHS.format(Math.floor(percent * 10 + 1e-9) / 10)} %`;
}

export function bytes(value) {
  if (!known(value)) return "–";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let power = 0;
  for (; value >= 1000 && power < units.length - 1; power++) value /= 1000;
  return `${(value < 10 && power ? TENTHS : WHOLE).format(value)} ${units[power]}`;
}

export function duration(seconds) {
  if (!known(seconds)) return "–";
  if (seconds < 1) return `${count(seconds * 1000)} ms`;
  if (seconds < 10) return `${TENTHS.format(seconds)} s`;
  if (seconds < 120) return `${count(seconds)} s`;
  if (seconds < 7200) return `${count(seconds / 60)} min`;
  return seconds < 172800 ? `${count(seconds / 3600)} h` : `${count(seconds / 86400)} days`;
}

export const total = (counts) => Object.values(counts).reduce((sum, value) => sum + value, 0);
export const counted = (number, one, many) => `${count(number)} ${number === 1 ? one : many}`;

// As logs write it: one width, and no noon to think of.
export const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "medium", hourCycle: "h23" });
export const CALENDAR = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" });

// Local, for whoever looks; in UTC when pointed at, as in logs and verdicts.
export function moment(value, format = CLOCK) {
  const date = new Date(typeof value === "number" ? value * 1000 : value);
  const utc = date.toISOString();
  return element("time", { datetime: utc, title: utc }, format.format(date));
}

export const kindWords = (kind) =>
  [element("span", { class: "glyph", "aria-hidden": "true" }, GLYPHS[kind] ?? "·"), kind];

export const naming = (name, source, namespace = "") => [
  element("span", { class: "name" }, name),
  ...(source ? [" ", element("span", { class: "source" }, source)] : []),
  ...(namespace ? [" ", element("span", { class: "source" }, `in ${namespace}`)] : []),
];

export function similarityWords(match) {
  const estimated = match.error > 0 ? ` ± ${HUNDREDTHS.format(match.error)}` : "";
  // Rounded down, like shares: only copies read 1.
  return THOUSANDTHS.format(Math.floor(match.similarity * 1000 + 1e-9) / 1000) + estimated;
}
