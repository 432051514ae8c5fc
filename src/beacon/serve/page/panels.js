// The smaller panels: what is known, what if, alternatives, one variable.

import { button, h } from "./dom.js";
import { bar, inShort, margin } from "./explanation.js";
import { network } from "./network.js";
import { fixed, plural, readable, times } from "./words.js";

const MOST_ROWS = 14;
const DISTANCES = [1, 2, 3, 5, 10];

export function known(state, actions) {
  const pairs = Object.entries(state.evidence);
  if (pairs.length === 0) return [h("p", { class: "soft" }, "Nothing yet. Search a variable above, or click one in the explanation.")];
  const items = pairs.map(([variable, value]) => fact(variable, value, state, actions));
  return [h("ul", { class: "facts" }, ...items), button(`Forget all ${pairs.length}`, "clear", actions.clear, { class: "plain danger" })];
}

function fact(variable, value, state, actions) {
  const values = state.model.values.get(variable) ?? [value];
  const options = values.map((one) => h("option", { value: one, selected: one === value }, one));
  const choice = h("select", { "data-key": `known ${variable}`, "aria-label": `Value of ${readable(variable)}`,
    onchange: (event) => actions.observe(variable, event.target.value) }, ...options);
  return h("li", { "data-variable": variable },
    button(readable(variable), `name ${variable}`, () => actions.look(variable), { class: "name plain" }), choice,
    button("×", `retract ${variable}`, () => actions.retract(variable), { class: "plain", "aria-label": `Forget ${readable(variable)}` }));
}

export function whatIf({ whatif, model }, actions) {
  if (!whatif) return [];
  const { variable, value, answer } = whatif;
  const { supposed } = answer;
  const title = h("h3", {}, "What if ", h("em", {}, readable(variable)), " were ", h("span", { class: "pill" }, value), "?");
  const verdict = supposed.log_score === null ? (supposed.impossible ? "That is impossible." : "Nothing possible was found.")
    : supposed.loss <= 0.05 ? "That is as probable as the answer."
      : `That is ${times(supposed.loss)} less probable (${fixed(supposed.loss)} nats).`;
  return [h("section", { class: "whatif" }, title, h("p", {}, verdict), changes(supposed.changes, variable, model),
    h("p", { class: "tools" }, button("Take it as known", "accept", () => actions.observe(variable, value), { class: "primary" }),
      button("Dismiss", "dismiss", actions.dismiss)))];
}

function changes(found, variable, model) {
  const all = ordered(Object.keys(found).filter((one) => one !== variable), model);
  if (all.length === 0) return h("p", { class: "soft" }, "Nothing else would change.");
  const items = all.slice(0, MOST_ROWS).map((one) => h("li", {}, readable(one), h("span", { class: "pill" }, found[one])));
  const rest = all.length - items.length;
  return h("div", {}, h("p", { class: "soft" }, "It would change:"), h("ul", { class: "changes" }, ...items,
    rest > 0 ? h("li", { class: "soft" }, `and ${plural(rest, "more")}`) : null));
}

// Variables of groups first, in the groups' order.
const ordered = (names, model) => [...names].sort((a, b) => model.rank.get(a) - model.rank.get(b));

export function alternatives(state, actions) {
  const found = state.more?.alternatives;
  if (!found) return [];
  const options = DISTANCES.map((count) => h("option", { value: count, selected: count === state.distance }, String(count)));
  const choice = h("label", { class: "soft" }, "differ in at least ", h("select", { "data-key": "distance",
    onchange: (event) => actions.setDistance(Number(event.target.value)) }, ...options), " variables");
  const how = state.more.alternatives_exact ? "exact" : "by search";
  const title = h("h3", {}, h("span", {}, "Next best"), h("span", { class: "soft" }, how));
  return [h("section", { class: "group" }, title, choice, found.length > 1 ? table(found, state, actions)
    : h("p", { class: "soft" }, "There is no other possible explanation."))];
}

function table(found, state, actions) {
  const [best, ...others] = found;
  const all = ordered(new Set(others.flatMap((one) => Object.keys(one.changes))), state.model);
  const grouped = all.filter((name) => state.model.groupOf.has(name)); // these are what a person asks for
  const names = grouped.length ? grouped : all;
  const head = others.map((one) => h("th", { scope: "col" }, `−${fixed(best.log_score - one.log_score)} nats`,
    h("small", {}, times(best.log_score - one.log_score))));
  const own = state.more.named_assignment;
  const lines = names.slice(0, MOST_ROWS).map((name) => h("tr", {},
    h("th", { scope: "row" }, button(readable(name), `alternative ${name}`, () => actions.look(name), { class: "plain" })), h("td", {}, own[name]),
    ...others.map((one) => name in one.changes ? h("td", { class: "differs" }, one.changes[name]) : h("td", { class: "same" }, own[name]))));
  const rest = all.length - lines.length;
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Next best explanations" },
    h("table", {}, h("thead", {}, h("tr", {}, h("td", {}), h("th", { scope: "col" }, "answer"), ...head)), h("tbody", {}, ...lines)),
    rest > 0 ? h("p", { class: "soft" }, `and ${plural(rest, "more variable")} that differ`) : null);
}

export function variable(state, actions) {
  const name = state.selected;
  if (!name || !state.model) return [h("h2", {}, "Look closer"), h("p", { class: "soft" }, "Click a variable to see its values and its neighbours.")];
  const rows = state.model.values.get(name).map((value) => valueRow(name, value, state, actions));
  const group = state.model.groupOf.get(name);
  return [h("h2", {}, readable(name), group ? h("span", { class: "soft" }, ` ${group}`) : null),
    h("ul", { class: "values" }, ...rows), state.around ? network(state, actions) : null];
}

function valueRow(name, value, state, actions) {
  const isKnown = state.evidence[name] === value;
  const isBest = state.answer?.named_assignment[name] === value;
  const found = isBest || name in state.evidence ? null : margin(name, state, value);
  const mark = isKnown ? "known" : isBest ? "best" : found ? inShort(found) : "";
  return h("li", { class: isBest ? "best" : "" }, h("span", { class: "pill" }, value),
    h("span", { class: "sure" }, found ? bar(found) : null, h("span", { class: "times" }, mark)),
    isKnown ? button("forget", `forget ${name}`, () => actions.retract(name))
      : button("is so", `set ${name} ${value}`, () => actions.observe(name, value), { title: `${readable(name)} is known to be ${value}` }),
    isBest || isKnown || name in state.evidence ? null
      : button("what if", `what if ${name} ${value}`, () => actions.whatIf(name, value)));
}
