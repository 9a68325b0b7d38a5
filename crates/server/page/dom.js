// Elements and figures. All content reaches the page as text, never as markup: there is no other way in here.

export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in own) element[own[name]] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// Names that are set as properties, since attributes no longer count once a user has typed.
const own = { value: "value", checked: "checked", disabled: "disabled" };

export function fill(place, ...children) {
  place.replaceChildren(...children.flat(Infinity).filter(Boolean));
}

export function money(micros, places = 2) {
  const text = (Math.abs(micros) / 1e6).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: places });
  return (micros < 0 && text !== "0.00" ? "−$" : "$") + text;
}

export function count(n) {
  return Number(n).toLocaleString("en");
}

export function span(seconds) {
  if (seconds === null || seconds === undefined) return "indefinitely";
  if (seconds >= 2 * 86400) return `${count(Math.round(seconds / 86400))} days`;
  if (seconds >= 2 * 3600) return `${Math.round(seconds / 3600)} hours`;
  if (seconds >= 120) return `${Math.round(seconds / 60)} minutes`;
  return `${Math.round(seconds)} seconds`;
}

// A moment of world time, written as everywhere else in bardo.
export function date(millis) {
  const text = new Date(millis).toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, 19)}`;
}

export function bar(share, label, kind = "") {
  const inner = h("i", { class: kind });
  inner.style.width = `${Math.round(100 * Math.min(1, Math.max(0, share)))}%`;
  return h("span", { class: "bar", role: "img", "aria-label": label }, inner);
}

// Rows of a topic and what there is to say about it, in the host's own words.
export function rows(all) {
  return h("dl", { class: "rows" }, all.map((row) => [h("dt", {}, row.about), h("dd", {}, row.says)]));
}

export function golem(name, tab = "") {
  return `#/golems/${encodeURIComponent(name)}${tab && `/${tab}`}`;
}

// A button for an action that takes a while: pressed once, with the outcome beside it.
export function action(label, run, attributes = {}) {
  const said = h("span", { class: "said", role: "status" });
  const button = h("button", { type: "button", ...attributes }, label);
  button.addEventListener("click", async () => {
    button.disabled = true;
    said.textContent = "…";
    try {
      said.textContent = (await run()) ?? "done";
      said.className = "said";
    } catch (why) {
      said.textContent = why.message;
      said.className = "said wrong";
    }
    button.disabled = false;
  });
  return h("span", { class: "action" }, button, said);
}

export function field(label, input, note) {
  input.id ||= `field-${(fields += 1)}`;
  const about = note ? h("small", { id: `${input.id}-note` }, note) : null;
  if (about) input.setAttribute("aria-describedby", about.id);
  return h("p", { class: "field" }, h("label", { for: input.id }, label), input, about);
}
let fields = 0;
