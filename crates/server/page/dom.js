// Elements and figures. All content reaches the page as text, never as markup: there is no other way in here.

import { creature, path } from "./creature.js";

export function h(tag, attributes, ...children) {
  return build(document.createElement(tag), attributes, children);
}

// An element of a drawing.
export function svg(tag, attributes, ...children) {
  return build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in own) element[own[name]] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// Names that are set as properties, since attributes no longer count once a user has typed.
const own = { value: "value", checked: "checked", disabled: "disabled" };

export function fill(place, ...children) {
  place.replaceChildren(...children.flat(Infinity).filter(Boolean));
}

export function money(micros, places = 2) {
  const text = (sums[places] ??= new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: places })).format(Math.abs(micros) / 1e6);
  return (micros < 0 && text !== "0.00" ? "−\u2060$" : "$") + text;
}

const sums = {};

export function count(n) {
  return whole.format(Number(n));
}
const whole = new Intl.NumberFormat("en");

export function span(seconds) {
  if (seconds === null || seconds === undefined) return "indefinitely";
  if (seconds >= 2 * 86400) return `${count(Math.round(seconds / 86400))} days`;
  if (seconds >= 2 * 3600) return `${Math.round(seconds / 3600)} hours`;
  if (seconds >= 120) return `${Math.round(seconds / 60)} minutes`;
  return `${Math.round(seconds)} seconds`;
}

// A moment of world time, written as everywhere else in bardo.
export function date(millis) {
  const text = new Date(millis).toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, 19)}`;
}

// A length of time in the two largest units that say something, as everywhere else in bardo: 2d 14h, 40s.
export function age(seconds) {
  const units = [["d", 86400], ["h", 3600], ["m", 60], ["s", 1]];
  const first = Math.max(0, units.findIndex(([, size]) => seconds >= size));
  if (seconds < 1) return "0s";
  const two = units.slice(first, first + 2).map(([unit, size], at) => [unit, Math.floor((at ? seconds % units[first][1] : seconds) / size)]);
  return two.filter(([, n]) => n > 0).map(([unit, n]) => n + unit).join(" ");
}

// The figure of a golem. It says nothing that is not written beside it, so it is skipped where the page is read aloud.
export function figure(one, kind = "") {
  const element = svg("svg", { viewBox: "0 0 12 12", "aria-hidden": "true" }, svg("path", {}));
  become(element, one, kind);
  return element;
}

// Gives a figure the look of a golem as it is now.
export function become(element, one, kind = "") {
  const look = `creature ${one.state === "dead" ? "stone" : one.phase} ${kind}`;
  if (element.getAttribute("class") !== look) element.setAttribute("class", look);
  const d = path(creature(one));
  if (element.firstChild.getAttribute("d") !== d) element.firstChild.setAttribute("d", d);
}

export function bar(share, label, kind = "") {
  const inner = h("i", { class: kind });
  inner.style.width = `${Math.round(100 * Math.min(1, Math.max(0, share)))}%`;
  return h("span", { class: "bar", role: "img", "aria-label": label }, inner);
}

// Rows of a topic and what there is to say about it, in the host's own words.
export function rows(all) {
  return h("dl", { class: "rows" }, all.map((row) => [h("dt", {}, row.about), h("dd", {}, row.says)]));
}

// A table with words to the left and figures to the right; on a small screen it scrolls sideways.
export function table(heads, all) {
  const cell = (value) => (typeof value === "number" ? h("td", { class: "number" }, count(value)) : h("td", {}, value));
  return h(
    "div",
    { class: "aside" },
    h("table", {}, h("thead", {}, h("tr", {}, heads.map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, all.map((one) => h("tr", {}, one.map(cell))))),
  );
}

export function golem(name, tab = "") {
  return `#/golems/${encodeURIComponent(name)}${tab && `/${tab}`}`;
}

// A button for an action that takes a while: pressed once, with the outcome beside it.
export function action(label, run, attributes = {}) {
  const said = h("span", { class: "said", role: "status" });
  const button = h("button", { type: "button", ...attributes }, label);
  button.addEventListener("click", async () => {
    button.disabled = true;
    said.textContent = "…";
    try {
      said.textContent = (await run()) ?? "done";
      said.className = "said";
    } catch (why) {
      said.textContent = why.message;
      said.className = "said wrong";
    }
    button.disabled = false;
  });
  return h("span", { class: "action" }, button, said);
}

export function field(label, input, note) {
  input.id ||= `field-${(fields += 1)}`;
  const about = note ? h("small", { id: `${input.id}-note` }, note) : null;
  if (about) input.setAttribute("aria-describedby", about.id);
  return h("p", { class: "field" }, h("label", { for: input.id }, label), input, about);
}
let fields = 0;
