// What a golem's agent spends and says: money by day and model, checks over time, calls, stops and refusals.

import { line, stacked, strip } from "./charts.js";
import { date, fill, h, money, rows, table } from "./dom.js";
import { get, of, repeat } from "./host.js";
import { card } from "./row.js";

export function calls(body, name, seen) {
  let drawn = "";
  const draw = async () => {
    const told = await get(of(name, "/costs"));
    // What is unfolded or read stays as it is until there is something new.
    const text = JSON.stringify(told);
    if (text === drawn) return;
    drawn = text;
    const { spending, lines, refused } = told;
    const { thoughts, mind } = seen().told;
    const waits = seen().status.state !== "dead" && spending.stops.waits;
    const open = [...body.querySelectorAll("details[open] > summary")].map((one) => one.textContent);
    fill(
      body,
      waits ? card({ name, waits: { key: waits.key, says: `to go on calling after ${waits.says}` } }) : null,
      lines.length ? [h("h2", {}, "Money by day and model"), byDay(lines)] : null,
      spending.checks.length ? [h("h2", {}, "Checks over time"), spending.checks.map(check)] : null,
      thoughts || mind ? [h("h2", {}, "What it thinks with"), [thoughts, mind].filter(Boolean).map((said) => h("p", {}, said))] : null,
      h("h2", {}, "Calls of its agent"),
      lines.length || refused.length ? rows(spending.told) : h("p", { class: "quiet" }, "None: no agent of yours has called a model through it."),
      spending.models.length ? [h("h2", {}, "By model"), models(spending.models)] : null,
      lines.length ? unfolds("By day", table(["Day", "Model", "Calls", "Tokens in", "Out", "Cost"], lines.map((one) => [one.day, one.model || "unknown", one.calls, one.input, one.output, money(one.cost, 6)]))) : null,
      spending.sessions.length
        ? unfolds("By session, since this host came up", table(["Session", "Calls", "Tokens in", "Out", "Cost", "Last heard"], spending.sessions.map((one) => [one.session ?? "all others", one.calls, one.input, one.output, money(one.cost, 6), date(one.last)])))
        : null,
      spending.stops.past.length ? [h("h2", {}, "Times they were stopped"), h("ul", {}, spending.stops.past.map((one) => h("li", {}, `${date(one.at)} until ${date(one.until)}: ${one.says}`)))] : null,
    );
    for (const one of body.querySelectorAll("details > summary")) one.parentElement.open = open.includes(one.textContent);
  };
  draw().catch((why) => fill(body, h("p", { class: "wrong" }, why.message)));
  return [repeat(5000, body, draw)];
}

function unfolds(title, content) {
  return h("details", {}, h("summary", {}, title), content);
}

function models(all) {
  const cells = (one) => [one.model || "unknown", one.calls, one.input, one.cached, one.written, one.output, one.thought, money(one.cost, 6)];
  return table(["Model", "Calls", "Tokens in", "From cache", "To cache", "Out", "Of it thought", "Cost"], all.map(cells));
}

function byDay(lines) {
  const days = [...new Set(lines.map((one) => one.day))].slice(-60);
  const names = [...new Set(lines.map((one) => one.model))];
  const cost = (day, model) => lines.find((one) => one.day === day && one.model === model)?.cost ?? 0;
  const series = names.map((model) => ({ name: model || "unknown", values: days.map((day) => cost(day, model)) }));
  return stacked(days, series, (micros) => money(micros, micros < 1e5 ? 6 : 2));
}

function check(one) {
  const now = one.passes === true ? "passes" : one.passes === false ? "fails" : one.number === null ? "has said nothing yet" : `says ${one.number}`;
  const past = one.past ?? [];
  const numbers = one.number !== null;
  return h(
    "section",
    { class: "check" },
    h("h3", { class: one.passes === false ? "wrong" : null }, `${one.name} ${now}`),
    one.said && !numbers ? h("p", { class: "quiet" }, one.said) : null,
    past.length > 1 ? (numbers ? line(past) : strip(past)) : null,
  );
}
