// A birth: a form with every field filled in, what that costs, and the command that would do the same.

import { action, field, fill, golem, h, money } from "./dom.js";
import { get, post } from "./host.js";

export const dollars = (micros) => (micros / 1e6).toFixed(2);

export function micros(input) {
  const amount = Math.round(Number(input.value) * 1e6);
  if (input.value === "" || !Number.isSafeInteger(amount) || amount < 0) throw new Error(`${input.value || "nothing"} is not an amount of money`);
  return amount;
}

function select(choices, chosen) {
  return h("select", {}, choices.map(({ value, says }) => h("option", { value, selected: value === chosen }, says ? `${value || "none"}: ${says}` : value)));
}

export function birth(place) {
  const draw = async () => {
    const { form, worlds, care, left, treasury } = await get("/v1/births");
    const name = h("input", { type: "text", value: form.name, maxlength: 32, spellcheck: "false", autocomplete: "off" });
    const world = select(worlds, form.world);
    const model = h("input", { type: "text", value: form.model, placeholder: "none", spellcheck: "false" });
    const credit = h("input", { type: "number", min: 0, step: "0.01", value: dollars(form.credit) });
    const capital = h("input", { type: "number", min: 0, step: "0.01", value: dollars(form.capital) });
    const pays = h("input", { type: "checkbox", checked: form.pays });
    const careful = select(care, form.care);
    const from = select([{ value: "", says: "begins with what every golem is born with" }, ...left], form.from);
    const quote = h("section", { class: "quote", role: "status" });
    const filled = () => ({
      name: name.value,
      world: world.value,
      model: model.value,
      credit: micros(credit),
      capital: micros(capital),
      pays: pays.checked,
      care: careful.value,
      from: from.value,
    });
    let asked = 0;
    const reckon = async () => {
      const mine = (asked += 1);
      try {
        const told = await post("/v1/births/quote", filled());
        if (mine !== asked) return;
        fill(quote, h("h2", {}, "What that means"), h("ul", {}, told.says.map((text) => h("li", {}, text))), h("p", {}, "The same on the command line:"), h("pre", {}, told.command));
      } catch (why) {
        if (mine === asked) fill(quote, h("p", { class: "wrong" }, why.message));
      }
    };
    const inputs = [name, world, model, credit, capital, pays, careful, from];
    inputs.forEach((input) => input.addEventListener("input", reckon));
    fill(
      place,
      h("h1", {}, "A new golem"),
      h("p", { class: "lead" }, `All money is paper; there is ${money(treasury)} in the treasury.`),
      h(
        "form",
        { onsubmit: (event) => event.preventDefault() },
        field("Name", name),
        field("World", world, "What it watches, makes claims about and acts in."),
        field("Model it may ask", model, "Such as ollama/qwen3. Without one it follows rules that learn, which cost nothing."),
        field("To live on, in dollars", credit, "Thinking, acting and, if you say so, its machine are paid from this. When it is gone, so is the golem."),
        field("To act with, in dollars", capital, "Its policy says how much of it may be committed at once."),
        field("It pays for its machine", pays),
        field("How careful", careful),
        field("Knowledge it inherits", from, "Tried like anything from outside before it is believed."),
        quote,
        action("Bring it into the world", async () => {
          const born = await post("/v1/golems", filled());
          location.hash = golem(born.name);
        }, { class: "strong" }),
      ),
    );
    await reckon();
  };
  fill(place, h("p", { class: "quiet" }, "Loading …"));
  draw().catch((why) => fill(place, h("p", { class: "wrong" }, why.message)));
}
