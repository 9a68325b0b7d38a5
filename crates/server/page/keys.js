// The keys: one letter each, never while something is typed, and off if an owner wants it so.

import { fill, h } from "./dom.js";

const KEYS = {
  "/": ["filter what is shown", () => document.querySelector("main input[type=search]")?.focus()],
  j: ["the next golem of the list", () => move(1)],
  k: ["the golem before", () => move(-1)],
  x: ["select the golem, or no longer", () => document.activeElement?.closest?.("tr")?.querySelector("input[type=checkbox]")?.click()],
  1: ["golems", () => (location.hash = "#/")],
  2: ["what happens", () => (location.hash = "#/feed")],
  3: ["graves", () => (location.hash = "#/graves")],
  4: ["costs", () => (location.hash = "#/costs")],
  n: ["a new golem", () => (location.hash = "#/new")],
  c: ["creatures, or none", () => creatures(document.documentElement.classList.contains("bare"))],
  "?": ["this help", () => help()],
};

function move(by) {
  document.querySelector("table.fleet")?.dispatchEvent(new CustomEvent("move", { detail: by }));
}

// Shows the figures of the golems, or none.
function creatures(shown) {
  document.documentElement.classList.toggle("bare", !shown);
  localStorage.setItem("bardo-creatures", shown ? "yes" : "no");
}

const dialog = h("dialog", { "aria-labelledby": "keys" });

export function help() {
  const box = (label, checked, change) => h("label", {}, h("input", { type: "checkbox", checked, onchange: (event) => change(event.target.checked) }), ` ${label}`);
  fill(
    dialog,
    h("h2", { id: "keys" }, "Keys"),
    h("dl", { class: "keys" }, Object.entries(KEYS).map(([key, [says]]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, says)]), h("dt", {}, h("kbd", {}, "Esc")), h("dd", {}, "close a notice")),
    h("p", {}, box("keys of one letter do something", on(), (yes) => localStorage.setItem("bardo-keys", yes ? "yes" : "no"))),
    h("p", {}, box("show the creatures", !document.documentElement.classList.contains("bare"), creatures)),
    h("button", { type: "button", onclick: () => dialog.close() }, "Close"),
  );
  if (!dialog.isConnected) document.body.append(dialog);
  dialog.showModal();
}

function on() {
  return localStorage.getItem("bardo-keys") !== "no";
}

// Listens for the keys; `notices` closes the newest of them.
export function keys(notices) {
  creatures(localStorage.getItem("bardo-creatures") !== "no");
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
    if (event.key === "Escape") return notices.close();
    if (event.target.closest?.("input:not([type=checkbox]), select, textarea, [contenteditable]") || !on()) return;
    const does = KEYS[event.key]?.[1];
    if (!does || !document.querySelector("header nav a")) return;
    event.preventDefault();
    does();
  });
}
