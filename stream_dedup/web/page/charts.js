// The small charts of the figures.

import { $, shape } from "./elements.js";
import { known, share } from "./wording.js";

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

export function sparkline(id, words, first, second = []) {
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
export function whisker(id, recall) {
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
