// The line a golem comes from and goes on in: a bar for each life, as long as it was, with what ended it.

import { bars } from "./charts.js";
import { count, figure, fill, golem, h } from "./dom.js";
import { get, of, repeat } from "./host.js";
import { known } from "./known.js";

// A cause in the name of a colour, beside the words for it.
const KINDS = { economic: "money", epistemic_senescence: "touch", stochastic: "chance", owner_kill: "owner", kill_switch: "owner" };

// Each child right below its parent.
export function inOrder(all) {
  const here = new Set(all.map((one) => one.name));
  const below = (one) => [one, ...all.filter((other) => other.parent === one.name && other !== one).flatMap(below)];
  return all.filter((one) => !here.has(one.parent)).flatMap(below);
}

export function family(body, name) {
  const draw = async () => {
    const all = inOrder(await get(of(name, "/lineage")));
    const eldest = Math.min(...all.map((one) => one.generation));
    const row = (one) => {
      const look = known.all.get(one.name) ?? { state: one.alive ? "living" : "dead", phase: "stable", vitality: 0.6, mood: "neutral", age: 0, lifespan: 1 };
      const label = one.name === name ? h("b", {}, one.name) : h("a", { href: golem(one.name) }, one.name);
      const depth = h("span", { class: "depth", "aria-hidden": "true" }, "└ ");
      depth.style.marginLeft = `${Math.min(8, one.generation - eldest - 1)}rem`;
      const parent = one.parent ? `heir of ${one.parent}, ` : "";
      return {
        name: h("span", { class: "who" }, one.generation > eldest ? depth : null, figure(look), label),
        value: one.ticks,
        kind: one.alive ? "alive" : (KINDS[one.cause_name] ?? ""),
        says: [h("span", { class: "quiet" }, `${parent}generation ${one.generation}, ${count(one.ticks)} ticks, skill ${one.skill.toFixed(2)}: `), one.alive ? "alive" : one.cause],
      };
    };
    fill(body, h("h2", {}, all.length > 1 ? `A line of ${count(all.length)} lives` : "The first of its line, without heirs"), bars(all.map(row), "lives"), all.length > 1 ? h("p", { class: "quiet" }, "Each bar is as long as the life in ticks.") : null);
  };
  draw().catch((why) => fill(body, h("p", { class: "wrong" }, why.message)));
  return [repeat(10000, body, draw)];
}

// Its parent and its heirs, in one line; nothing for one that stands alone.
export async function kin(name) {
  const all = await get(of(name, "/lineage"));
  const own = all.find((one) => one.name === name);
  const heirs = all.filter((one) => one.parent === name && one.name !== name);
  const link = (other) => (all.some((one) => one.name === other) ? h("a", { href: golem(other) }, other) : other);
  const parts = [];
  if (own?.parent) parts.push(["Heir of ", link(own.parent)]);
  if (heirs.length) parts.push([heirs.length > 1 ? "Its heirs are " : "Its heir is ", heirs.map((one, at) => [at ? ", " : "", link(one.name)])]);
  return parts.length ? h("p", { class: "quiet" }, parts.map((part, at) => [at ? ". " : "", part]), ".") : null;
}
