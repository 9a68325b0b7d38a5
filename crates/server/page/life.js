// One golem: how it is now and what its owner can do; the other sides of it are in files of their own.

import { calls } from "./agent.js";
import { came, stone, testament } from "./death.js";
import { action, age, bar, count, field, figure, fill, golem, h, rows, table } from "./dom.js";
import { family, kin } from "./family.js";
import { get, of, post, repeat } from "./host.js";
import { pictures, ready } from "./plot.js";
import { card } from "./row.js";
import { dreams, events, memory } from "./told.js";

// The sides of a golem, each with whether it has one alive or dead.
const TABS = [
  ["", (dead) => (dead ? "Its end" : "Now"), now],
  ["pictures", () => "Pictures", drawn],
  ["events", () => "Events", events],
  ["memory", () => "Memory", memory],
  ["dreams", () => "Dreams", dreams],
  ["costs", () => "Calls", calls],
  ["left", (dead) => dead && "Testament", left],
  ["family", () => "Family", family],
];

export function life(place, name, tab = "") {
  const head = h("div", { class: "head" });
  const body = h("section", {});
  const chosen = TABS.find(([path]) => path === tab) ?? TABS[0];
  const tabs = h("nav", { class: "tabs", "aria-label": `Of ${name}` });
  fill(place, head, tabs, body);
  let seen = null;
  let told = null;
  let drawn = "";
  let ended = [];
  const end = () => ended.splice(0).forEach((one) => one());
  const look = async () => {
    seen = await get(of(name));
    const dead = seen.status.state === "dead";
    // It has a testament once nothing runs it any more.
    if (dead && !told && !seen.running) told = await get(of(name, "/testament")).catch(() => null);
    const stands = `${dead} ${told !== null}`;
    // A stone stays as it is, and with it what is being read.
    if (!dead || stands !== drawn) fill(head, dead ? stone(seen, told) : top(seen));
    if (stands !== drawn) {
      // It was opened, it has died meanwhile, or its testament has come.
      drawn = stands;
      const link = ([path, label]) => label(dead) && h("a", { href: golem(name, path), "aria-current": path === chosen[0] ? "page" : null }, label(dead));
      fill(tabs, TABS.map(link));
      end();
      ended = [...(chosen[2](body, name, () => seen, look, told) ?? [])];
    }
    return seen;
  };
  let over = false;
  const begun = look().then(
    () => over && end(),
    (why) => fill(body, h("p", { class: "wrong" }, why.message)),
  );
  const stop = repeat(2000, place, look);
  return [() => ((over = true), stop(), begun.then(end))];
}

function top({ name, status, generation, running }) {
  const waits = status.asks ?? status.hold;
  return h(
    "div",
    { class: "living" },
    figure(status, "big"),
    h(
      "div",
      {},
      h("h1", {}, name),
      h(
        "p",
        { class: "lead" },
        `${status.state === "living" ? status.phase : status.state}, generation ${generation}, tick ${count(status.tick)}`,
        status.age ? `, ${age(status.age)} old` : "",
        !running ? "; not running now" : "",
      ),
      waits ? h("p", { class: "wrong" }, "It waits for your answer: see below under Now.") : null,
    ),
  );
}

function now(body, name, seen, look, last) {
  if (seen().status.state === "dead") return came(body, seen(), last);
  const told = h("div", {});
  const relatives = h("div", {});
  const orders = h("section", { class: "orders" });
  // What was ordered shows at once, in the words above and in the buttons.
  const [brakes, others] = controls(name, () => look().then(() => draw()));
  const draw = () => {
    const one = seen();
    const { state, asks, hold } = one.status;
    const spent = row(one, "spent");
    const key = (asks ?? hold)?.key;
    fill(
      told,
      // An owner who keeps an agent on a budget wants to know this first.
      spent ? h("p", { class: "lead" }, `Spent ${spent}. `, h("a", { href: golem(name, "costs") }, "Its calls")) : null,
      key === undefined ? null : card({ name, waits: { key, says: row(one, "asks you") } }),
      clocks(one),
      presses(one.told.load),
      skills(one.told.skills),
      h("section", {}, h("h2", {}, "In figures"), rows(one.rows)),
    );
    brakes(state);
  };
  fill(body, relatives, told, orders);
  draw();
  kin(name).then((line) => fill(relatives, line), () => {});
  fill(orders, h("h2", {}, "What you can do"), others);
  return [repeat(2000, body, async () => draw())];
}

function clocks({ status, told }) {
  const clock = (one) => h("div", {}, h("h2", {}, one.name), one.on ? bar(one.factor, `${one.name} ${one.factor.toFixed(2)}`) : null, h("p", {}, one.says));
  const vitality = h("div", {}, h("h2", {}, "Vitality"), bar(status.vitality, `vitality ${status.vitality.toFixed(2)}`, status.phase), h("p", {}, status.vitality.toFixed(2)));
  return [h("div", { class: "clocks" }, vitality, told.clocks.map(clock)), h("p", { class: "quiet" }, "A full bar is well: it shows what a clock leaves of vitality.")];
}

function presses(load) {
  if (!load.stressors.length) return null;
  const one = (told) => h("li", {}, h("b", {}, `${told.title} (${told.severity.toFixed(2)})`), ` ${told.why}; for ${told.since}. Clears when ${told.clears_when}.`);
  return h("section", {}, h("h2", {}, "What presses"), load.closed ? h("p", {}, load.closed) : null, h("ul", {}, load.stressors.map(one)));
}

function skills(all) {
  if (!all.length) return null;
  const cells = (one) => [one.domain, one.claims, one.skill === null ? "too few" : one.skill.toFixed(2)];
  return h("section", {}, h("h2", {}, "Claims against what came"), table(["About", "Claims", "Skill"], all.map(cells)), h("p", { class: "quiet" }, "0.50 is as good as the naive forecast, 1 is perfect."));
}

function row(seen, about) {
  return seen.rows.find((row) => row.about === about)?.says ?? "";
}

function amount(input) {
  const micros = Math.round(Number(input.value) * 1e6);
  if (!Number.isSafeInteger(micros) || micros < 0) throw new Error(`${input.value} is not an amount of money`);
  return micros;
}

// What an owner can do: which of the brakes are of use in a state, and all of it.
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
  const brakes = {
    frozen: h("p", {}, action("Freeze", order("freeze", {}, "frozen")), " no new exposure until it is resumed"),
    paused: h("p", {}, action("Pause", order("pause", {}, "paused")), " world time and its clocks stop"),
    resumed: h("p", {}, action("Resume", order("resume", {}, "goes on")), " neither paused nor frozen"),
  };
  const show = (state) => {
    for (const [of, line] of Object.entries(brakes)) line.hidden = of === "resumed" ? !["frozen", "paused"].includes(state) : of === state;
  };
  const all = [
    Object.values(brakes),
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
  return [show, all];
}

function drawn(body, name) {
  let end = () => {};
  let newest = null;
  const draw = async () => {
    const [told] = await Promise.all([get(of(name, "/pictures")), ready()]);
    if (newest === told.end) return;
    newest = told.end;
    end();
    end = pictures(body, told);
  };
  fill(body, h("p", { class: "quiet" }, "Reading its journal …"));
  draw().catch((why) => fill(body, h("p", { class: "wrong" }, why.message)));
  return [repeat(30000, body, draw), () => end()];
}

function left(body, name, seen, look, told) {
  const none = seen().status.state === "dead" ? "Its affairs are being closed. Its testament will appear here then." : "It is alive. Its testament will appear here when it has died.";
  fill(body, told ? testament(told) : h("p", { class: "quiet" }, none));
}
