// Drives the page in a real browser, as an owner would. Each line on stdin is a question with what it needs; each line on
// stdout is its answer, or why there is none.

import { createRequire } from "node:module";
import readline from "node:readline";
import { readFileSync } from "node:fs";

const [parts, shots] = process.argv.slice(2);
const require = createRequire(`${parts}/node_modules/`);
const puppeteer = require("puppeteer-core");
const axe = require("axe-core").source;

const SIZES = { phone: [390, 844], laptop: [1280, 800], wide: [1920, 1080] };
// The host goes away in one test; a browser says so on its console, whatever a page does.
const WHEN_AWAY = /ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|ERR_INCOMPLETE_CHUNKED/;

const browser = await puppeteer.launch({
  executablePath: process.env.BARDO_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
});
const page = await browser.newPage();
const wrong = [];
const elsewhere = [];
const bytes = new Map();
let base = "";
page.on("console", (message) => ["error", "warn"].includes(message.type()) && wrong.push(message.text()));
page.on("pageerror", (why) => wrong.push(String(why)));
page.on("request", (request) => {
  const url = request.url();
  if (base && !url.startsWith(base) && !url.startsWith("data:")) elsewhere.push(url);
});
page.on("response", async (response) => {
  const path = new URL(response.url()).pathname;
  if (path === "/" || path.startsWith("/page/")) bytes.set(path, (await response.buffer().catch(() => "")).length);
});

const go = async (hash) => {
  await page.evaluate((to) => (location.hash = to), hash);
  await page.waitForFunction(() => !/(Loading|Asking for them|Reading its journal|Opening what it left) …/.test(document.querySelector("main").innerText), { timeout: 15000 });
  await page.waitForNetworkIdle({ idleTime: 150, timeout: 5000 }).catch(() => {});
};
const text = () => page.evaluate(() => document.querySelector("main").innerText);
const click = async (label) => {
  const shown = (label) => [...document.querySelectorAll("button")].filter((one) => one.offsetParent).find((one) => one.textContent === label);
  const found = await page.waitForFunction(shown, { timeout: 5000 }, label).catch(() => null);
  if (!found) throw new Error(`there is no button ${label}`);
  await found.asElement().click();
};
const fields = async (values) => {
  for (const [label, value] of Object.entries(values)) {
    const id = await page.evaluate((label) => [...document.querySelectorAll("label[for]")].find((one) => one.textContent === label)?.htmlFor, label);
    if (!id) throw new Error(`there is no field ${label}`);
    await page.$eval(`#${id}`, (input) => (input.value = ""));
    await page.type(`#${id}`, value);
  }
};
// Headings under which there is nothing.
const bare = () => {
  const empty = (next) => !next || /^H[1-3]$/.test(next.tagName) || (!next.innerText.trim() && !next.matches("[role=img]") && !next.querySelector("svg, canvas, input, button"));
  return [...document.querySelectorAll("main h2, main h3")].filter((one) => one.offsetParent && empty(one.nextElementSibling)).map((one) => one.innerText);
};
// So many golems, as a host would tell of them: everything at first, and then a few that have changed.
const one = (at) => ({ name: `g${at}`, state: at % 7 ? "living" : "dreaming", phase: ["thriving", "stable", "terminal"][at % 3], generation: 0, tick: at, vitality: (at % 100) / 100, skill: 0.5, load: 0.1, runway: at * 60, credit: 1e6, worth: 0, spent: 1, calls: 0, net: -1, why: null, waits: null, cause: null, world: "edge", age: at * 700, lifespan: 8e6, mood: ["neutral", "joy", "fear"][at % 3], last: { at, says: `woke ${at}`, gravity: "notable" } });
const pretend = async (golems, during) => {
  const all = JSON.stringify({ run: 1, change: golems, golems, changed: Array.from({ length: golems }, (_, at) => one(at)) });
  const again = JSON.stringify({ run: 1, change: golems, golems, changed: Array.from({ length: Math.min(250, golems) }, (_, at) => one((at * 3) % golems)) });
  const answer = (request) => {
    if (!request.url().includes("/v1/fleet")) return request.continue();
    return request.respond({ contentType: "application/json", body: request.url().includes("run=1&") ? again : all });
  };
  await page.setRequestInterception(true);
  page.on("request", answer);
  try {
    return await during();
  } finally {
    page.off("request", answer);
    await page.setRequestInterception(false);
  }
};
// The longest that the page's own thread works at a stretch, in milliseconds of the processor: what a busy machine adds
// is not in it.
const longest = async (during) => {
  const path = `${shots}/trace.json`;
  await page.tracing.start({ categories: ["toplevel", "devtools.timeline"], path });
  await during();
  await page.tracing.stop();
  const { traceEvents } = JSON.parse(readFileSync(path));
  const main = traceEvents.filter((one) => one.name === "thread_name" && one.args.name === "CrRendererMain").map((one) => `${one.pid}/${one.tid}`);
  const tasks = traceEvents.filter((one) => one.name.endsWith("RunTask") && main.includes(`${one.pid}/${one.tid}`));
  return Math.max(0, ...tasks.map((one) => (one.tdur ?? 0) / 1000));
};
const until = async (has, patience = 15000) => {
  try {
    await page.waitForFunction((has) => (document.body.innerText + "\n" + document.title).includes(has), { timeout: patience }, has);
  } catch {
    throw new Error(`${has} never came; there is: ${await page.evaluate(() => document.body.innerText)}`);
  }
};

const answers = {
  async open({ link }) {
    base = new URL(link).origin;
    await page.goto("about:blank");
    await page.goto(link, { waitUntil: "domcontentloaded" });
    await page.waitForNetworkIdle({ idleTime: 150, timeout: 5000 }).catch(() => {});
    return { text: await text(), address: page.url() };
  },
  // Every page at every size: a picture, nothing beyond the edge, and what somebody who cannot see it would stumble over.
  async look({ pages, light = true }) {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: light ? "light" : "dark" }]);
    const found = [];
    for (const [size, [width, height]] of Object.entries(SIZES)) {
      await page.setViewport({ width, height, isMobile: size === "phone", hasTouch: size === "phone" });
      for (const [name, hash] of Object.entries(pages)) {
        await go(hash);
        const over = await page.evaluate(() => document.scrollingElement.scrollWidth - innerWidth);
        if (over > 0) found.push(`${name} at ${size} is ${over} pixels too wide`);
        for (const heading of await page.evaluate(bare)) found.push(`${name} at ${size}: nothing is under the heading ${heading}`);
        await page.screenshot({ path: `${shots}/${name}-${size}${light ? "" : "-dark"}.png` });
        if (size !== "wide") {
          // What examines it comes by the browser's own door: the page lets nothing run that is not its own.
          await page.evaluate(axe);
          const { violations } = await page.evaluate("axe.run(document, { resultTypes: ['violations'] })");
          for (const one of violations) found.push(`${name} at ${size}: ${one.id}: ${one.nodes.map((node) => node.html).slice(0, 3).join(" ")}`);
        }
      }
    }
    return { found };
  },
  async visit({ hash, has = [] }) {
    await go(hash);
    for (const one of has) await until(one);
    return { text: await text() };
  },
  async press({ button, has }) {
    await click(button);
    if (has) await until(has);
    return { text: await text() };
  },
  async unfold({ summary }) {
    await page.evaluate((summary) => [...document.querySelectorAll("summary")].find((one) => one.textContent === summary).click(), summary);
    return {};
  },
  async fill({ values }) {
    await fields(values);
    return {};
  },
  async await({ has, patience }) {
    await until(has, patience);
    return { text: await page.evaluate(() => document.body.innerText) };
  },
  async has({ selector }) {
    return { count: await page.evaluate((selector) => document.querySelectorAll(selector).length, selector) };
  },
  // How long from a key to the rows, and whether scrolling, sorting or what changes ever takes a frame too long.
  async many({ golems }) {
    return pretend(golems, async () => {
      await go("#/graves");
      await go("#/");
      await until(golems.toLocaleString("en"));
      const scrolled = await longest(() =>
        page.evaluate(
          () =>
            new Promise((done) => {
              let frames = 0;
              const next = () => {
                scrollTo(0, (frames * 400) % document.scrollingElement.scrollHeight);
                if ((frames += 1) < 120) requestAnimationFrame(next);
                else done();
              };
              next();
            }),
        ),
      );
      await page.evaluate(() => scrollTo(0, 0));
      const sorted = await longest(async () => {
        for (const head of await page.$$("button.head")) {
          await head.evaluate((one) => one.click());
          await new Promise((done) => setTimeout(done, 150));
        }
        // What has changed comes once a second.
        await new Promise((done) => setTimeout(done, 2000));
      });
      await page.evaluate(() => document.querySelector("button.head").click());
      const took = [];
      for (const key of ["g", "9", "9", "9"]) {
        took.push(
          await page.evaluate(
            (key) =>
              new Promise((done) => {
                const input = document.querySelector("input[type=search]");
                const began = performance.now();
                input.value += key;
                input.dispatchEvent(new Event("input"));
                requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
              }),
            key,
          ),
        );
      }
      const rows = await page.evaluate(() => [...document.querySelectorAll(".fleet tbody tr[data-name]")].map((row) => row.dataset.name));
      const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
      return { took, rows, nodes, scrolled, sorted };
    });
  },
  // The first paint of a page that nothing is known of yet, with so many golems; the best of five, since others use the machine too.
  async cold({ path, golems }) {
    await page.setCacheEnabled(false);
    const paints = await pretend(golems, async () => {
      const all = [];
      for (let nth = 0; nth < 5; nth += 1) {
        await page.goto("about:blank");
        await page.goto(base, { waitUntil: "load" });
        await until(golems.toLocaleString("en"));
        all.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null));
      }
      return all;
    });
    const asked = await page.evaluate(async (path) => {
      const began = performance.now();
      await (await fetch(path)).text();
      return performance.now() - began;
    }, path);
    await page.setCacheEnabled(true);
    return { paint: Math.min(...paints.filter((paint) => paint !== null)), asked };
  },
  // The figures of golems in these states, as the page draws them.
  async creatures({ states }) {
    return page.evaluate(async (states) => {
      const { creature, text } = await import("/page/creature.js");
      return states.map((state) => text(creature(state)).join("\n"));
    }, states);
  },
  async key({ keys }) {
    for (const key of keys) await page.keyboard.press(key);
    return { text: await page.evaluate(() => document.body.innerText), focus: await page.evaluate(() => document.activeElement.innerText ?? "") };
  },
  async told() {
    const all = [wrong.splice(0), elsewhere.splice(0)];
    return { wrong: all[0].filter((text) => !WHEN_AWAY.test(text)), elsewhere: all[1], bytes: [...bytes.values()].reduce((a, b) => a + b, 0) };
  },
};

for await (const line of readline.createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  try {
    console.log(JSON.stringify({ ok: await answers[asked.do](asked) }));
  } catch (why) {
    await page.screenshot({ path: `${shots}/wrong.png` }).catch(() => {});
    console.log(JSON.stringify({ failed: String(why.stack ?? why) }));
  }
}
await browser.close();
