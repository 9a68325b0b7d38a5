// Talking to the host: questions, orders, and events as they happen.

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

// The page's half of its token; the other half is in a cookie that no script can read. Other ports of this machine are
// sent the cookie, but cannot look in here.
const KEPT = "bardo";

function signed() {
  const key = localStorage.getItem(KEPT);
  return key ? { "Bardo-Page": key } : {};
}

export async function signIn(code) {
  const answer = await post("/v1/session", { code });
  localStorage.setItem(KEPT, answer.key);
}

export async function signOut() {
  await post("/v1/session/end").catch(() => {});
  localStorage.removeItem(KEPT);
}

let signedOut = () => {};
let reached = () => {};

export function onSignedOut(call) {
  signedOut = call;
}

// Called with true when the host answers, and false when it does not.
export function onReached(call) {
  reached = call;
}

async function ask(path, options) {
  let answer;
  try {
    const headers = { ...signed(), ...options.headers };
    answer = await fetch(path, { credentials: "same-origin", cache: "no-store", ...options, headers });
  } catch {
    reached(false);
    throw new Refused(0, "the host does not answer");
  }
  reached(true);
  if (answer.status === 204) return null;
  const body = await answer.json().catch(() => ({}));
  if (answer.status === 401 && path !== "/v1/session") signedOut();
  if (!answer.ok) throw new Refused(answer.status, body.error ?? `the host answered ${answer.status}`);
  return body;
}

export function get(path) {
  return ask(path, { method: "GET" });
}

// Orders whose answer has not come, each with its key: an order that is given again, because it was not answered, is
// carried out once.
const unanswered = new Map();

export async function post(path, body = {}) {
  const text = JSON.stringify(body);
  const order = `${path} ${text}`;
  const random = crypto.getRandomValues(new Uint8Array(16));
  const key = unanswered.get(order) ?? Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
  unanswered.set(order, key);
  const headers = { "Content-Type": "application/json", "Idempotency-Key": key };
  try {
    const answer = await ask(path, { method: "POST", headers, body: text });
    unanswered.delete(order);
    return answer;
  } catch (refused) {
    if (refused.status > 0 && refused.status < 500) unanswered.delete(order);
    throw refused;
  }
}

export function of(name, rest = "") {
  return `/v1/golems/${encodeURIComponent(name)}${rest}`;
}

// Hears events as they happen; if the host goes, it is called again, and goes on after the last event that was heard.
// (A browser's own EventSource cannot send the key along.)
export function listen(path, hear) {
  const stop = new AbortController();
  let last = null;
  const heard = (block) => {
    const lines = block.split("\n").map((line) => line.match(/^(id|data): (.*)$/)).filter(Boolean);
    const field = (name) => lines.filter((line) => line[1] === name).map((line) => line[2]).join("\n");
    if (field("id")) last = field("id");
    if (field("data")) hear(JSON.parse(field("data")));
  };
  const once = async () => {
    const headers = last === null ? signed() : { ...signed(), "Last-Event-ID": last };
    const answer = await fetch(path, { credentials: "same-origin", cache: "no-store", headers, signal: stop.signal });
    if (answer.status === 401) signedOut();
    if (!answer.ok) return;
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const blocks = (rest + part.value).split("\n\n");
      rest = blocks.pop();
      blocks.forEach(heard);
    }
  };
  const again = async () => {
    await once().catch(() => {});
    if (!stop.signal.aborted) setTimeout(again, 2000);
  };
  again();
  return () => stop.abort();
}

// Asks again and again while the page is visible; stops when the element it is for has gone.
export function repeat(every, place, call) {
  let stopped = false;
  const again = async () => {
    if (stopped || !place.isConnected) return;
    if (!document.hidden) await call().catch(() => {});
    setTimeout(again, every);
  };
  setTimeout(again, every);
  return () => {
    stopped = true;
  };
}
