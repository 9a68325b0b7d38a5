// Drives the page in a real browser, as an owner would. Each line on stdin is a question with what it needs; each line on
// stdout is its answer, or why there is none.

import { createRequire } from "node:module";
import readline from "node:readline";

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
  await page.waitForFunction(() => !/(Loading|Reading its journal|Opening what it left) …/.test(document.querySelector("main").innerText), { timeout: 15000 });
  await page.waitForNetworkIdle({ idleTime: 150, timeout: 5000 }).catch(() => {});
};
const text = () => page.evaluate(() => document.querySelector("main").innerText);
const click = async (label) => {
  const found = await page.evaluateHandle((label) => [...document.querySelectorAll("button")].filter((one) => one.offsetParent).find((one) => one.textContent === label), label);
  if (!found.asElement()) throw new Error(`there is no button ${label}`);
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
        await page.screenshot({ path: `${shots}/${name}-${size}${light ? "" : "-dark"}.png` });
        if (size !== "wide") {
          // What examines it comes by the browser's own door: the page lets nothing run that is not its own.
          await page.evaluate(axe);
          const { violations } = await page.evaluate("axe.run(document, { resultTypes: ['violations'] })");
          for (const one of violations.filter((one) => ["serious", "critical"].includes(one.impact))) found.push(`${name} at ${size}: ${one.id}: ${one.nodes.map((node) => node.html).slice(0, 3).join(" ")}`);
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
  // Ten thousand of them, as a host would tell: how long from a key to the rows.
  async many({ golems }) {
    await page.setRequestInterception(true);
    const one = (at) => ({ name: `g${at}`, state: at % 7 ? "living" : "dreaming", phase: ["thriving", "stable", "terminal"][at % 3], generation: 0, tick: at, vitality: (at % 100) / 100, skill: 0.5, load: 0.1, runway: at * 60, credit: 1e6, worth: 0, spent: 1, calls: 0, net: -1, why: null, waits: null });
    const all = JSON.stringify({ run: 1, change: golems, golems, changed: Array.from({ length: golems }, (_, at) => one(at)) });
    const again = JSON.stringify({ run: 1, change: golems, golems, changed: Array.from({ length: 250 }, (_, at) => one(at * 3)) });
    const answer = (request) => {
      if (!request.url().includes("/v1/fleet")) return request.continue();
      return request.respond({ contentType: "application/json", body: request.url().includes("run=1") ? again : all });
    };
    page.on("request", answer);
    await go("#/graves");
    await go("#/");
    await until(golems.toLocaleString("en"));
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
    page.off("request", answer);
    await page.setRequestInterception(false);
    return { took, rows, nodes };
  },
  async cold({ path }) {
    await page.goto("about:blank");
    await page.setCacheEnabled(false);
    await page.goto(base, { waitUntil: "networkidle0" });
    const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null);
    const asked = await page.evaluate(async (path) => {
      const began = performance.now();
      await (await fetch(path)).text();
      return performance.now() - began;
    }, path);
    await page.setCacheEnabled(true);
    return { paint, asked };
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
