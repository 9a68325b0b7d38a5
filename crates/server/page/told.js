// What a golem tells of itself: its events as they happen, its memory to search, and its nights.

import { count, date, fill, h, money, rows } from "./dom.js";
import { get, listen, of } from "./host.js";

const TOPICS = ["everything", "mortality", "pressure", "dreams", "acting", "owner"];

export function events(body, name) {
  const list = h("ol", { class: "events", reversed: true });
  const topic = h("select", {}, TOPICS.map((one) => h("option", { value: one }, one)));
  const all = h("input", { type: "checkbox" });
  let end = () => {};
  const begin = () => {
    end();
    fill(list, h("li", { class: "quiet" }, "Reading its journal …"));
    const waiting = [];
    let read = false;
    const flush = () => {
      const lines = waiting.splice(0).slice(-500);
      if (!read) list.replaceChildren();
      read = true;
      list.prepend(...lines.reverse().map((told) => line(told)));
      while (list.children.length > 500) list.lastElementChild.remove();
    };
    const patience = setTimeout(() => read || fill(list, h("li", { class: "quiet" }, "Nothing of that kind so far.")), 3000);
    const stop = listen(of(name, `/events?unnamed=true&after=0.0&all=${all.checked}`), (told) => {
      if (topic.value !== "everything" && told.topic !== topic.value) return;
      if (waiting.push(told) === 1) setTimeout(flush, 100);
    });
    end = () => (clearTimeout(patience), stop());
  };
  topic.addEventListener("input", begin);
  all.addEventListener("input", begin);
  fill(body, h("div", { class: "tools" }, h("label", {}, "About ", topic), h("label", {}, all, " with what happens every tick")), list);
  begin();
  return [() => end()];
}

export function line(told) {
  return h("li", { class: told.gravity }, h("time", {}, date(told.at)), " ", h("span", { class: "quiet" }, `tick ${count(told.tick)}`), " ", told.says);
}

export function memory(body, name) {
  const query = h("input", { type: "search", placeholder: "What does it know of …", "aria-label": "Search its memory" });
  const all = h("input", { type: "checkbox" });
  const found = h("div", {});
  let asked = 0;
  const search = async () => {
    const mine = (asked += 1);
    const hits = await get(of(name, `/memory?limit=50&q=${encodeURIComponent(query.value)}&all=${all.checked}`));
    if (mine !== asked) return;
    fill(
      found,
      hits.length ? null : h("p", { class: "quiet" }, query.value ? "Nothing comes to mind." : "It knows nothing yet."),
      hits.map((hit) =>
        h("details", { class: "entry" }, h("summary", {}, h("span", { class: "number" }, hit.confidence.toFixed(2)), " ", h("span", { class: "kind" }, hit.entry.kind.replace("_", " ")), ` ${hit.says}`), rows(hit.told)),
      ),
    );
  };
  const later = () => search().catch((why) => fill(found, h("p", { class: "wrong" }, why.message)));
  query.addEventListener("input", later);
  all.addEventListener("input", later);
  fill(body, h("div", { class: "tools" }, query, h("label", {}, all, " also what is on trial or archived")), found);
  later();
}

export function dreams(body, name) {
  const draw = async () => {
    const { nights, newest, on_trial } = await get(of(name, "/dreams"));
    fill(
      body,
      nights ? h("p", { class: "lead" }, `${count(nights)} ${nights === 1 ? "night" : "nights"}`) : h("p", { class: "quiet" }, "It has never dreamt."),
      on_trial.length ? [h("h2", {}, "On trial now"), h("ul", {}, on_trial.map((trial) => h("li", {}, trial.rule, h("br", {}), h("span", { class: "quiet" }, trial.how))))] : null,
      newest
        .slice()
        .reverse()
        .map((night) =>
          h(
            "details",
            {},
            h("summary", {}, `Night ${night.number}, ${date(night.began)}: ${night.told.at(-1) ?? ""}`),
            h("ul", {}, night.told.slice(0, -1).map((text) => h("li", {}, text))),
            h("p", { class: "quiet" }, `${money(night.cost, 6)}, ${night.ticks} ticks; since then ${night.promoted} borne out, ${night.refuted} refuted, ${night.forgotten} forgotten`),
          ),
        ),
    );
  };
  draw().catch((why) => fill(body, h("p", { class: "wrong" }, why.message)));
}
