// The live page: asks the service once a second how it is, and draws the answer.
//
// Ids, sources and texts come from whoever fills the topics. They enter the page as text only:
// nothing here writes markup, and the policy that the page is served with runs no other script.

const POLL_MILLISECONDS = 1000;
const POLL_HIDDEN_MILLISECONDS = 15000; // nobody looks
const ANSWER_MILLISECONDS_MAX = 8000;
const STALE_MILLISECONDS = 5000;
const THROUGHPUT_SLICES = 5; // fewer jump with every batch, more hide what happens
const FRESH_MAX = 5;
const PHRASE_WORDS = 3; // as many in a row are no coincidence
const TOKEN = "stream-dedup-token";

// What a kind is, said by a sign as well: a part of, and containing.
const GLYPHS = {
  unique: "○", exact: "=", near: "≈", excerpt: "⊂", extension: "⊃",
  repeat: "↻", skipped: "–", deleted: "×", rejected: "!",
};
const DUPLICATES = ["exact", "near", "excerpt", "extension"];

// ---------------------------------------------------------------------------- elements

const $ = (id) => document.getElementById(id);

function filled(node, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

const element = (tag, properties = {}, ...children) =>
  filled(document.createElement(tag), properties, children);

const shape = (tag, properties = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);

// What did not change is left alone: a screen reader, a selection and a cursor stay where they are.
function say(id, words) {
  const node = $(id);
  if (node.textContent !== words) node.textContent = words;
}

function facts(id, pairs) {
  const words = JSON.stringify(pairs);
  const list = $(id);
  if (list.dataset.words === words) return;
  list.dataset.words = words;
  const rows = pairs.map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);
  const across = list.classList.contains("across");
  list.replaceChildren(...(across ? rows.map((row) => element("div", {}, ...row)) : rows.flat()));
}

// ---------------------------------------------------------------------------- words and numbers

const known = (value) => value !== null && value !== undefined && Number.isFinite(value);
const written = (digits) => new Intl.NumberFormat("en", {
  minimumFractionDigits: digits, maximumFractionDigits: digits,
});
const [WHOLE, TENTHS, HUNDREDTHS, THOUSANDTHS] = [0, 1, 2, 3].map(written);
const count = (value) => (known(value) ? WHOLE.format(value) : "–");
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const about = (value) => (known(value) ? `≈ ${COMPACT.format(value)}` : "–");

function share(value) {
  if (!known(value)) return "–";
  const percent = value * 100;
  // Rounded down: nothing short of all reads 100 %.
  return `${TENTHS.format(Math.floor(percent * 10 + 1e-9) / 10)} %`;
}

function bytes(value) {
  if (!known(value)) return "–";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let power = 0;
  for (; value >= 1000 && power < units.length - 1; power++) value /= 1000;
  return `${(value < 10 && power ? TENTHS : WHOLE).format(value)} ${units[power]}`;
}

function duration(seconds) {
  if (!known(seconds)) return "–";
  if (seconds < 1) return `${count(seconds * 1000)} ms`;
  if (seconds < 10) return `${TENTHS.format(seconds)} s`;
  if (seconds < 120) return `${count(seconds)} s`;
  if (seconds < 7200) return `${count(seconds / 60)} min`;
  return seconds < 172800 ? `${count(seconds / 3600)} h` : `${count(seconds / 86400)} days`;
}

const counted = (number, one, many) => `${count(number)} ${number === 1 ? one : many}`;

// As logs write it: one width, and no noon to think of.
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "medium", hourCycle: "h23" });
const CALENDAR = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" });

// Local, for whoever looks; in UTC when pointed at, as in logs and verdicts.
function moment(value, format = CLOCK) {
  const date = new Date(typeof value === "number" ? value * 1000 : value);
  const utc = date.toISOString();
  return element("time", { datetime: utc, title: utc }, format.format(date));
}

// ---------------------------------------------------------------------------- asking

class Failure extends Error {
  constructor(status, words) {
    super(words);
    this.status = status;
  }
}

async function ask(path, body) {
  const headers = {};
  const token = sessionStorage.getItem(TOKEN);
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body) headers["Content-Type"] = "application/json";
  let response, said;
  try {
    response = await fetch(path, {
      method: body ? "POST" : "GET",
      headers,
      body: body && JSON.stringify(body),
      cache: "no-store",
      signal: AbortSignal.timeout(ANSWER_MILLISECONDS_MAX),
    });
    said = await response.json();
  } catch (failure) {
    if (failure.name === "TimeoutError") throw new Failure(0, "The service did not answer in time.");
    throw new Failure(response?.status ?? 0, "The service cannot be reached.");
  }
  // Not ready is an answer too: it says why.
  if (response.ok || path === "readyz") return said;
  throw new Failure(response.status, said.error ?? `The service answered ${response.status}.`);
}

const remembered = (name, namespace) =>
  ask(`v1/documents/${encodeURIComponent(name)}?namespace=${encodeURIComponent(namespace)}`);

// ---------------------------------------------------------------------------- small charts

const WIDE = 200;
const HIGH = 40;

// A line through what is known, broken where nothing is.
function line(values, top, width = WIDE, height = HIGH) {
  const step = width / Math.max(1, values.length - 1);
  let path = "";
  let drawing = false;
  values.forEach((value, place) => {
    if (known(value)) {
      const y = height - (top ? (value / top) * (height - 2) : 0) - 1;
      path += `${drawing ? "L" : "M"}${(place * step).toFixed(1)},${y.toFixed(1)}`;
      // A point by itself would not be seen.
      if (!drawing && !known(values[place + 1])) path += "h1";
    }
    drawing = known(value);
  });
  return path;
}

function sparkline(id, words, first, second = []) {
  const top = Math.max(0, ...first.filter(known), ...second.filter(known));
  const chart = $(id);
  chart.setAttribute("viewBox", `0 0 ${WIDE} ${HIGH}`);
  chart.setAttribute("preserveAspectRatio", "none");
  chart.setAttribute("aria-label", words(top));
  chart.replaceChildren(
    shape("path", { class: "foot", d: `M0,${HIGH - 0.5}H${WIDE}` }),
    shape("path", { class: "two", d: line(second, top) }),
    shape("path", { class: "one", d: line(first, top) }),
  );
}

// The estimate within its interval, on the part of the scale where recall matters.
function whisker(id, recall) {
  const chart = $(id);
  const from = Math.min(0.8, Math.floor(recall.low * 10) / 10);
  const x = (value) => (6 + ((value - from) / (1 - from)) * (WIDE - 12)).toFixed(1);
  const parts = [
    shape("path", { class: "foot", d: `M${x(from)},26H${x(1)}` }),
    shape("path", { class: "one", d: `M${x(recall.low)},12H${x(recall.high)}M${x(recall.low)},7v10M${x(recall.high)},7v10` }),
    shape("circle", { cx: x(recall.share), cy: 12, r: 4 }),
    shape("text", { x: x(from), y: 38 }, `${Math.round(from * 100)} %`),
    shape("text", { x: x(1), y: 38, "text-anchor": "end" }, "100 %"),
  ];
  if (known(recall.expected)) parts.push(shape("path", { class: "expected", d: `M${x(recall.expected)},20v8` }));
  chart.setAttribute("viewBox", `0 0 ${WIDE} ${HIGH}`);
  chart.setAttribute("aria-label", `Between ${share(recall.low)} and ${share(recall.high)}`);
  chart.replaceChildren(...parts);
}

// ---------------------------------------------------------------------------- figures

const total = (counts) => Object.values(counts).reduce((sum, value) => sum + value, 0);
const duplicates = (counts) => DUPLICATES.reduce((sum, kind) => sum + (counts[kind] ?? 0), 0);

function showFigures(live) {
  const series = live.series;
  showTraffic(live, series);
  say("latency-p50", duration(live.p50_seconds));
  say("latency-p99", duration(live.p99_seconds));
  sparkline("latency-chart", (top) => `Latency of the last three minutes, up to ${duration(top)}`, series.p50_seconds, series.p99_seconds);
  showLag(live, series);
  showIndex(live);
  showRecall(live);
}

function showTraffic(live, series) {
  const rates = series.documents.map((value) => known(value) ? value / series.slice_seconds : null);
  const recent = rates.slice(-THROUGHPUT_SLICES).filter(known);
  const rate = recent.length ? recent.reduce((sum, value) => sum + value, 0) / recent.length : null;
  say("throughput", known(rate) ? (rate < 10 ? TENTHS : WHOLE).format(rate) : "–");
  say("throughput-note", `${count(total(live.outcomes))} since the start`);
  sparkline("throughput-chart", (top) => `Documents a second of the last three minutes, up to ${count(top)}`, rates);

  const minute = total(live.outcomes_last_minute);
  say("duplicates", share(minute ? duplicates(live.outcomes_last_minute) / minute : null));
  say("duplicates-note", `${count(duplicates(live.outcomes))} since the start`);
  const shares = series.documents.map((value, place) => value ? series.duplicates[place] / value : null);
  sparkline("duplicates-chart", (top) => `Share of duplicates of the last three minutes, up to ${share(top)}`, shares);
}

function showLag(live, series) {
  const seconds = Object.values(live.lag_seconds);
  say("lag", duration(seconds.length ? Math.max(...seconds) : null));
  const waiting = Object.entries(live.lag_records).map(([role, records]) => `${role} ${count(records)}`);
  say("lag-note", waiting.length ? `records waiting: ${waiting.join(", ")}` : "records waiting: –");
  sparkline("lag-chart", (top) => `Lag of the last three minutes, up to ${duration(top)}`, series.lag_seconds);
}

function showIndex(live) {
  say("index", bytes(live.index_bytes));
  const keys = live.index_keys;
  facts("index-facts", [
    ["documents", about(keys.ids)],
    ["texts", about(keys.texts)],
    ["disk free", bytes(live.disk_free_bytes)],
    ["reaches back", known(live.oldest) && known(live.log_time) ? duration(live.log_time - live.oldest) : "–"],
  ]);
}

function showRecall(live) {
  const { recall, recall_pairs: pairs } = live;
  if (!known(recall.share)) {
    say("recall", "–");
    say("recall-interval", "too little seen yet");
  } else {
    say("recall", share(recall.share));
    say("recall-interval", `${share(recall.low)} to ${share(recall.high)}`);
    whisker("recall-chart", recall);
  }
  const expected = known(recall.expected) ? `; ${share(recall.expected)} expected` : "";
  say("recall-note", `${counted(total(pairs), "pair", "pairs")} sampled${expected}`);
}

function showOutcomes(live) {
  const all = total(live.outcomes);
  const named = Object.keys(GLYPHS).filter((name) => live.outcomes[name]);
  const others = Object.keys(live.outcomes).filter((name) => !(name in GLYPHS));
  $("outcomes-empty").hidden = all > 0;
  $("outcomes").replaceChildren(...[...named, ...others].map((name) => {
    const part = live.outcomes[name] / all;
    const bar = shape("rect", { width: `${(part * 100).toFixed(2)}%`, height: "100%" });
    return element("tr", {},
      element("th", { scope: "row" }, ...kindWords(name)),
      element("td", {}, shape("svg", { "aria-hidden": "true" }, bar)),
      element("td", { class: "number" }, count(live.outcomes_last_minute[name] ?? 0)),
      element("td", { class: "number" }, count(live.outcomes[name])),
      element("td", { class: "number" }, share(part)));
  }));
}

function showGrowing(live) {
  $("growing-empty").hidden = live.growing.length > 0;
  $("growing").replaceChildren(...live.growing.map((cluster) => element("tr", {},
    element("th", { scope: "row" }, ...naming(cluster.id, "", cluster.namespace)),
    element("td", { class: "number" }, `+${count(cluster.gained_last_minute)}`),
    element("td", { class: "number" }, `+${count(cluster.gained)}`),
    element("td", { class: "number" }, count(cluster.size)))));
}

function showSettings(live) {
  const now = live.settings;
  say("whose", `${now.application} on ${now.instance}`);
  facts("settings", [
    ["measure", `${now.measure}, ${now.size} ${now.unit === "char" ? "characters" : "words"}`],
    ["threshold", String(now.threshold)],
    ["bands × rows", `${now.bands} × ${now.rows} of ${now.hashes}`],
    ["found at the threshold", share(now.recall_at_threshold)],
    ["half point", THOUSANDTHS.format(now.half_point)],
    ["verified by", now.verify],
    ["window", now.window_seconds === null ? "none" : duration(now.window_seconds)],
    ["scope", now.scope.replace("_", " ")],
    ["verdicts", now.emit],
    ["fingerprint", now.fingerprint],
    ["version", now.version],
  ]);
}

// ---------------------------------------------------------------------------- matches

const kindWords = (kind) =>
  [element("span", { class: "glyph", "aria-hidden": "true" }, GLYPHS[kind] ?? "·"), kind];

const naming = (name, source, namespace = "") => [
  element("span", { class: "name" }, name),
  ...(source ? [" ", element("span", { class: "source" }, source)] : []),
  ...(namespace ? [" ", element("span", { class: "source" }, `in ${namespace}`)] : []),
];

function similarityWords(match) {
  const estimated = match.error > 0 ? ` ± ${HUNDREDTHS.format(match.error)}` : "";
  // Rounded down, like shares: only copies read 1.
  return THOUSANDTHS.format(Math.floor(match.similarity * 1000 + 1e-9) / 1000) + estimated;
}

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

function showMatches(live) {
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

// ---------------------------------------------------------------------------- two texts

// Scripts without spaces are taken sign by sign.
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]|[\p{L}\p{N}\p{M}]+/gu;

function wordsOf(text) {
  return Array.from(text.matchAll(WORD), (found) => ({
    begin: found.index,
    end: found.index + found[0].length,
    word: found[0].normalize("NFKC").toLowerCase(),
  }));
}

const phrase = (words, place, size) => words.slice(place, place + size).map(({ word }) => word).join(" ");

// Which words lie in no phrase that the other text has: as shingles are compared, so that a passage
// that moved is no difference.
function alone(words, others) {
  const size = Math.max(1, Math.min(PHRASE_WORDS, words.length, others.length));
  const theirs = new Set(others.map((_, place) => phrase(others, place, size)));
  const isShared = new Array(words.length).fill(false);
  for (let place = 0; place + size <= words.length; place++) {
    if (theirs.has(phrase(words, place, size))) isShared.fill(true, place, place + size);
  }
  return isShared.map((shared) => !shared);
}

// The text with every run of such words marked; return how many words are.
function mark(node, text, words, isAlone) {
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

function showTexts(first, second) {
  $("pair-sides").hidden = false;
  const words = [wordsOf(first.text), wordsOf(second.text)];
  [first, second].forEach((side, which) => {
    const name = which ? "pair-second" : "pair-first";
    const differing = mark($(`${name}-text`), side.text, words[which], alone(words[which], words[1 - which]));
    $(name).textContent = side.name;
    $(`${name}-note`).replaceChildren(
      ...(side.source ? [`${side.source} · `] : []),
      ...(side.seen_at ? [moment(side.seen_at, CALENDAR), " · "] : []),
      `${counted(words[which].length, "word", "words")}, ${count(differing)} marked`);
  });
}

const NOT_KEPT = "The texts are not kept: with similarity.verify = \"exact\" they are, and are shown here with their differences marked.";

let opened = 0;

// Open at once with what is known, and fill in what has to be asked for.
async function openPair(head, known, texts, explained) {
  const mine = ++opened;
  $("pair-head").textContent = head;
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

function failureWords(failure) {
  if (failure.status === 404) return "One of the two is not remembered any more: it was deleted, replaced or is older than the window.";
  if (failure.status === 409) return NOT_KEPT;
  if (failure.status === 413) return "The text is larger than the service takes.";
  return failure.message;
}

function openMatch(match) {
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
    `${match.id} resembles ${match.matched_id}`,
    pairs,
    () => Promise.all([
      side(match.id, match.source, match.seen_at),
      side(match.matched_id, match.matched_source, match.matched_seen_at),
    ]),
    () => ask("v1/explain", { a: match.id, b: match.matched_id, by: "id", namespace: match.namespace }),
  );
}

// ---------------------------------------------------------------------------- query

function resultRow(match, text, namespace) {
  const button = element("button", { type: "button", class: "row" },
    element("span", {}, ...kindWords(match.kind)),
    element("span", { class: "number" }, similarityWords(match)),
    element("span", { title: match.id }, ...naming(match.id, match.source)));
  button.addEventListener("click", () => openPair(
    `Your text resembles ${match.id}`,
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

// ---------------------------------------------------------------------------- the curve

// As wide as there is room, so that letters keep their size.
function plot(chart) {
  const { clientWidth: width, clientHeight: height } = chart;
  chart.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const [left, right, top, bottom] = [46, width - 48, 12, height - 40];
  return {
    left, right, top, bottom,
    x: (similarity) => Number((left + (right - left) * similarity).toFixed(1)),
    y: (part) => Number((bottom - (bottom - top) * part).toFixed(1)),
  };
}

// Documents for each hundredth of similarity, for the intervals are not all equally wide.
function densities({ bounds, counts }) {
  return bounds.map((end, place) => {
    const begin = place ? bounds[place - 1] : 0;
    return { begin, end, density: counts[place] / Math.round((end - begin) * 100) };
  });
}

function histogram(at, similarity) {
  const bars = densities(similarity);
  const top = Math.max(10, 10 ** Math.ceil(Math.log10(Math.max(1, ...bars.map((bar) => bar.density)))));
  const height = (value) => Math.log10(1 + value) / Math.log10(1 + top);
  const parts = bars.filter((bar) => bar.density > 0).map((bar) => shape("rect", {
    class: "bar",
    x: at.x(bar.begin) + 0.4,
    y: at.y(height(bar.density)),
    width: Math.max(0.5, at.x(bar.end) - at.x(bar.begin) - 0.8),
    height: at.bottom - at.y(height(bar.density)),
  }));
  for (let value = 1; value <= top; value *= 10) {
    parts.push(shape("text", { x: at.right + 8, y: at.y(height(value)) + 4 }, count(value)));
  }
  return parts;
}

function axes(at) {
  const parts = [];
  for (let step = 0; step <= 10; step++) {
    const x = at.x(step / 10);
    parts.push(shape("path", { class: "axis", d: `M${x},${at.bottom}v5` }));
    const hasRoom = at.right - at.left > 400;
    if (hasRoom || step % 2 === 0) parts.push(shape("text", { x, y: at.bottom + 20, "text-anchor": "middle" }, String(step / 10)));
    if (step % 2) continue;
    const y = at.y(step / 10);
    parts.push(shape("path", { class: step ? "grid" : "axis", d: `M${at.left},${y}H${at.right}` }));
    parts.push(shape("text", { x: at.left - 8, y: y + 4, "text-anchor": "end" }, `${step * 10} %`));
  }
  parts.push(shape("text", { x: at.right, y: at.bottom + 36, "text-anchor": "end" }, "similarity"));
  return parts;
}

function upright(at, similarity, name, words, y) {
  const x = at.x(similarity);
  const isRight = similarity > 0.8;
  return [
    shape("path", { class: name, d: `M${x},${at.top}V${at.bottom}` }),
    shape("text", { class: "label", x: x + (isRight ? -8 : 8), y, "text-anchor": isRight ? "end" : "start" }, words),
  ];
}

function drawCurve(live, trial) {
  const { curve, threshold, measure, recall_at_threshold: recall, half_point: half } = live.settings;
  const chart = $("curve");
  const at = plot(chart);
  const path = curve.map((part, place) => `${place ? "L" : "M"}${at.x(place / 100)},${at.y(part)}`).join("");
  chart.replaceChildren(
    ...axes(at),
    ...histogram(at, live.similarity),
    shape("path", { class: "halo", d: path }),
    shape("path", { class: "one", d: path }),
    ...(trial === threshold ? [] : upright(at, trial, "trial", HUNDREDTHS.format(trial), at.bottom - 8)),
    ...upright(at, threshold, "threshold", `threshold ${threshold}`, at.top + 34),
  );
  say("curve-note", `${live.settings.bands} bands of ${live.settings.rows} rows compare ${share(recall)} of the pairs at the ${measure} threshold ${threshold}, and every second one at ${THOUSANDTHS.format(half)}.`);
}

// The slider begins at the threshold in force, and is the reader's from then on.
let trialIsChosen = false;

function showCurve(live) {
  if (!trialIsChosen) $("whatif").value = live.settings.threshold;
  const trial = trialIsChosen ? Number($("whatif").value) : live.settings.threshold;
  const { bounds, counts } = live.similarity;
  const above = counts.filter((_, place) => (bounds[place] ?? Infinity) > trial + 1e-9)
    .reduce((sum, value) => sum + value, 0);
  const decided = total(live.outcomes) - (live.outcomes.rejected ?? 0);
  say("whatif-value", HUNDREDTHS.format(trial));
  say("whatif-answer", `${counted(above, "document", "documents")} would be duplicates`
    + (decided ? `, ${share(Math.min(1, above / decided))} of all` : "")
    + (trial < live.settings.half_point ? "; more in truth, for most pairs so far apart are never compared" : ""));
  drawCurve(live, trial);
}

// ---------------------------------------------------------------------------- how it stands

let latest = null;
let answeredAt = null; // by the browser's clock
let trouble = "";
let readiness = null;

function stand(name, sign, words) {
  const standing = $("standing");
  standing.className = `standing ${name}`;
  const [shown, said] = standing.children;
  if (shown.textContent !== sign) shown.textContent = sign;
  if (said.textContent !== words) said.textContent = words;
}

function banner(lines) {
  const box = $("banner");
  const words = lines.join("\n");
  box.hidden = !lines.length;
  // Said once: a live region that is written again is read again.
  if (box.dataset.words === words) return;
  box.dataset.words = words;
  box.replaceChildren(...lines.map((words) => element("p", {}, words)));
}

function showStanding() {
  const silent = answeredAt === null ? 0 : performance.now() - answeredAt;
  const isStale = Boolean(trouble) || silent > STALE_MILLISECONDS;
  document.body.classList.toggle("stale", isStale && latest !== null);
  if (isStale) {
    stand("lost", "▲", "no answer");
    const since = latest ? ` What is shown was true at ${CLOCK.format(latest.at * 1000)}.` : "";
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

function show(live) {
  latest = live;
  $("as-of").replaceWith(filled(moment(live.at), { id: "as-of" }, []));
  showFigures(live);
  showOutcomes(live);
  showMatches(live);
  showGrowing(live);
  showCurve(live);
  showSettings(live);
}

// ---------------------------------------------------------------------------- the token

let isShut = false;

function askForToken() {
  isShut = true;
  say("access-answer", sessionStorage.getItem(TOKEN) ? "The service refused this token." : "");
  $("access").hidden = false;
  $("main").hidden = true;
  stand("waiting", "◆", "token needed");
  banner([]);
  $("token").focus();
}

function enter(event) {
  event.preventDefault();
  sessionStorage.setItem(TOKEN, $("token").value);
  $("token").value = "";
  isShut = false;
  $("access").hidden = true;
  $("main").hidden = false;
  $("main").focus();
  poll();
}

// ---------------------------------------------------------------------------- once a second

let next = 0;
let isAsking = false;

async function poll() {
  if (isAsking) return;
  isAsking = true;
  clearTimeout(next);
  try {
    const [live, ready] = await Promise.all([ask("v1/live"), ask("readyz")]);
    trouble = "";
    readiness = ready;
    answeredAt = performance.now();
    show(live);
  } catch (failure) {
    if (failure.status === 401) return askForToken();
    // A mistake of this page is to be seen as one, not as a lost connection.
    if (!(failure instanceof Failure)) throw failure;
    trouble = failureWords(failure);
  } finally {
    isAsking = false;
    if (!isShut) {
      showStanding();
      next = setTimeout(poll, document.hidden ? POLL_HIDDEN_MILLISECONDS : POLL_MILLISECONDS);
    }
  }
}

$("access").addEventListener("submit", enter);
$("query").addEventListener("submit", query);
$("pair-close").addEventListener("click", () => $("pair").close());
$("pair").addEventListener("close", () => { opened++; });
$("hold").addEventListener("click", () => {
  const isPressed = $("hold").getAttribute("aria-pressed") === "true";
  $("hold").setAttribute("aria-pressed", String(!isPressed));
  if (latest) showMatches(latest);
});
$("whatif").addEventListener("input", () => {
  trialIsChosen = true;
  if (latest) showCurve(latest);
});
document.addEventListener("visibilitychange", () => { if (!document.hidden && !isShut) poll(); });
setInterval(() => { if (!isShut && answeredAt !== null) showStanding(); }, POLL_MILLISECONDS);
poll();
