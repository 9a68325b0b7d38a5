// The line about the host, and the headline of what needs a person.

import { age, count, fill, h } from "./dom.js";
import { get, repeat } from "./host.js";

// The share of the asked speed below which the host is too slow for what it runs, as the host itself says it.
const KEPT = 0.8;
// Free bytes below which a disk is nearly full.
const NEARLY_FULL = 256 << 20;
let host = null;

export function hostLine() {
  const line = h("p", { class: "host" });
  const draw = async () => {
    host = await get("/v1/host");
    fill(line, parts(host).map((part, at) => [at ? h("span", { "aria-hidden": "true" }, " · ") : null, part]));
  };
  draw().catch(() => {});
  repeat(5000, line, draw);
  return line;
}

function parts(host) {
  const speed = host.speed ? `asked for ${host.speed === 1 ? "real time" : `${count(host.speed)} times real time`}` : null;
  const kept = host.kept === null ? null : host.kept >= 0.995 ? ", kept" : `, ${Math.round(100 * host.kept)} % of it kept`;
  return [
    `bardo ${host.version}`,
    `up for ${age(Math.max(0, host.now - host.since) / 1000)}`,
    speed ? h("span", { class: slow(host) ? "wrong" : null }, speed, kept) : null,
    host.disk ? h("span", { class: full(host) ? "wrong" : null }, `${bytes(host.free)} of ${bytes(host.disk)} free`) : null,
    host.backup === null ? null : `copied ${age(host.backup)} ago`,
  ].filter(Boolean);
}

function bytes(n) {
  return n >= 1e9 ? `${(n / 1e9).toFixed(1)} GB` : `${Math.round(n / 1e6)} MB`;
}

const slow = (host) => host.kept !== null && host.kept < KEPT;
const full = (host) => host.free !== null && host.free < NEARLY_FULL;

// Whether its money lasts for less than a day of its world.
export const isPoor = (one) => one.runway !== null && one.runway < 86400;

// What needs a person, the worst first; one line where nothing does.
export function headline(place, all) {
  const are = (text) => `${text.length === 1 ? "is" : "are"}`;
  const some = (what) => all.filter((one) => one.state !== "dead" && what(one));
  const [asks, trouble] = [some((one) => one.waits), some((one) => ["stopped", "unlived", "restarting"].includes(one.state))];
  const [ending, poor] = [some((one) => one.phase === "terminal"), some(isPoor)];
  const told = [
    host?.trouble ? [`Nothing can be written, so no golem goes on: ${host.trouble}`] : null,
    host?.settings ? [`bardo.toml is wrong, so the host keeps the settings it read before: ${host.settings}`] : null,
    host && full(host) ? ["The disk is nearly full; golems wait when it is."] : null,
    host && slow(host) ? ["The host cannot keep the asked speed: run fewer golems, or lower it."] : null,
    asks.length ? [`${count(asks.length)} ${asks.length === 1 ? "waits" : "wait"} for your answer`, "asks"] : null,
    trouble.length ? [`${count(trouble.length)} ${are(trouble)} in trouble${trouble[0].why ? `: ${trouble[0].name}, ${trouble[0].why}` : ""}`, "trouble"] : null,
    ending.length ? [`${count(ending.length)} ${are(ending)} in the last phase`, "ending"] : null,
    poor.length ? [`${count(poor.length)} ${poor.length === 1 ? "has" : "have"} money for less than a day`, "poor"] : null,
  ].filter(Boolean);
  const text = JSON.stringify([all.length > 0, told]);
  if (place.dataset.told === text) return;
  place.dataset.told = text;
  const item = ([says, filter]) => h("li", {}, filter ? h("a", { href: `#/show/${filter}` }, says) : says);
  fill(place, all.length === 0 ? null : told.length ? h("ul", { class: "needs" }, told.map(item)) : h("p", { class: "fine" }, "Nothing needs you."));
}
