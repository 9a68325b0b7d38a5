// Small drawings of counts and shares: plain shapes, each with what it shows in words for readers who do not see it.

import { count, h, svg } from "./dom.js";

const WIDE = 100;

// What belongs to which colour, as words beside a patch of it.
function key(names) {
  return h("p", { class: "key" }, names.map((name, at) => h("span", {}, h("i", { class: `patch ink-${1 + (at % 6)}` }), name)));
}

// A column for each day, in which each model has its part: `series` are { name, values }, one value a day.
export function stacked(days, series, said) {
  const sums = days.map((_, day) => series.reduce((sum, one) => sum + one.values[day], 0));
  const most = Math.max(...sums) || 1;
  const step = WIDE / Math.max(days.length, 7);
  const parts = days.flatMap((day, at) => {
    let top = 40;
    return series.map((one, nth) => {
      const height = (38 * one.values[at]) / most;
      top -= height;
      const part = svg("rect", { class: `ink-${1 + (nth % 6)}`, x: at * step, y: top, width: step * 0.8, height });
      part.append(svg("title", {}, `${day}, ${one.name}: ${said(one.values[at])}`));
      return part;
    });
  });
  const label = `${said(sums.reduce((a, b) => a + b, 0))} on ${days.length === 1 ? "one day" : `${count(days.length)} days`}, at most ${said(most)} on one`;
  return h(
    "figure",
    { class: "chart" },
    svg("svg", { viewBox: `0 0 ${WIDE} 40`, role: "img", "aria-label": label, preserveAspectRatio: "none" }, parts),
    h("p", { class: "axis" }, h("span", {}, days[0]), days.length > 1 ? h("span", {}, days.at(-1)) : null),
    key(series.map((one) => one.name)),
    h("p", { class: "read" }, label),
  );
}

// Passes and failures in the order they came: what fails is low and marked, so that no colour is needed to tell it.
export function strip(points) {
  const step = WIDE / Math.max(points.length, 20);
  const failed = points.filter((one) => one.value <= 0.5).length;
  const label = `${count(points.length)} rounds, ${failed ? `${count(failed)} failed` : "none failed"}`;
  const mark = (one, at) => {
    const passes = one.value > 0.5;
    return svg("rect", { class: passes ? "passes" : "fails", x: at * step, y: passes ? 0 : 6, width: step * 0.8, height: passes ? 12 : 6 });
  };
  return drawing(12, label, points.map(mark));
}

// A number over time.
export function line(points) {
  const values = points.map((one) => one.value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const place = (value, at) => `${((WIDE * at) / Math.max(1, values.length - 1)).toFixed(2)},${(22 - (20 * (value - low)) / (high - low || 1)).toFixed(2)}`;
  const short = (value) => String(Number(value.toPrecision(4)));
  return drawing(24, `${short(values.at(-1))}, between ${short(low)} and ${short(high)} in ${count(values.length)} rounds`, [svg("polyline", { class: "line", points: values.map(place).join(" ") })]);
}

function drawing(height, label, parts) {
  return h("figure", { class: "chart small" }, svg("svg", { viewBox: `0 0 ${WIDE} ${height}`, role: "img", "aria-label": label, preserveAspectRatio: "none" }, parts), h("p", { class: "read" }, label));
}

// How sure it was of its entries before the crossing, and how sure the heir is after it: ten columns, of which each is a
// tenth of confidence.
export function crossing(before, after) {
  const most = Math.max(1, ...before, ...after);
  const column = (n, at, kind, from) => {
    const height = (36 * n) / most;
    const part = svg("rect", { class: kind, x: 10 * at + from, y: 38 - height, width: 4, height });
    part.append(svg("title", {}, `${n} entries with a confidence of ${at / 10} to ${(at + 1) / 10} ${kind}`));
    return part;
  };
  const parts = [before.map((n, at) => column(n, at, "before", 0.5)), after.map((n, at) => column(n, at, "after", 5))];
  const middle = (all) => {
    const half = all.reduce((a, b) => a + b, 0) / 2;
    let sum = 0;
    return all.findIndex((n) => (sum += n) >= half) / 10;
  };
  const label = `Half of the entries had a confidence above ${middle(before).toFixed(1)} before, and have one above ${middle(after).toFixed(1)} after.`;
  return h(
    "figure",
    { class: "chart" },
    svg("svg", { viewBox: `0 0 ${WIDE} 38`, role: "img", "aria-label": label, preserveAspectRatio: "none" }, parts),
    h("p", { class: "axis" }, h("span", {}, "not at all sure"), h("span", {}, "quite sure")),
    h("p", { class: "key" }, h("span", {}, h("i", { class: "patch before" }), "its predecessor"), h("span", {}, h("i", { class: "patch after" }), "the heir")),
    h("p", { class: "read" }, label),
  );
}

// Bars of a length each, beside their names: `rows` are { name, value, says, kind }, the longest as wide as there is room.
export function bars(rows, kind = "") {
  const most = Math.max(1, ...rows.map((row) => row.value));
  return h(
    "ul",
    { class: `bars ${kind}` },
    rows.map((row) => {
      const inner = h("i", { class: row.kind ?? "" });
      inner.style.width = `${Math.max(1, (100 * row.value) / most)}%`;
      return h("li", {}, row.name, h("span", { class: "long", "aria-hidden": "true" }, inner), h("span", {}, row.says));
    }),
  );
}
