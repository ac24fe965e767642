// The figures of now, and the tables of outcomes, clusters and settings.

import { sparkline, whisker } from "./charts.js";
import { $, element, facts, say, shape } from "./elements.js";
import {
  GLYPHS, TENTHS, THOUSANDTHS, WHOLE, about, bytes, count, counted, duration, kindWords, known,
  naming, share, total,
} from "./wording.js";

const THROUGHPUT_SLICES = 5; // fewer jump with every batch, more hide what happens
const DUPLICATES = ["exact", "near", "excerpt", "extension"];

const duplicates = (counts) => DUPLICATES.reduce((sum, kind) => sum + (counts[kind] ?? 0), 0);

export function showFigures(live) {
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
  say("recall", share(recall.share));
  say("recall-pairs", `of ${counted(total(pairs), "pair", "pairs")}`);
  if (known(recall.share)) whisker("recall-chart", recall);
  say("recall-note", known(recall.share)
    ? `${share(recall.low).replace(" %", "")} to ${share(recall.high)}; ${share(recall.expected)} expected`
    : "too little seen yet");
}

export function showOutcomes(live) {
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

export function showGrowing(live) {
  $("growing-empty").hidden = live.growing.length > 0;
  $("growing").replaceChildren(...live.growing.map((cluster) => element("tr", {},
    element("th", { scope: "row" }, ...naming(cluster.id, "", cluster.namespace)),
    element("td", { class: "number" }, `+${count(cluster.gained_last_minute)}`),
    element("td", { class: "number" }, `+${count(cluster.gained)}`),
    element("td", { class: "number" }, count(cluster.size)))));
}

export function showSettings(live) {
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
