// One golem: its state, pictures, events, memory, nights, costs, testament and family; and what its owner can do.

import { action, bar, count, date, field, fill, golem, h, money, rows } from "./dom.js";
import { get, listen, of, post, repeat } from "./host.js";
import { card } from "./fleet.js";
import { pictures } from "./plot.js";

const TABS = [
  ["", "Now", now],
  ["pictures", "Pictures", drawn],
  ["events", "Events", events],
  ["memory", "Memory", memory],
  ["dreams", "Dreams", dreams],
  ["costs", "Calls", calls],
  ["left", "Testament", left],
  ["family", "Family", family],
];

export function life(place, name, tab = "") {
  const head = h("div", { class: "head" });
  const body = h("section", {});
  const chosen = TABS.find(([path]) => path === tab) ?? TABS[0];
  const tabs = h(
    "nav",
    { class: "tabs", "aria-label": `Of ${name}` },
    TABS.map(([path, label]) => h("a", { href: golem(name, path), "aria-current": path === chosen[0] ? "page" : null }, label)),
  );
  fill(place, head, tabs, body);
  let seen = null;
  const look = async () => {
    seen = await get(of(name));
    fill(head, top(seen));
    return seen;
  };
  const ended = [];
  const begun = look().then(
    () => place.isConnected && ended.push(...(chosen[2](body, name, () => seen, look) ?? [])),
    (why) => fill(body, h("p", { class: "wrong" }, why.message)),
  );
  ended.push(repeat(2000, place, look));
  return [() => begun.then(() => ended.forEach((end) => end()))];
}

function top({ name, status, generation, running }) {
  const dead = status.state === "dead";
  const waits = status.asks ?? status.hold;
  return [
    h("h1", {}, dead ? "† " : "", name),
    h(
      "p",
      { class: "lead" },
      dead ? `Died ${status.why}.` : `${status.state === "living" ? status.phase : status.state}, generation ${generation}, tick ${count(status.tick)}`,
      !dead && !running ? "; not running now" : "",
    ),
    dead ? h("p", {}, h("a", { class: "button", href: `#/heir/${encodeURIComponent(name)}` }, "Make an heir")) : null,
    waits ? h("p", { class: "wrong" }, "It waits for your answer: see below under Now.") : null,
  ];
}

function now(body, name, seen, look) {
  const told = h("div", {});
  const draw = () => {
    const one = seen();
    const { clocks, load, skills } = one.told;
    const spent = row(one, "spent");
    fill(
      told,
      // An owner who keeps an agent on a budget wants to know this first.
      spent ? h("p", { class: "lead" }, `Spent ${spent}. `, h("a", { href: golem(name, "costs") }, "Its calls")) : null,
      one.status.state !== "dead" && one.status.asks ? card({ name, waits: { key: one.status.asks.key, says: row(one, "asks you") } }) : null,
      one.status.state !== "dead" && !one.status.asks && one.status.hold ? card({ name, waits: { key: one.status.hold.key, says: row(one, "asks you") } }) : null,
      h(
        "div",
        { class: "clocks" },
        h("div", {}, h("h2", {}, "Vitality"), bar(one.status.vitality, `vitality ${one.status.vitality.toFixed(2)}`, one.status.phase), h("p", {}, one.status.vitality.toFixed(2))),
        clocks.map((clock) => h("div", {}, h("h2", {}, clock.name), bar(clock.on ? clock.factor : 0, `${clock.name} ${clock.factor.toFixed(2)}`), h("p", {}, clock.says))),
      ),
      load.stressors.length
        ? h(
            "section",
            {},
            h("h2", {}, "What presses"),
            load.closed ? h("p", {}, load.closed) : null,
            h("ul", {}, load.stressors.map((one) => h("li", {}, h("b", {}, `${one.title} (${one.severity.toFixed(2)})`), ` ${one.why}; for ${one.since}. Clears when ${one.clears_when}.`))),
          )
        : null,
      skills.length
        ? h(
            "section",
            {},
            h("h2", {}, "Claims against what came"),
            h(
              "table",
              {},
              h("thead", {}, h("tr", {}, ["About", "Claims", "Skill"].map((text) => h("th", { scope: "col" }, text)))),
              h("tbody", {}, skills.map((one) => h("tr", {}, h("td", {}, one.domain), h("td", { class: "number" }, count(one.claims)), h("td", { class: "number" }, one.skill === null ? "too few" : one.skill.toFixed(2))))),
            ),
            h("p", { class: "quiet" }, "0.50 is as good as the naive forecast, 1 is perfect."),
          )
        : null,
      h("section", {}, h("h2", {}, "In figures"), rows(one.rows)),
    );
  };
  const orders = h("section", { class: "orders" });
  fill(body, told, orders);
  draw();
  if (seen().status.state !== "dead") fill(orders, h("h2", {}, "What you can do"), controls(name, look));
  return [repeat(2000, body, async () => draw())];
}

function row(seen, about) {
  return seen.rows.find((row) => row.about === about)?.says ?? "";
}

function amount(input) {
  const micros = Math.round(Number(input.value) * 1e6);
  if (!Number.isSafeInteger(micros) || micros < 0) throw new Error(`${input.value} is not an amount of money`);
  return micros;
}

function controls(name, look) {
  const order = (verb, body, did) => async () => {
    const answer = await post(of(name, `/${verb}`), typeof body === "function" ? body() : body);
    look().catch(() => {});
    return answer?.waiting ? "waiting for the golem" : did;
  };
  const credit = h("input", { type: "number", min: 0, step: "0.01", value: "0" });
  const capital = h("input", { type: "number", min: 0, step: "0.01", value: "0" });
  const words = h("input", { type: "text", maxlength: 800 });
  const typed = h("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  const why = h("input", { type: "text", maxlength: 200 });
  return [
    h("p", {}, action("Freeze", order("freeze", {}, "frozen")), " no new exposure until it is resumed"),
    h("p", {}, action("Pause", order("pause", {}, "paused")), " world time and its clocks stop"),
    h("p", {}, action("Resume", order("resume", {}, "goes on")), " neither paused nor frozen"),
    h("details", {}, h("summary", {}, "Give it money"), field("To live on, in dollars", credit), field("To act with, in dollars", capital), action("Give", order("fund", () => ({ credit: amount(credit), capital: amount(capital) }), "given"))),
    h("details", {}, h("summary", {}, "Give it guidance"), field("In your words", words, "Guidance moves no money and loosens no rule."), action("Set guidance", order("strategy", () => ({ strategy: words.value }), "guidance set"))),
    h(
      "details",
      { class: "danger" },
      h("summary", {}, "End it"),
      h("p", {}, "It closes its affairs, writes its testament and is gone. This cannot be undone."),
      field("Why", why, "It stands in its testament."),
      field("Type its name", typed),
      action(
        "Retire it",
        async () => {
          if (typed.value !== name) throw new Error(`type ${name} to say that you mean it`);
          return order("retire", { confirm: typed.value, reason: why.value }, "it ends")();
        },
        { class: "danger" },
      ),
    ),
  ];
}

function drawn(body, name) {
  let end = () => {};
  let newest = null;
  const draw = async () => {
    const told = await get(of(name, "/pictures"));
    if (newest === told.end) return;
    newest = told.end;
    end();
    end = pictures(body, told);
  };
  fill(body, h("p", { class: "quiet" }, "Reading its journal …"));
  draw().catch((why) => fill(body, h("p", { class: "wrong" }, why.message)));
  return [repeat(30000, body, draw), () => end()];
}

const TOPICS = ["everything", "mortality", "pressure", "dreams", "acting", "owner"];

function events(body, name) {
  const list = h("ol", { class: "events", reversed: true });
  const topic = h("select", {}, TOPICS.map((one) => h("option", { value: one }, one)));
  const all = h("input", { type: "checkbox" });
  let end = () => {};
  const begin = () => {
    end();
    fill(list, h("li", { class: "quiet" }, "Reading its journal …"));
    let waiting = [];
    let read = false;
    const flush = () => {
      const lines = waiting.splice(0).slice(-500);
      if (!read) list.replaceChildren();
      read = true;
      list.prepend(...lines.reverse().map((told) => line(told)));
      while (list.children.length > 500) list.lastElementChild.remove();
    };
    end = listen(of(name, `/events?unnamed=true&after=0.0&all=${all.checked}`), (told) => {
      if (topic.value !== "everything" && told.topic !== topic.value) return;
      if (waiting.push(told) === 1) setTimeout(flush, 100);
    });
  };
  topic.addEventListener("input", begin);
  all.addEventListener("input", begin);
  fill(body, h("div", { class: "tools" }, h("label", {}, "About ", topic), h("label", {}, all, " with what happens every tick")), list);
  begin();
  return [() => end()];
}

function line(told) {
  return h("li", { class: told.event === "mortality.dead" ? "death" : told.topic }, h("time", {}, date(told.at)), " ", h("span", { class: "quiet" }, `tick ${count(told.tick)}`), " ", told.says);
}

function memory(body, name) {
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

function dreams(body, name) {
  const draw = async () => {
    const { nights, newest, on_trial } = await get(of(name, "/dreams"));
    fill(
      body,
      h("h2", {}, `${count(nights)} nights`),
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

function calls(body, name, seen) {
  const draw = async () => {
    const { spending, lines, refused } = await get(of(name, "/costs"));
    const thoughts = [seen().told.thoughts, seen().told.mind].filter(Boolean);
    const waits = seen().status.state !== "dead" && spending.stops.waits;
    fill(
      body,
      waits ? card({ name, waits: { key: waits.key, says: `to go on calling after ${waits.says}` } }) : null,
      thoughts.length ? [h("h2", {}, "What it thinks with"), thoughts.map((text) => h("p", {}, text))] : null,
      h("h2", {}, "Calls of its agent"),
      lines.length || refused.length ? rows(spending.told) : h("p", { class: "quiet" }, "None: no agent of yours has called a model through it."),
      spending.models.length
        ? [h("h2", {}, "By model"), table(["Model", "Calls", "Tokens in", "From cache", "To cache", "Out", "Of it thought", "Cost"], spending.models.map((one) => [one.model || "unknown", one.calls, one.input, one.cached, one.written, one.output, one.thought, money(one.cost, 6)]))]
        : null,
      lines.length ? [h("h2", {}, "By day"), table(["Day", "Model", "Calls", "Tokens in", "Out", "Cost"], lines.map((one) => [one.day, one.model || "unknown", one.calls, one.input, one.output, money(one.cost, 6)]))] : null,
      spending.sessions.length
        ? [h("h2", {}, "By session, since this host came up"), table(["Session", "Calls", "Tokens in", "Out", "Cost", "Last heard"], spending.sessions.map((one) => [one.session ?? "all others", one.calls, one.input, one.output, money(one.cost, 6), date(one.last)]))]
        : null,
      spending.stops.past.length ? [h("h2", {}, "Times they were stopped"), h("ul", {}, spending.stops.past.map((one) => h("li", {}, `${date(one.at)} until ${date(one.until)}: ${one.says}`)))] : null,
    );
  };
  draw().catch((why) => fill(body, h("p", { class: "wrong" }, why.message)));
  return [repeat(5000, body, draw)];
}

// A table with words to the left and figures to the right; on a small screen it scrolls sideways.
function table(heads, all) {
  const cell = (value) => (typeof value === "number" ? h("td", { class: "number" }, count(value)) : h("td", {}, value));
  return h(
    "div",
    { class: "aside" },
    h("table", {}, h("thead", {}, h("tr", {}, heads.map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, all.map((one) => h("tr", {}, one.map(cell))))),
  );
}

function left(body, name, seen) {
  if (seen().status.state !== "dead") {
    fill(body, h("p", { class: "quiet" }, "It is alive. Its testament will appear here when it has died."));
    return;
  }
  const draw = async () => {
    const told = await get(of(name, "/testament"));
    // The cause stands above; early testaments have it among the lines, and a line where there is nothing to say.
    const says = (text) => text !== told.cause_in_words && text !== "nothing to say";
    const sections = told.sections.map(({ title, lines }) => ({ title, lines: lines.filter(says) })).filter(({ lines }) => lines.length > 0);
    fill(
      body,
      h("article", { class: "testament" }, h("p", { class: "lead" }, told.cause_in_words), told.words ? h("blockquote", {}, told.words) : null, sections.map(({ title, lines }) => h("section", {}, h("h2", {}, title), h("ul", {}, lines.map((text) => h("li", {}, text)))))),
    );
  };
  draw().catch((why) => fill(body, h("p", { class: "wrong" }, why.message)));
}

function family(body, name) {
  const draw = async () => {
    const all = await get(of(name, "/lineage"));
    fill(
      body,
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ["Generation", "Name", "Heir of", "Ticks", "Skill", "Ended"].map((text) => h("th", { scope: "col" }, text)))),
        h("tbody", {}, all.map((one) => h("tr", {}, h("td", { class: "number" }, one.generation), h("td", {}, one.name === name ? h("b", {}, one.name) : h("a", { href: golem(one.name) }, one.name)), h("td", {}, one.parent ?? ""), h("td", { class: "number" }, count(one.ticks)), h("td", { class: "number" }, one.skill.toFixed(2)), h("td", {}, one.alive ? "alive" : one.cause)))),
      ),
    );
  };
  draw().catch((why) => fill(body, h("p", { class: "wrong" }, why.message)));
}
