// Pages about all golems: the dead, the costs, and golems in other homes.

import { count, fill, golem, h, money, rows } from "./dom.js";
import { get, repeat } from "./host.js";
import { Known } from "./fleet.js";

export function graves(place) {
  const known = new Known();
  const draw = async (always) => {
    if (!(await known.look()) && !always) return;
    const dead = [...known.all.values()].filter((one) => one.state === "dead");
    fill(
      place,
      h("h1", {}, "Graves"),
      dead.length ? null : h("p", { class: "quiet" }, "No golem has died here."),
      h(
        "ul",
        { class: "graves" },
        dead.slice(0, 500).map((one) =>
          h(
            "li",
            {},
            h("h2", {}, h("a", { href: golem(one.name, "left") }, `† ${one.name}`)),
            h("p", {}, one.why),
            h("p", { class: "quiet" }, `generation ${one.generation}, ${count(one.tick)} ticks, net ${money(one.net)}`),
            h("p", {}, h("a", { href: golem(one.name, "left") }, "Testament"), " ", h("a", { href: golem(one.name, "family") }, "Family"), " ", h("a", { href: `#/heir/${encodeURIComponent(one.name)}` }, "Make an heir")),
          ),
        ),
      ),
      dead.length > 500 ? h("p", { class: "quiet" }, `and ${count(dead.length - 500)} more; filter for them under Golems`) : null,
    );
  };
  draw(true).catch((why) => fill(place, h("p", { class: "wrong" }, why.message)));
  return [repeat(5000, place, () => draw(false))];
}

export function costs(place) {
  const known = new Known();
  const draw = async (always) => {
    if (!(await known.look()) && !always) return;
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
  draw(true).catch((why) => fill(place, h("p", { class: "wrong" }, why.message)));
  return [repeat(5000, place, () => draw(false))];
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
