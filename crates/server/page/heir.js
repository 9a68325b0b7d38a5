// An heir: what it would be left, before and after the crossing, beside the form that makes it.

import { dollars, micros } from "./birth.js";
import { bars, crossing } from "./charts.js";
import { action, count, field, figure, fill, golem, h } from "./dom.js";
import { get, of, post } from "./host.js";

export function heir(place, dead) {
  const draw = async () => {
    const offer = await get(of(dead, "/estate"));
    fill(
      place,
      h("div", { class: "living" }, figure({ state: "dead", age: 0 }, "big"), h("span", { class: "to", "aria-hidden": "true" }, "→"), figure({ state: "living", phase: "stable", vitality: 0.69, mood: "neutral", age: 0 }, "big"), h("h1", {}, `An heir of ${dead}`)),
      offer.ended ? h("p", { class: "wrong" }, `${dead} was ended (${offer.ended}); an heir begins the line again.`) : null,
      offer.frozen ? h("p", { class: "wrong" }, "It was frozen when it died, so its heir would be born frozen.") : null,
      h("div", { class: "beside" }, form(dead, offer), h("section", {}, leaves(dead, offer))),
    );
  };
  fill(place, h("p", { class: "quiet" }, "Opening what it left …"));
  draw().catch((why) => fill(place, h("h1", {}, `An heir of ${dead}`), h("p", { class: "wrong" }, why.message), h("p", {}, h("a", { href: golem(dead) }, dead))));
}

function form(dead, offer) {
  const name = h("input", { type: "text", value: offer.next_name, maxlength: 32, spellcheck: "false", autocomplete: "off" });
  const credit = h("input", { type: "number", min: 0.01, step: "0.01", value: dollars(offer.credit) });
  const inherit = h("input", { type: "checkbox", checked: offer.inherit });
  const make = async () => {
    const born = await post(of(dead, "/successor"), { name: name.value, credit: micros(credit), inherit: inherit.checked });
    location.hash = golem(born.name);
  };
  return h(
    "form",
    { onsubmit: (event) => event.preventDefault() },
    field("Name", name),
    field("To live on, in dollars", credit, `${dead} was given $${dollars(offer.credit)}.`),
    field("It inherits what its predecessor knew", inherit),
    h("p", { class: "quiet" }, `Generation ${offer.generation}; $${dollars(offer.capital)} to act with. Everything else is as ${dead} had it.`),
    action("Make the heir", make, { class: "strong" }),
  );
}

// What it would be left. A heading stands only where something follows it.
function leaves(dead, offer) {
  const { entries, bloodstains, innate } = offer;
  const facts = [
    `${count(entries)} entries; each is believed less than before, and tried before it is used`,
    bloodstains ? `† ${count(bloodstains)} of them were learned in dying` : null,
    innate ? `${count(innate)} have come down the line so long that it is born with them` : null,
    `${Math.round(100 * offer.divergence)} % of what the heir would try is its predecessor's own`,
    offer.low_divergence ? `little of what ${dead} knew was new in its line` : null,
  ];
  const list = (title, lines) => (lines.length ? [h("h2", {}, title), h("ul", {}, lines.map((text) => h("li", {}, text)))] : null);
  return [
    list(`What ${dead} advises`, offer.recommendations),
    entries ? [h("h2", {}, "What it would inherit"), h("ul", {}, facts.filter(Boolean).map((text) => h("li", {}, text)))] : h("p", {}, `${dead} left no knowledge: its heir would begin with nothing but the configuration.`),
    entries ? [h("h3", {}, "How surely, before and after"), crossing(offer.before, offer.after)] : null,
    offer.domains.length ? [h("h3", {}, "About what"), bars(offer.domains.map(([domain, n]) => ({ name: h("span", {}, domain), value: n, says: count(n) })))] : null,
    list("What it left unfinished", offer.unfinished),
  ];
}
