// What happens to all golems, the newest first, as it happens.

import { count, date, fill, golem, h } from "./dom.js";
import { heard, on } from "./known.js";

const SHOWN = 200;
// What matters, by how far it is out of the ordinary.
const CHOICES = {
  serious: ["danger, deaths and questions", (told) => ["serious", "grave"].includes(told.gravity)],
  "": ["everything out of the ordinary", () => true],
  mortality: ["lives and deaths", (told) => told.topic === "mortality"],
  pressure: ["pressure", (told) => told.topic === "pressure"],
  dreams: ["dreams", (told) => told.topic === "dreams"],
  acting: ["acting and calls", (told) => told.topic === "acting"],
  owner: ["orders and questions", (told) => told.topic === "owner"],
};

export function line(told) {
  return h(
    "li",
    { class: told.gravity },
    told.gravity === "grave" ? "† " : "",
    h("a", { href: golem(told.golem) }, told.golem),
    ` ${told.says} `,
    h("span", { class: "quiet" }, `${date(told.at)}, tick ${count(told.tick)}`),
  );
}

export function feed(place) {
  const which = h("select", { "aria-label": "Show" }, Object.entries(CHOICES).map(([value, [text]]) => h("option", { value }, text)));
  const wanted = h("input", { type: "search", placeholder: "Filter by name or words …", "aria-label": "Filter events" });
  const still = h("input", { type: "checkbox" });
  const list = h("ol", { class: "events", reversed: true, "aria-live": "off" });
  const none = h("p", { class: "quiet" });
  which.value = "";
  const draw = () => {
    const words = wanted.value.toLowerCase();
    const has = (told) => !words || `${told.golem} ${told.says}`.toLowerCase().includes(words);
    const all = heard.filter((told) => CHOICES[which.value][1](told) && has(told)).slice(0, SHOWN);
    // What was drawn once is not drawn again.
    const drawn = new Map([...list.children].map((child) => [child.told, child]));
    const lines = all.map((told) => drawn.get(told) ?? Object.assign(line(told), { told }));
    list.replaceChildren(...lines);
    none.hidden = all.length > 0;
    none.textContent = heard.length ? "Nothing of that kind." : "Nothing out of the ordinary so far. What happens comes here by itself.";
  };
  [which, wanted].forEach((input) => input.addEventListener("input", draw));
  still.addEventListener("input", () => still.checked || draw());
  fill(place, h("h1", {}, "What happens"), h("div", { class: "tools" }, wanted, h("label", {}, "Show ", which), h("label", {}, still, " hold still")), none, list);
  draw();
  return [on("news", () => still.checked || draw())];
}

// The newest few events, below the list of golems.
export function latest() {
  const list = h("ol", { class: "events" });
  const section = h("section", { hidden: true }, h("h2", {}, h("a", { href: "#/feed" }, "What happens")), list);
  const draw = () => {
    fill(list, heard.slice(0, 5).map(line));
    section.hidden = heard.length === 0;
  };
  draw();
  const end = on("news", () => (section.isConnected ? draw() : end()));
  return section;
}
