// All golems at a glance. Only the rows in sight exist, even in a table of ten thousand.

import { action, count, fill, h } from "./dom.js";
import { latest } from "./feed.js";
import { of, post } from "./host.js";
import { known, on } from "./known.js";
import { COLUMNS, ROW, card, row } from "./row.js";
import { headline, hostLine, isPoor } from "./top.js";

// Orders that are on their way at once, when some golems are told something.
const AT_ONCE = 6;
// Rows by which the rows in sight are moved on.
const STEP = 4;
const STATES = {
  "": ["all alive", (one) => one.state !== "dead"],
  asks: ["waiting for you", (one) => one.waits],
  trouble: ["in trouble", (one) => ["restarting", "stopped", "unlived"].includes(one.state)],
  ending: ["in the last phase", (one) => one.state !== "dead" && one.phase === "terminal"],
  poor: ["short of money", (one) => one.state !== "dead" && isPoor(one)],
  dead: ["dead", (one) => one.state === "dead"],
  all: ["all", () => true],
};

// How the list is sorted stays as it was left while one looks at something else.
let sorted = { key: "name", way: 1 };

export function fleet(place, filter = "") {
  const wanted = h("input", { type: "search", placeholder: "Filter by name, world, state …", "aria-label": "Filter golems" });
  const which = choose("Show", Object.entries(STATES).map(([value, [text]]) => [value, text]));
  const sort = choose("Sort", COLUMNS.map(([key, title]) => [key, title]));
  if (filter in STATES) which.value = filter;
  sort.value = sorted.key;
  const summary = h("p", { class: "summary", role: "status" });
  const needs = h("section", { "aria-label": "What needs you" });
  const waiting = h("section", { class: "cards", "aria-label": "Waiting for your answer" });
  const chosen = new Set();
  const picked = h("div", { class: "picked", role: "group", "aria-label": "With the selected" });
  const table = list(chosen, () => withSome(picked, chosen, draw), (key) => by(key));
  const none = h("p", { class: "quiet" });
  let shown = [];

  const draw = () => {
    const all = [...known.all.values()];
    const words = wanted.value.toLowerCase().split(/\s+/).filter(Boolean);
    const value = COLUMNS.find(([key]) => key === sorted.key)[3];
    shown = all.filter((one) => STATES[which.value][1](one) && words.every((word) => one.text.includes(word)));
    shown.sort((a, b) => order(value(a), value(b)) * sorted.way || a.rank - b.rank);
    for (const name of chosen) if (!known.all.has(name)) chosen.delete(name);
    const alive = all.filter((one) => one.state !== "dead").length;
    const asking = all.filter((one) => one.waits);
    const asked = asking.length ? `, ${count(asking.length)} waiting for you` : "";
    const some = shown.length === alive && !which.value ? "" : `; ${count(shown.length)} shown`;
    const says = known.looked ? `${count(alive)} alive, ${count(all.length - alive)} dead${asked}${some}` : "";
    if (summary.textContent !== says) summary.textContent = says;
    headline(needs, all);
    const cards = asking.slice(0, which.value === "asks" ? 20 : 3).map(card);
    if (cards.map((one) => one.dataset.ask).join() !== [...waiting.children].map((one) => one.dataset.ask).join()) fill(waiting, cards);
    none.hidden = shown.length > 0;
    fill(none, !known.looked ? "Asking for them …" : all.length ? "No golem matches." : ["There is no golem yet. ", h("a", { href: "#/new" }, "Make the first one"), "."]);
    table.draw(shown);
  };
  const by = (key) => {
    const first = COLUMNS.find((column) => column[0] === key)[2];
    sorted = { key, way: sorted.key === key ? -sorted.way : first };
    sort.value = key;
    table.mark();
    draw();
  };
  [wanted, which].forEach((input) => input.addEventListener("input", draw));
  sort.addEventListener("input", () => by(sort.value));
  fill(
    place,
    hostLine(),
    h("h1", {}, "Golems"),
    summary,
    needs,
    waiting,
    h("div", { class: "tools" }, wanted, which.parentElement, h("span", { class: "narrow" }, sort.parentElement), brakes()),
    picked,
    table.element,
    none,
    latest(),
  );
  draw();
  return [on("change", draw), ...table.ends];
}

function order(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

function choose(label, options) {
  const select = h("select", { "aria-label": label }, options.map(([value, text]) => h("option", { value }, text)));
  h("label", {}, `${label} `, select);
  return select;
}

// The table: headings that sort, and the rows in sight.
function list(chosen, changed, by) {
  const heads = COLUMNS.map(([key, title]) => h("th", { scope: "col", class: key }, h("button", { type: "button", class: "head", onclick: () => by(key) }, title)));
  const every = h("input", { type: "checkbox", "aria-label": "Select all shown", onchange: () => pick(shown.map((one) => one.name), every.checked) });
  const body = h("tbody", {});
  const element = h("table", { class: "fleet" }, h("thead", {}, h("tr", {}, h("th", { class: "pick", scope: "col" }, every), heads)), body);
  const spacers = [0, 1].map(() => h("tr", { class: "spacer", "aria-hidden": "true" }, h("td", {})));
  const lines = [];
  let shown = [];
  let first = 0;

  const pick = (names, yes) => {
    names.forEach((name) => (yes ? chosen.add(name) : chosen.delete(name)));
    inSight();
    changed();
  };
  const inSight = () => {
    first = begin();
    const last = Math.min(shown.length, first + Math.ceil(innerHeight / ROW) + 3 * STEP);
    while (lines.length < last - first) lines.push(row(chosen, (name, yes) => pick([name], yes)));
    // A row keeps its golem as long as that is in sight: what has the focus keeps it.
    const wanted = shown.slice(first, last);
    const here = new Map(lines.map((line) => [line.line.dataset.name, line]));
    const kept = new Set(wanted.map((one) => here.get(one.name)));
    const spare = lines.filter((line) => !kept.has(line));
    // Taken out first, so that the rows that stay need not move.
    spare.forEach((line) => line.line.remove());
    const placed = wanted.map((one, at) => {
      const line = here.get(one.name) ?? spare.pop();
      line.paint(one, first + at);
      return line.line;
    });
    spacers[0].style.height = `${first * ROW}px`;
    spacers[1].style.height = `${(shown.length - last) * ROW}px`;
    arrange(body, [spacers[0], ...placed, spacers[1]]);
    every.checked = shown.length > 0 && chosen.size >= shown.length && shown.every((one) => chosen.has(one.name));
  };
  const mark = () => heads.forEach((head, at) => head.setAttribute("aria-sort", COLUMNS[at][0] === sorted.key ? (sorted.way > 0 ? "ascending" : "descending") : "none"));
  // The first row there must be: some before the first in sight, and another only every few rows.
  const begin = () => {
    const above = Math.max(0, -body.getBoundingClientRect().top);
    return Math.max(0, (Math.floor(Math.min(shown.length, above / ROW) / STEP) - 1) * STEP);
  };
  let asked = false;
  const scrolled = ({ type }) => {
    if (!asked) requestAnimationFrame(() => ((asked = false), (type === "resize" || begin() !== first) && inSight()));
    asked = true;
  };
  addEventListener("scroll", scrolled, { passive: true });
  addEventListener("resize", scrolled, { passive: true });
  // Moves to the row so many further on, for the keys.
  element.addEventListener("move", ({ detail: by }) => {
    const name = document.activeElement?.closest?.("tr")?.dataset.name;
    const now = shown.findIndex((one) => one.name === name);
    const at = Math.max(0, Math.min(shown.length - 1, now < 0 ? 0 : now + by));
    if (!shown.length) return;
    const top = body.getBoundingClientRect().top + at * ROW;
    if (top < 60 || top > innerHeight - 2 * ROW) scrollBy(0, top - innerHeight / 2);
    inSight();
    [...body.rows].find((line) => line.dataset.name === shown[at].name)?.querySelector("a").focus({ preventScroll: true });
  });
  mark();
  return {
    element,
    mark,
    draw(all) {
      shown = all;
      element.setAttribute("aria-rowcount", shown.length + 1);
      element.hidden = shown.length === 0;
      inSight();
      changed();
    },
    ends: [() => removeEventListener("scroll", scrolled), () => removeEventListener("resize", scrolled)],
  };
}

// Puts children into this order, and touches only those that are elsewhere.
function arrange(place, wanted) {
  const keep = new Set(wanted);
  [...place.children].forEach((child) => keep.has(child) || child.remove());
  wanted.forEach((child, at) => place.children[at] === child || place.insertBefore(child, place.children[at] ?? null));
}

// What can be done with the selected golems.
function withSome(place, chosen, draw) {
  if (place.dataset.names === [...chosen].join()) return;
  place.dataset.names = [...chosen].join();
  const all = [...chosen].map((name) => known.all.get(name)).filter(Boolean);
  const [living, dead] = [all.filter((one) => one.state !== "dead"), all.filter((one) => one.state === "dead")];
  const tell = (whom, verb, did) => () => each(whom, (one) => post(of(one.name, `/${verb}`)), did);
  place.hidden = all.length === 0;
  fill(
    place,
    h("b", {}, `${count(all.length)} selected`),
    living.length ? [action("Freeze", tell(living, "freeze", "frozen")), action("Pause", tell(living, "pause", "paused")), action("Resume", tell(living, "resume", "go on"))] : null,
    dead.length ? action("Bury", tell(dead, "bury", "put away")) : null,
    h("button", { type: "button", class: "plain", onclick: () => (chosen.clear(), draw()) }, "Select none"),
  );
}

// Tells many, a few at a time; what could not be told is said with the first reason.
async function each(all, tell, did) {
  const queue = [...all];
  const wrong = [];
  const work = async () => {
    for (let one = queue.pop(); one; one = queue.pop()) await tell(one).catch((why) => wrong.push(`${one.name}: ${why.message}`));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (wrong.length) throw new Error(`${count(wrong.length)} could not be told, ${wrong[0]}`);
  return `${count(all.length)} ${did}`;
}

function brakes() {
  const all = (verb, did) => async () => {
    const came = await post(`/v1/${verb}`);
    const wrong = came.filter((one) => one.error);
    return wrong.length ? `${wrong.length} could not be told: ${wrong[0].error}` : `${count(came.length)} ${did}`;
  };
  return h(
    "details",
    {},
    h("summary", {}, "All at once"),
    h("p", {}, "No golem takes new exposure. ", action("Freeze all", all("freeze", "frozen"))),
    h("p", {}, "World time and clocks of all golems stop. ", action("Pause all", all("pause", "paused"))),
    h("p", {}, "All golems go on. ", action("Resume all", all("resume", "go on"))),
  );
}
