// What this page knows of all golems, asked for once a second for the whole page; and what follows from it: who has died
// since the page was opened, and what happens.

import { get, listen, repeat } from "./host.js";

// Events that are kept for the feed.
const HEARD = 500;
// A name as it is put in order: g9 before g10.
const inOrder = (name) => name.replace(/\d+/g, (digits) => digits.padStart(9, "0"));

class Known {
  all = new Map();
  run = 0;
  after = 0;
  looked = false;

  // Asks for what has changed; returns whether anything has, and who has died since the last look.
  async look() {
    let told = await this.take();
    let died = told.died;
    if (this.all.size > told.golems) {
      // A golem has gone: all that are still there are asked for once.
      this.run = 0;
      told = await this.take();
      died = [...died, ...told.died];
    }
    return { news: told.news, died };
  }

  async take() {
    const told = await get(`/v1/fleet?run=${this.run}&after=${this.run ? this.after : 0}`);
    const [before, died] = [this.all, []];
    const news = told.changed.length > 0 || told.run !== this.run;
    if (told.run !== this.run) this.all = new Map();
    let named = false;
    for (const one of told.changed) {
      const was = before.get(one.name);
      if (one.state === "dead" && was && was.state !== "dead") died.push(one);
      // Kept beside each, so that ten thousand are sorted and filtered before a key is felt.
      [one.rank, one.order] = was ? [was.rank, was.order] : [undefined, inOrder(one.name)];
      one.text = `${one.name} ${one.world ?? ""} ${one.state} ${one.phase} ${one.why ?? ""}`.toLowerCase();
      this.all.set(one.name, one);
      named ||= one.rank === undefined;
    }
    if (named) [...this.all.values()].sort((a, b) => (a.order < b.order ? -1 : 1)).forEach((one, at) => (one.rank = at));
    [this.run, this.after, this.looked] = [told.run, told.change, true];
    return { news, died, golems: told.golems };
  }
}

export let known = new Known();
export const heard = [];
const callers = { change: new Set(), death: new Set(), news: new Set() };
let ends = [];

// Calls back on every "change" of what is known, every "death", and "news" of what happens; returns what ends that.
export function on(what, call) {
  callers[what].add(call);
  return () => callers[what].delete(call);
}

async function look() {
  const { news, died } = await known.look();
  // What follows has a frame of its own.
  await new Promise((done) => setTimeout(done));
  if (news) callers.change.forEach((call) => call());
  died.forEach((one) => callers.death.forEach((call) => call(one)));
}

// Begins to watch, once somebody is signed in.
export function watch() {
  if (ends.length) return;
  ends = [repeat(1000, document.body, look), listen("/v1/events?unnamed=true&after=0", hear)];
  look().catch(() => {});
}

export function unwatch() {
  ends.splice(0).forEach((end) => end());
  heard.length = 0;
  known = new Known();
}

let waiting = false;
function hear(told) {
  if (!told.golem) return;
  heard.unshift(told);
  if (heard.length > HEARD) heard.pop();
  if (!waiting) setTimeout(tell, 250);
  waiting = true;
}

function tell() {
  waiting = false;
  callers.news.forEach((call) => call());
}
