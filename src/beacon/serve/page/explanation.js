// The answer: how sure it is, what it says group by group, what has changed, and how much each value counts.

import { button, h } from "./dom.js";
import { fixed, percent, plural, readable, seconds, times } from "./words.js";

const FEW = 12; // a group of so many variables is listed in full
const MOST = 60;
const MOST_NAMED = 8; // in the headline
const FULL_BAR = 4; // nats: 55 times less probable, or more

export function statusOf(state) {
  const { answer, busy, error } = state;
  if (error) return [h("p", { class: "error" }, error)];
  if (!answer) return [h("p", { class: "soft" }, busy ? "Searching …" : "")];
  return [h("p", { class: "status" }, badge(answer), ...facts(answer).map((text) => h("span", {}, text)))];
}

function badge(answer) {
  if (answer.impossible) return h("span", { class: "badge bad" }, "Impossible evidence");
  if (answer.zero_factors) return h("span", { class: "badge bad" }, "Nothing possible found yet");
  if (answer.optimal) return h("span", { class: "badge good" }, "Proved optimal");
  if (answer.gap !== null) return h("span", { class: "badge open" }, `Within ${fixed(answer.gap)} nats of the best possible`);
  return h("span", { class: "badge open" }, "Best found");
}

function facts(answer) {
  const how = answer.proof ? `by ${answer.proof === "bound" ? "its upper bound" : answer.proof}` : answer.method;
  const made = [`${how} in ${seconds(answer.total_seconds)}`];
  if (typeof answer.probability === "number") made.push(`probability ${percent(answer.probability)}`);
  if (answer.log_score !== null) made.push(`log score ${fixed(answer.log_score, 3)}`);
  if ("cost" in answer && answer.cost !== null) made.push(`cost ${answer.cost.toLocaleString("en")}`);
  return made;
}

export function explanation(state, actions) {
  if (!state.answer || !state.model) return [];
  return [headline(state), legend(state), ...groups(state, actions)];
}

function legend({ more }) {
  if (!more?.margins) return null;
  const bound = more.margins_exact ? "" : " (≤: at most so many)";
  return h("p", { class: "soft legend" }, `Bars: how many times less probable the best explanation with another value is${bound}.`);
}

// The first group in a few words, where all in it are yes or no, and few are not as usual.
function headline({ model, answer, evidence }) {
  const [first] = model.sections;
  if (!first || first.isFolded || !model.groupOf.size) return null;
  const kinds = new Set(first.members.map((variable) => model.values.get(variable).join("/")));
  const isTwofold = kinds.size === 1 && model.values.get(first.members[0]).length === 2;
  if (!isTwofold) return null;
  const values = first.members.map((variable) => answer.named_assignment[variable]);
  const usual = commonest(values);
  const telling = first.members.filter((variable, k) => values[k] !== usual && !(variable in evidence));
  if (telling.length > MOST_NAMED) return null;
  return h("p", { class: "headline" }, telling.map(readable).join(" · ") || `all ${first.name} “${usual}”`);
}

function groups(state, actions) {
  return state.model.sections.map((section) => group(section, state, actions)).filter(Boolean);
}

// The variables of a group that say more than that all is as usual.
export function telling({ members }, { evidence, answer, before }) {
  const free = members.filter((variable) => !(variable in evidence));
  const values = answer.named_assignment;
  const usual = commonest(free.map((variable) => values[variable]));
  const says = free.length <= FEW ? free
    : free.filter((variable) => values[variable] !== usual || wasOtherwise(variable, { answer, before }));
  return { free, usual, says };
}

function group(section, state, actions) {
  const { free, usual, says } = telling(section, state);
  if (free.length === 0) return null;
  const rest = free.filter((variable) => !says.includes(variable));
  const shown = says.slice(0, MOST).map((variable) => row(variable, state, actions));
  const body = [h("ul", { class: "rows" }, ...shown), more(says.length - shown.length), others(rest, usual, state, actions)];
  const title = [h("span", {}, section.name), h("span", { class: "soft" }, summary(free, state.answer.named_assignment, usual))];
  if (!section.isFolded) return h("section", { class: "group" }, h("h3", {}, ...title), ...body.filter(Boolean));
  return h("details", { class: "group" }, h("summary", {}, ...title), ...body.filter(Boolean));
}

const summary = (free, values, usual) => {
  const count = free.filter((variable) => values[variable] !== usual).length;
  return count ? `${count} of ${free.length} not “${usual}”` : `all ${free.length} “${usual}”`;
};

const more = (count) => (count > 0 ? h("p", { class: "soft" }, `… and ${plural(count, "variable")} more; the export has all`) : null);

function commonest(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best), ["", 0])[0];
}

const wasOtherwise = (variable, { before, answer }) => before !== null && before[variable] !== answer.named_assignment[variable];

function others(rest, usual, state, actions) {
  if (rest.length === 0) return null;
  const names = rest.slice(0, 4 * MOST).map((variable) =>
    button(readable(variable), `rest ${variable}`, () => actions.look(variable), { class: "plain" }));
  return h("details", { class: "others" }, h("summary", {}, `${plural(rest.length, "other")}: ${usual}`), h("p", {}, ...names));
}

function row(variable, state, actions) {
  const value = state.answer.named_assignment[variable];
  const isChanged = wasOtherwise(variable, state);
  const name = button(readable(variable), `look ${variable}`, () => actions.look(variable), { class: "name plain" });
  const was = isChanged ? h("span", { class: "was", title: "before the last change" }, `was ${state.before[variable]}`) : null;
  const item = { class: `row${isChanged ? " changed" : ""}${state.selected === variable ? " selected" : ""}`, "data-variable": variable };
  return h("li", item, name, h("span", { class: "value" }, h("span", { class: "pill" }, value), was),
    sureness(variable, state), tries(variable, value, state, actions));
}

// What the best other value of a variable (or the one given) loses: at most (seen) and at least (proved).
export function margin(variable, state, other) {
  const losses = state.more?.margins?.[variable];
  if (!losses) return null;
  const own = state.answer.named_assignment[variable];
  const values = other === undefined ? Object.keys(losses).filter((value) => value !== own) : [other];
  const lowest = state.more.margins_exact ? losses : state.more.margins_at_least[variable];
  const least = (of) => Math.max(0, Math.min(...values.map((value) => of[value] ?? Infinity)));
  return { values, seen: least(losses), least: least(lowest) };
}

function sureness(variable, state) {
  const found = margin(variable, state);
  if (!found) return h("span", { class: "sure" });
  return h("span", { class: "sure", title: told(found) }, bar(found), h("span", { class: "times" }, inShort(found)));
}

function told({ values, seen, least }) {
  if (least === Infinity) return "no other value is possible";
  const most = seen === Infinity ? "" : `, at most ${fixed(seen)}`;
  return `${values.join(" or ")} would lose ${seen - least < 1e-6 ? fixed(seen) : `at least ${fixed(least)}${most}`} nats`;
}

export function inShort({ seen, least }) {
  if (least === Infinity) return "certain";
  if (seen - least < 0.05) return times(seen);
  if (seen === Infinity) return least < 0.05 ? "open" : `≥ ${times(least)}`;
  return `≤ ${times(seen)}`;
}

export function bar({ seen, least }) {
  const made = h("span", { class: "bar", "aria-hidden": "true" }, h("span", { class: "seen" }), h("span", { class: "least" }));
  const [whole, proved] = made.children;
  whole.style.width = `${100 * Math.min(1, (seen === Infinity && least === 0 ? 0 : seen) / FULL_BAR)}%`; // nothing is known
  proved.style.width = `${100 * Math.min(1, least / FULL_BAR)}%`;
  return made;
}

function tries(variable, own, state, actions) {
  const values = state.model.values.get(variable).filter((value) => value !== own);
  if (values.length === 0 || values.length > 3) return h("span", { class: "tries" });
  const made = values.map((value) => button(`if ${value}?`, `try ${variable} ${value}`, () => actions.whatIf(variable, value),
    { class: "try", title: `What if ${readable(variable)} were ${value}?` }));
  return h("span", { class: "tries" }, ...made);
}
