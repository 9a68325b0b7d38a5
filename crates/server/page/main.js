// The frame of the page: which part is shown, and whether the host answers.

import { fill, h } from "./dom.js";
import { mourn } from "./death.js";
import { feed } from "./feed.js";
import { fleet } from "./fleet.js";
import { onReached, onSignedOut, signIn, signOut } from "./host.js";
import { help, keys } from "./keys.js";
import { unwatch, watch } from "./known.js";

// Pages that are not the first one come when they are opened, or when there is nothing else to do.
const LATER = {
  life: () => import("./life.js").then((page) => page.life),
  heir: () => import("./heir.js").then((page) => page.heir),
  birth: () => import("./birth.js").then((page) => page.birth),
  graves: () => import("./house.js").then((page) => page.graves),
  costs: () => import("./house.js").then((page) => page.costs),
  clade: () => import("./house.js").then((page) => page.clade),
};

const PAGES = [
  ["", "Golems", fleet],
  ["feed", "What happens", feed],
  ["graves", "Graves", later("graves")],
  ["costs", "Costs", later("costs")],
  ["clade", "Relay", later("clade")],
  ["new", "New golem", later("birth")],
];

const main = document.getElementById("main");
const state = document.getElementById("state");
let leave = () => {};

function show(title, draw) {
  leave();
  document.title = title ? `${title} · bardo` : "bardo";
  const place = h("div", {});
  fill(main, place);
  // Each page returns what it has begun, to be ended.
  const ended = draw(place);
  leave = () => {
    for (const end of Array.isArray(ended) ? ended : []) end();
  };
}

// Draws a page once it has come, if one is still there by then.
function later(page, ...more) {
  return (place) => {
    let over = false;
    let ends = [];
    fill(place, h("p", { class: "quiet" }, "Loading …"));
    LATER[page]().then(
      (draw) => over || (ends = draw(place, ...more) ?? []),
      () => fill(place, h("p", { class: "wrong" }, "The host does not answer. "), h("a", { href: location.href, onclick: () => location.reload() }, "Try again")),
    );
    return [() => ((over = true), ends.forEach((end) => end()))];
  };
}

function navigate() {
  if (location.hash.startsWith("#in=")) return enter(location.hash.slice(4));
  if (location.hash === "#main") return main.focus();
  const [page = "", name, tab] = location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  const found = PAGES.find(([path]) => path === page);
  fill(
    document.getElementById("nav"),
    PAGES.map(([path, label]) =>
      h("a", { href: `#/${path}`, "aria-current": path === page || (path === "" && ["golems", "show"].includes(page)) ? "page" : null }, label),
    ),
    h("button", { type: "button", class: "plain end", onclick: help }, "Keys"),
    h("button", { type: "button", class: "plain", onclick: depart }, "Sign out"),
  );
  watch();
  if (page === "golems" && name) show(name, later("life", name, tab));
  else if (page === "show") show("", (place) => fleet(place, name));
  else if (page === "heir" && name) show(`An heir of ${name}`, later("heir", name));
  else if (found) show(page && found[1], found[2]);
  else show("Nothing here", (place) => fill(place, h("h1", {}, "There is nothing here"), h("p", {}, h("a", { href: "#/" }, "All golems"))));
  window.scrollTo(0, 0);
}

async function enter(code) {
  // The code leaves the address at once: it is used up, and should not stay in a history.
  history.replaceState(null, "", "/");
  try {
    await signIn(code);
    location.hash = "#/";
    navigate();
  } catch (why) {
    ask(why.message);
  }
}

async function depart() {
  await signOut();
  unwatch();
  ask();
}

function ask(why) {
  fill(document.getElementById("nav"));
  show("Sign in", (place) =>
    fill(
      place,
      h("h1", {}, "Sign in"),
      why ? h("p", { class: "wrong" }, why) : null,
      h("p", {}, "On the machine where the host runs, this prints a link that is good once:"),
      h("pre", {}, "bardo page"),
      h("p", { class: "quiet" }, "Anyone with the link can do everything you can, so do not share it."),
    ),
  );
}

onSignedOut(() => {
  unwatch();
  ask();
});
onReached((there) => {
  const text = there ? "" : "The host does not answer; trying again …";
  if (state.textContent !== text) state.textContent = text;
});
keys(mourn(document.getElementById("deaths")));
window.addEventListener("hashchange", navigate);
navigate();
(window.requestIdleCallback ?? setTimeout)(() => Object.values(LATER).forEach((page) => page().catch(() => {})));
