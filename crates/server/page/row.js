// One golem in a row of the list, and the card of one that asks.

import { action, age, bar, become, figure, golem, h, money, span } from "./dom.js";
import { of, post } from "./host.js";

export const ROW = 44;

// The columns: a key to sort by, the heading, and which way it is sorted first (1 the smallest first, -1 the largest).
export const COLUMNS = [
  ["name", "Golem", 1, (one) => one.rank],
  ["world", "World", 1, (one) => one.world ?? ""],
  ["state", "State", 1, (one) => stands(one)],
  ["vitality", "Vitality", 1, (one) => one.vitality],
  ["age", "Age", -1, (one) => one.age ?? 0],
  ["runway", "Money lasts", 1, (one) => (one.state === "dead" ? Infinity : (one.runway ?? 1e15))],
  ["skill", "Skill", 1, (one) => one.skill],
  ["load", "Load", -1, (one) => one.load],
  ["net", "Net", 1, (one) => one.net],
  ["last", "Last", -1, (one) => one.last?.at ?? 0],
];

function stands(one) {
  return one.state === "living" ? one.phase : one.state;
}

// A row that stays the same element as long as it is in sight, so that a click or a mark in it is never lost.
export function row(chosen, choose) {
  const box = h("input", { type: "checkbox", onchange: () => choose(line.dataset.name, box.checked) });
  const link = h("a", {});
  const face = figure({ state: "living", vitality: 0 });
  const cells = COLUMNS.slice(1).map(([key]) => h("td", { class: key }, key === "vitality" ? [bar(0, ""), h("span", { class: "number" })] : ""));
  const line = h("tr", {}, h("td", { class: "pick" }, box), h("td", {}, h("span", { class: "who" }, face, link)), cells);
  let drawn = null;
  return {
    line,
    // Only what has changed is written again.
    paint(one, at) {
      set(line, "aria-rowindex", at + 2);
      box.checked = chosen.has(one.name);
      line.className = `${box.checked ? "chosen" : ""} ${one.state === "dead" ? "dead" : ""}`;
      if (drawn === one) return;
      drawn = one;
      if (line.dataset.name !== one.name) {
        if (line.contains(document.activeElement)) document.activeElement.blur();
        line.dataset.name = one.name;
        link.textContent = one.name;
        link.href = golem(one.name);
        box.setAttribute("aria-label", `Select ${one.name}`);
      }
      become(face, one);
      write(cells, one);
    },
  };
}

function set(element, name, value) {
  if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

function say(cell, text) {
  if (cell.textContent !== text) cell.textContent = text;
}

function write([world, state, vitality, old, runway, skill, load, net, last], one) {
  const dead = one.state === "dead";
  say(world, one.world ?? "");
  say(state, stands(one));
  set(state, "title", one.why ?? "");
  const [share, figure] = vitality.children;
  set(share, "aria-label", `vitality ${one.vitality.toFixed(2)}`);
  share.firstChild.className = one.phase;
  share.firstChild.style.width = `${Math.round(100 * one.vitality)}%`;
  say(figure, one.vitality.toFixed(2));
  say(old, one.age === undefined ? "" : age(one.age));
  say(runway, dead ? "" : span(one.runway));
  say(skill, one.skill.toFixed(2));
  say(load, dead ? "" : one.load.toFixed(2));
  say(net, money(one.net));
  const text = one.last?.says ?? one.why ?? "";
  last.className = `last ${one.last?.gravity ?? ""}`;
  say(last, text);
  set(last, "title", text);
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
