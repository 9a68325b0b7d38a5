// All golems at a glance. Only the rows in sight exist, even in a table of ten thousand.

import { action, bar, count, fill, golem, h, money, span } from "./dom.js";
import { get, of, post, repeat } from "./host.js";

const ROW = 44;
const SORTS = {
  name: ["by name", (a, b) => a.name.localeCompare(b.name, "en", { numeric: true })],
  vitality: ["weakest first", (a, b) => a.vitality - b.vitality],
  runway: ["shortest of money first", (a, b) => (a.runway ?? Infinity) - (b.runway ?? Infinity)],
  skill: ["least skilled first", (a, b) => a.skill - b.skill],
  load: ["most pressed first", (a, b) => b.load - a.load],
};
const STATES = {
  "": ["all alive", (one) => one.state !== "dead"],
  asks: ["waiting for you", (one) => one.waits],
  trouble: ["in trouble", (one) => ["restarting", "stopped", "unlived"].includes(one.state)],
  dead: ["dead", (one) => one.state === "dead"],
};

// The state of all golems, kept up to date by asking only for what has changed.
export class Known {
  constructor() {
    this.all = new Map();
    this.run = 0;
    this.after = 0;
  }

  async look() {
    const told = await get(`/v1/fleet?run=${this.run}&after=${this.after}`);
    if (told.run !== this.run) this.all.clear();
    for (const one of told.changed) this.all.set(one.name, one);
    [this.run, this.after] = [told.run, told.change];
    if (this.all.size > told.golems) {
      // A golem has gone: all that are still there are asked for once.
      this.all.clear();
      [this.run, this.after] = [0, 0];
      return this.look();
    }
    return told.changed.length > 0;
  }
}

export function fleet(place) {
  const known = new Known();
  const wanted = h("input", { type: "search", placeholder: "Filter by name, state, phase …", "aria-label": "Filter golems" });
  const sort = choose("Sort", SORTS);
  const which = choose("Show", STATES);
  const summary = h("p", { class: "summary", role: "status" });
  const waiting = h("section", { class: "cards", "aria-label": "Waiting for your answer" });
  const body = h("tbody", {});
  const table = h(
    "table",
    { class: "fleet" },
    h("thead", {}, h("tr", {}, ["Golem", "State", "Vitality", "Money lasts", "Skill", "Load", "Net"].map((name) => h("th", { scope: "col" }, name)))),
    body,
  );
  const none = h("p", { class: "quiet" });
  let shown = [];

  const draw = () => {
    const all = [...known.all.values()];
    const words = wanted.value.toLowerCase().split(/\s+/).filter(Boolean);
    const has = (one) => {
      const text = `${one.name} ${one.state} ${one.phase} ${one.why ?? ""}`.toLowerCase();
      return words.every((word) => text.includes(word));
    };
    shown = all.filter(STATES[which.value][1]).filter(has).sort(SORTS[sort.value][1]);
    const alive = all.filter((one) => one.state !== "dead").length;
    const asking = all.filter((one) => one.waits);
    summary.textContent =
      `${count(alive)} alive, ${count(all.length - alive)} dead` +
      (asking.length ? `, ${count(asking.length)} waiting for you` : "") +
      (shown.length === alive ? "" : `; ${count(shown.length)} shown`);
    const cards = asking.slice(0, 20).map(card);
    if (cards.map((one) => one.dataset.ask).join() !== [...waiting.children].map((one) => one.dataset.ask).join()) fill(waiting, cards);
    table.setAttribute("aria-rowcount", shown.length + 1);
    table.hidden = shown.length === 0;
    none.hidden = shown.length > 0;
    fill(none, all.length ? "No golem matches." : ["There is no golem yet. ", h("a", { href: "#/new" }, "Make the first one"), "."]);
    rowsInSight();
  };

  const rowsInSight = () => {
    const above = Math.max(0, -body.getBoundingClientRect().top);
    const first = Math.max(0, Math.min(shown.length, Math.floor(above / ROW)) - 8);
    const last = Math.min(shown.length, first + Math.ceil(innerHeight / ROW) + 16);
    const spacer = (height) => {
      const row = h("tr", { class: "spacer", "aria-hidden": "true" }, h("td", { colspan: 7 }));
      row.style.height = `${height}px`;
      return row;
    };
    const focused = document.activeElement?.closest?.("tr")?.dataset.name;
    fill(body, spacer(first * ROW), shown.slice(first, last).map((one, at) => row(one, first + at)), spacer((shown.length - last) * ROW));
    if (focused) [...body.rows].find((one) => one.dataset.name === focused)?.querySelector("a")?.focus({ preventScroll: true });
  };

  [wanted, sort, which].forEach((input) => input.addEventListener("input", draw));
  const scrolled = () => requestAnimationFrame(rowsInSight);
  addEventListener("scroll", scrolled, { passive: true });
  addEventListener("resize", scrolled, { passive: true });
  fill(
    place,
    h("h1", {}, "Golems"),
    summary,
    waiting,
    h("div", { class: "tools" }, wanted, which.parentElement, sort.parentElement, brakes()),
    table,
    none,
  );
  known.look().then(draw, (why) => fill(none, why.message));
  const stop = repeat(1000, place, async () => (await known.look()) && draw());
  return [stop, () => removeEventListener("scroll", scrolled), () => removeEventListener("resize", scrolled)];
}

function choose(label, options) {
  const select = h("select", { "aria-label": label }, Object.entries(options).map(([value, [text]]) => h("option", { value }, text)));
  h("label", {}, `${label} `, select);
  return select;
}

function row(one, at) {
  const figure = (value, places = 2) => value.toFixed(places);
  const line = h(
    "tr",
    { "aria-rowindex": at + 2, class: one.state },
    h("td", {}, h("a", { href: golem(one.name) }, one.name)),
    h("td", { title: one.why }, one.state === "living" ? one.phase : one.state),
    h("td", {}, bar(one.vitality, `vitality ${figure(one.vitality)}`, one.phase), h("span", { class: "number" }, figure(one.vitality))),
    h("td", { title: one.runway === null ? "looking costs it nothing" : null }, one.state === "dead" ? "" : span(one.runway)),
    h("td", { class: "number" }, figure(one.skill)),
    h("td", { class: "number" }, figure(one.load)),
    h("td", { class: "number" }, money(one.net)),
  );
  line.dataset.name = one.name;
  return line;
}

// A card with a golem's question and the two answers.
export function card(one) {
  const answer = (yes) => async () => {
    await post(of(one.name, "/approve"), { key: one.waits.key, yes });
    return yes ? "has your yes" : "has your no";
  };
  const element = h(
    "article",
    {},
    h("h2", {}, h("a", { href: golem(one.name) }, one.name), " asks"),
    h("p", {}, one.waits.says),
    action("Yes", answer(true), { class: "strong" }),
    action("No", answer(false)),
  );
  element.dataset.ask = `${one.name} ${one.waits.key}`;
  return element;
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
