// The S-curve of the settings in force, and over it the similarities that were seen.

import { $, say, shape } from "./elements.js";
import { HUNDREDTHS, THOUSANDTHS, count, counted, share, total } from "./wording.js";

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

let shown = null; // what was drawn last

// The slider begins at the threshold in force, and is the reader's from then on.
let trialIsChosen = false;

export function showCurve(live) {
  shown = live;
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

$("whatif").addEventListener("input", () => {
  trialIsChosen = true;
  if (shown) showCurve(shown);
});
