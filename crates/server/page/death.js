// A death: the notice of it wherever one is on the page, the stone with the last words, and the ways on.

import { action, age, count, date, figure, fill, golem, h, money, rows } from "./dom.js";
import { get, of, post } from "./host.js";
import { on } from "./known.js";

// Notices that are shown at once.
const SHOWN = 3;
// Sections to quote from, what matters most to an heir first.
const LAST = ["what I would change", "what I suspect but cannot prove", "what worked"];

// Shows a notice for every golem that dies while the page is open.
export function mourn(place) {
  const all = [];
  const draw = () => {
    const more = all.length - SHOWN;
    fill(place, all.slice(0, SHOWN).map((one) => one.element), more > 0 ? h("p", {}, `${count(more)} more died meanwhile: `, h("a", { href: "#/graves" }, "all graves"), " ", close(() => all.splice(SHOWN))) : null);
    place.hidden = all.length === 0;
  };
  const close = (away) =>
    h("button", { type: "button", onclick: () => (away(), draw()) }, "Close");
  on("death", (one) => {
    if (all.some((other) => other.name === one.name)) return;
    const gone = () => all.splice(all.findIndex((other) => other.name === one.name), 1);
    const words = h("div", {});
    const element = h(
      "article",
      { class: "death" },
      figure(one, "big"),
      h("div", {}, h("h2", {}, h("a", { href: golem(one.name) }, one.name), " has died"), h("p", { class: "cause" }, `${capital(one.why ?? "of a cause that is not known")}.`), h("p", { class: "quiet" }, lived(one)), words, h("p", { class: "ways" }, ways(one.name), close(gone))),
    );
    all.unshift({ name: one.name, element });
    draw();
    lastWords(words, one.name).catch(() => {});
  });
  return { close: () => (all.shift(), draw()) };
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function lived(one) {
  return `It lived ${one.age ? `${age(one.age)}, ` : ""}${count(one.tick)} ticks, in generation ${one.generation}; net ${money(one.net)} for you.`;
}

// The ways on after a death.
function ways(name) {
  return [
    h("a", { class: "button", href: `#/heir/${encodeURIComponent(name)}` }, "Make an heir"),
    " ",
    h("a", { class: "button", href: golem(name, "left") }, "Testament"),
    " ",
    action("Bury", async () => {
      await post(of(name, "/bury"));
      return "put away; `bardo golem unbury` brings it back";
    }, { title: "Out of the lists, with everything it left" }),
  ];
}

// The last words are there once its affairs are closed and nothing runs it any more, a moment after the death.
async function lastWords(place, name, tries = 20) {
  const { running } = await get(of(name));
  if (!running) return fill(place, quoted(await get(of(name, "/testament"))));
  if (tries > 0 && place.isConnected) setTimeout(() => lastWords(place, name, tries - 1).catch(() => {}), 1000);
}

function quoted(told) {
  const said = told.words ? [told.words] : LAST.flatMap((title) => lines(told, title)).slice(0, 3);
  return said.length ? h("blockquote", {}, said.map((text) => h("p", {}, `“${text}”`))) : null;
}

// What there is to say under a heading. Early testaments repeat the cause, and have a line where there is nothing to say.
function lines(told, title) {
  const section = told.sections.find((one) => one.title === title);
  return (section?.lines ?? []).filter((text) => text !== told.cause_in_words && text !== "nothing to say");
}

// The head of the page of a dead golem: its stone.
export function stone({ name, generation, status }, told) {
  const born = told ? `${date(told.born)} to ${date(told.died)}` : "";
  return h(
    "div",
    { class: "death grave" },
    figure(status, "huge"),
    h(
      "div",
      {},
      h("h1", {}, "† ", name),
      h("p", { class: "cause" }, `${capital(status.why ?? "of a cause that is not known")}.`),
      h("p", { class: "quiet" }, [born, `generation ${generation}`, `${count(status.tick)} ticks`].filter(Boolean).join(", ")),
      told ? quoted(told) : h("p", { class: "quiet" }, "Its affairs are being closed; its last words come with its testament."),
      h("p", { class: "ways" }, ways(name), h("a", { class: "button", href: "#/graves" }, "All graves")),
    ),
  );
}

// What a life came to, for the first tab of a dead golem.
export function came(body, seen, told) {
  const { rows: figures } = seen;
  const percent = (share) => `${(100 * share).toFixed(2)} %`;
  const s = told?.statistics;
  fill(
    body,
    s
      ? [
          h("h2", {}, "What it came to"),
          rows([
            { about: "lived", says: `${age(s.age_seconds)}, ${count(s.ticks)} ticks` },
            { about: "skill", says: `${s.skill.toFixed(2)} at the end, ${s.highest_skill.toFixed(2)} at best; 0.50 is as good as naive` },
            { about: "return", says: `${percent(s.returned)}, holding throughout ${percent(s.held)}` },
            { about: "net", says: `${money(s.books.net, 6)} of ${money(s.books.given.credit + s.books.given.capital)} given` },
            { about: "did", says: `${count(s.claims)} claims, ${count(s.actions)} actions, ${count(s.nights)} nights` },
          ]),
        ]
      : null,
    told?.turning_points?.length ? [h("h2", {}, "Turning points"), h("ol", { class: "events" }, told.turning_points.map((one) => h("li", {}, h("span", { class: "quiet" }, `tick ${count(one.tick)}`), " ", one.what)))] : null,
    h("details", {}, h("summary", {}, "In figures"), rows(figures)),
  );
}

// The testament, with the headings under which there is something.
export function testament(told) {
  const sections = told.sections.map(({ title }) => ({ title, said: lines(told, title) })).filter(({ said }) => said.length > 0);
  return h(
    "article",
    { class: "testament" },
    h("p", { class: "lead" }, `${capital(told.cause_in_words)}.`),
    told.words ? h("blockquote", {}, told.words) : null,
    sections.map(({ title, said }) => h("section", {}, h("h2", {}, title), h("ul", {}, said.map((text) => h("li", {}, text))))),
  );
}
