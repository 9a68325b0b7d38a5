// Pages about all golems: the dead, the costs, and golems in other homes.

import { bars } from "./charts.js";
import { action, count, figure, fill, golem, h, money, rows } from "./dom.js";
import { get, of, post, repeat } from "./host.js";
import { known, on } from "./known.js";

// Causes of death, by name, in the words a person would use.
const CAUSES = {
  stochastic: ["chance", "by chance"],
  economic: ["money", "for want of money"],
  epistemic_senescence: ["touch", "lost touch with its world"],
  owner_kill: ["owner", "ended by you"],
  kill_switch: ["owner", "by the kill switch"],
};
const SHOWN = 300;

export function graves(place) {
  const wanted = h("input", { type: "search", placeholder: "Filter by name or cause …", "aria-label": "Filter graves" });
  const list = h("ul", { class: "graves" });
  const causes = h("div", {});
  const rest = h("p", { class: "quiet" });
  const draw = () => {
    const words = wanted.value.toLowerCase();
    const dead = [...known.all.values()].filter((one) => one.state === "dead");
    const shown = dead.filter((one) => one.text.includes(words)).sort((a, b) => a.rank - b.rank);
    // A grave is drawn once; nothing of it changes.
    const drawn = new Map([...list.children].map((child) => [child.one, child]));
    list.replaceChildren(...shown.slice(0, SHOWN).map((one) => drawn.get(one) ?? Object.assign(grave(one), { one })));
    fill(causes, dead.length > 1 ? bars(byCause(dead)) : null);
    rest.textContent = !known.looked ? "Asking for them …" : !dead.length ? "No golem has died here." : shown.length > SHOWN ? `and ${count(shown.length - SHOWN)} more; filter for them` : "";
  };
  wanted.addEventListener("input", draw);
  fill(place, h("h1", {}, "Graves"), causes, h("div", { class: "tools" }, wanted), list, rest);
  draw();
  return [on("change", draw)];
}

function byCause(dead) {
  const counts = new Map();
  dead.forEach((one) => counts.set(one.cause, (counts.get(one.cause) ?? 0) + 1));
  const row = ([cause, n]) => ({ name: h("span", {}, CAUSES[cause]?.[1] ?? "otherwise"), value: n, kind: CAUSES[cause]?.[0], says: count(n) });
  return [...counts].sort((a, b) => b[1] - a[1]).map(row);
}

function grave(one) {
  const bury = async () => {
    await post(of(one.name, "/bury"));
    return "put away";
  };
  return h(
    "li",
    {},
    figure(one, "big"),
    h(
      "div",
      {},
      h("h2", {}, h("a", { href: golem(one.name) }, `† ${one.name}`)),
      h("p", {}, one.why),
      h("p", { class: "quiet" }, `generation ${one.generation}, ${count(one.tick)} ticks, net ${money(one.net)}`),
      h("p", { class: "ways" }, h("a", { href: golem(one.name, "left") }, "Testament"), " ", h("a", { href: golem(one.name, "family") }, "Family"), " ", h("a", { href: `#/heir/${encodeURIComponent(one.name)}` }, "Make an heir"), " ", action("Bury", bury, { class: "plain" })),
    ),
  );
}

export function costs(place) {
  const draw = () => {
    const all = [...known.all.values()];
    const sum = (key) => all.reduce((total, one) => total + one[key], 0);
    const most = all.filter((one) => one.spent > 0).sort((a, b) => b.spent - a.spent);
    fill(
      place,
      h("h1", {}, "Costs"),
      rows([
        { about: "spent", says: `${money(sum("spent"))} on living, thinking and acting` },
        { about: "calls", says: `${money(sum("calls"))} of it for calls of your agents` },
        { about: "still there", says: `${money(sum("credit"))} to live on, ${money(sum("worth"))} to act with` },
        { about: "net", says: `${money(sum("net"))} for you, all lives together` },
      ]),
      h("h2", {}, "Highest spending"),
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ["Golem", "Spent", "On calls", "Net"].map((text) => h("th", { scope: "col" }, text)))),
        h("tbody", {}, most.slice(0, 100).map((one) => h("tr", {}, h("td", {}, h("a", { href: golem(one.name, "costs") }, one.name)), [one.spent, one.calls, one.net].map((sum) => h("td", { class: "number" }, money(sum, 6)))))),
      ),
    );
  };
  draw();
  return [on("change", draw)];
}

export function clade(place) {
  const draw = async () => {
    const report = await get("/v1/clade");
    const none = [h("p", {}, "This home belongs to no clade: its golems talk to each other, but not to golems in other homes."), h("p", {}, "To start one:"), h("pre", {}, "bardo styx init")];
    fill(place, h("h1", {}, "Golems elsewhere"), report ? rows(report.told) : none);
  };
  draw().catch((why) => fill(place, h("p", { class: "wrong" }, why.message)));
  return [repeat(5000, place, draw)];
}
