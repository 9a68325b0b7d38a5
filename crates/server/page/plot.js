// The pictures of a life, drawn by uPlot from what the host says there is to draw.

import { fill, h } from "./dom.js";

// Okabe and Ito's colours, which nearly everyone can tell apart; dashes for those who cannot.
const INKS = [["--ink-1", []], ["--ink-2", [7, 3]], ["--ink-3", [2, 3]], ["--ink-4", [10, 3, 2, 3]], ["--ink-5", [5, 5]], ["--ink-6", [1, 2]]];
const HEIGHT = 220;

// What draws them is brought in with the first picture, since most visits see none.
let drawer = null;
export function ready() {
  drawer ??= new Promise((done, failed) => {
    document.head.append(h("link", { rel: "stylesheet", href: "/page/uPlot.css" }), h("script", { src: "/page/uPlot.js", onload: done, onerror: () => ((drawer = null), failed(new Error("the host does not answer"))) }));
  });
  return drawer;
}

export function pictures(place, told) {
  const end = [];
  if (told.days.length < 2) {
    fill(place, h("p", { class: "quiet" }, "It has not looked at its world often enough to draw anything."));
    return () => {};
  }
  fill(
    place,
    told.pictures.map((picture) => {
      const frame = h("div", { class: "plot" });
      // The space is reserved before the picture is drawn, so nothing moves when it comes.
      frame.style.height = `${HEIGHT + 34}px`;
      queueMicrotask(() => end.push(draw(frame, told, picture)));
      return h(
        "figure",
        {},
        h("figcaption", {}, h("h2", {}, picture.title), h("p", { class: "quiet" }, picture.note)),
        frame,
        h("p", { class: "read" }, picture.lines.map((line) => summary(line, picture)).filter(Boolean).join("; ")),
      );
    }),
  );
  return () => end.forEach((one) => one());
}

// A line in words, for readers who cannot see the picture or want the figure.
function summary(line, picture) {
  const values = line.values.filter((value) => value !== null);
  if (!values.length) return "";
  const [last, low, high] = [values.at(-1), Math.min(...values), Math.max(...values)].map((value) => figure(value, picture));
  return `${line.name} ${last}, between ${low} and ${high}`;
}

function figure(value, picture) {
  return picture.share ? `${(100 * value).toFixed(1)} %` : value.toFixed(2);
}

function draw(frame, told, picture) {
  const style = getComputedStyle(document.documentElement);
  const ink = (name) => style.getPropertyValue(name).trim();
  const lines = picture.lines.map((line, at) => {
    const [name, dash] = INKS[at % INKS.length];
    return { label: line.name, stroke: ink(name), width: 2, dash, spanGaps: false, value: (_, value) => (value === null ? "" : figure(value, picture)) };
  });
  const values = picture.lines.flatMap((line) => line.values).filter((value) => value !== null);
  let [low, high] = [Math.min(...values, picture.least[0]), Math.max(...values, picture.least[1])];
  if (picture.fixed) [low, high] = picture.least;
  const axis = { stroke: ink("--quiet"), grid: { stroke: ink("--line"), width: 1 }, ticks: { show: false } };
  const marks = picture.marks.filter((mark) => mark >= low && mark <= high);
  const options = {
    width: Math.max(200, frame.clientWidth),
    height: HEIGHT,
    scales: { x: { time: false, range: [0, told.end] }, y: { range: [low, high] } },
    axes: [
      { ...axis, grid: { show: false }, values: (_, days) => days.map((day) => `day ${day}`) },
      { ...axis, size: 52, splits: marks.length ? () => marks : undefined, values: (_, at) => at.map((value) => figure(value, picture)) },
    ],
    series: [{ label: "day", value: (_, day) => (day === null ? "" : day.toFixed(1)) }, ...lines],
    legend: { live: true },
    hooks: { drawClear: [(plot) => below(plot, told, picture, ink)] },
  };
  const plot = new uPlot(options, [told.days, ...picture.lines.map((line) => line.values)], frame);
  const resized = new ResizeObserver(() => plot.setSize({ width: Math.max(200, frame.clientWidth), height: HEIGHT }));
  resized.observe(frame);
  return () => {
    resized.disconnect();
    plot.destroy();
  };
}

// Draws what lies under the lines: the phases, the marks along the bottom, and the day it died.
function below(plot, told, picture, ink) {
  const { ctx, bbox } = plot;
  const x = (day) => plot.valToPos(day, "x", true);
  ctx.save();
  for (const { from, to, phase } of picture.stretches) {
    ctx.fillStyle = ink(`--phase-${phase}`);
    ctx.fillRect(x(from), bbox.top, x(to) - x(from), bbox.height);
  }
  ctx.fillStyle = ink("--ink-1");
  // Marks so close that they would merge into one bar are drawn as hairlines.
  const wide = (3 * picture.ticks.length > bbox.width / devicePixelRatio ? 0.5 : 2) * devicePixelRatio;
  for (const day of picture.ticks) ctx.fillRect(x(day), bbox.top + bbox.height - 10, wide, 10);
  if (told.died !== null) {
    ctx.fillStyle = ink("--text");
    for (let y = bbox.top; y < bbox.top + bbox.height; y += 8) ctx.fillRect(x(told.died) - 1, y, 2, 4);
  }
  ctx.restore();
}
