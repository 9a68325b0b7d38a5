// The frame of the page: which part is shown, and whether the host answers.

import { fill, h } from "./dom.js";
import { onReached, onSignedOut, signIn, signOut } from "./host.js";
import { fleet } from "./fleet.js";
import { life } from "./life.js";
import { birth } from "./birth.js";
import { mourn } from "./death.js";
import { feed } from "./feed.js";
import { heir } from "./heir.js";
import { clade, costs, graves } from "./house.js";
import { help, keys } from "./keys.js";
import { unwatch, watch } from "./known.js";

const PAGES = [
  ["", "Golems", fleet],
  ["feed", "What happens", feed],
  ["graves", "Graves", graves],
  ["costs", "Costs", costs],
  ["clade", "Relay", clade],
  ["new", "New golem", birth],
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
  if (page === "golems" && name) show(name, (place) => life(place, name, tab));
  else if (page === "show") show("", (place) => fleet(place, name));
  else if (page === "heir" && name) show(`An heir of ${name}`, (place) => heir(place, name));
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
