// The page: what a person does becomes an action, an action changes the state, the state is drawn.

import * as api from "./api.js";
import { ask, look, whatIf } from "./asking.js";
import { curve } from "./curve.js";
import { $, button, h, show } from "./dom.js";
import { explanation, statusOf } from "./explanation.js";
import { exportCsv, exportJson } from "./exporting.js";
import * as panels from "./panels.js";
import { setUpSearch } from "./search.js";
import { canUndo, change, forget, fromHash, onChange, setEvidence, state, toHash, undo } from "./store.js";
import { plural, readable } from "./words.js";

const SECONDS = [0.2, 1, 5, 20];

function known(evidence) {
  setEvidence(evidence);
  ask();
}

const actions = {
  look,
  whatIf,
  observe(variable, value) {
    known({ ...state.evidence, [variable]: value });
    look(variable);
  },
  retract: (variable) => known(Object.fromEntries(Object.entries(state.evidence).filter(([name]) => name !== variable))),
  clear: () => known({}),
  dismiss: () => change({ whatif: null }),
  undo() {
    undo();
    ask();
  },
  setSeconds(count) {
    change({ seconds: count });
    ask();
  },
  setDistance(count) {
    change({ distance: count });
    ask();
  },
  async choose(name, evidence = {}) {
    forget();
    const model = prepared(await api.model(name));
    const fitting = Object.entries(evidence).filter(([variable, value]) => model.values.get(variable)?.includes(value));
    const fresh = { answer: null, before: null, more: null, whatif: null, selected: null, around: null };
    change({ ...fresh, model, evidence: Object.fromEntries(fitting), distance: model.list.length > 100 ? 3 : 1 });
    $("search").placeholder = `Search, such as ${exampleOf(model)}`;
    ask();
  },
};

function exampleOf({ searchable: [first], values }) {
  return first === undefined ? "…" : `${readable(first)} = ${values.get(first).at(-1)}`;
}

// What the views look up again and again.
function prepared(model) {
  model.values = new Map(model.list.map(({ name, values }) => [name, values]));
  const groups = Object.entries(model.groups);
  model.groupOf = new Map(groups.flatMap(([group, members]) => members.map((name) => [name, group])));
  const rest = model.list.map(({ name }) => name).filter((name) => !model.groupOf.has(name));
  model.sections = groups.map(([name, members]) => ({ name, members }));
  if (rest.length) model.sections.push({ name: groups.length ? "other variables" : "variables", members: rest, isFolded: groups.length > 0 });
  const inOrder = model.sections.flatMap(({ members }) => members);
  model.rank = new Map(inOrder.map((name, k) => [name, k]));
  model.searchable = [...groups.map(([, members]) => members).reverse().flat(), ...rest]; // effects are seen, causes are sought
  return model;
}

onChange(() => {
  if (state.model) history.replaceState(null, "", toHash());
  $("busy").hidden = !state.busy;
  show($("model"), ...chooser());
  show($("tools"), ...tools());
  show($("known"), ...(state.model ? panels.known(state, actions) : []));
  show($("status"), ...statusOf(state));
  show($("whatif"), ...panels.whatIf(state, actions));
  show($("explanation"), ...explanation(state, actions));
  show($("alternatives"), ...panels.alternatives(state, actions));
  show($("variable"), ...panels.variable(state, actions));
  show($("curve"), ...curve(state));
});

function chooser() {
  if (!state.model) return [];
  const size = `${plural(state.model.variables, "variable")}, ${plural(state.model.factors, "factor")}, width ≤ ${state.model.width_bound}`;
  const options = state.models.map(({ name }) => h("option", { value: name, selected: name === state.model.name }, name));
  const choice = state.models.length === 1 ? h("strong", {}, state.model.name)
    : h("select", { "aria-label": "Model", "data-key": "model", onchange: (event) => actions.choose(event.target.value) }, ...options);
  return [choice, h("span", { class: "soft size" }, size)];
}

function tools() {
  const isOpen = !state.answer;
  const options = SECONDS.map((count) => h("option", { value: count, selected: count === state.seconds }, `${count} s`));
  const time = h("label", { class: "soft" }, "time ", h("select", { "data-key": "seconds", "aria-label": "Time for an answer",
    onchange: (event) => actions.setSeconds(Number(event.target.value)) }, ...options));
  return [time, button("Undo", "undo", actions.undo, { disabled: !canUndo(), title: "Undo (Ctrl+Z)" }),
    button("Link", "link", copyLink, { title: "Copy a link that holds the evidence" }),
    button("CSV", "csv", () => exportCsv(state), { disabled: isOpen, title: "Export as CSV" }),
    button("JSON", "json", () => exportJson(state), { disabled: isOpen, title: "Export as JSON" })];
}

async function copyLink(event) {
  const told = event.currentTarget;
  try {
    await navigator.clipboard.writeText(location.href);
    told.textContent = "Copied";
  } catch {
    told.textContent = "See the address"; // without https there is no clipboard; the address holds it all
  }
}

document.addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof HTMLInputElement;
  if (event.key === "z" && (event.ctrlKey || event.metaKey) && !isTyping && canUndo()) actions.undo();
  else if (event.key === "/" && !isTyping) $("search").focus();
  else return;
  event.preventDefault();
});

api.onTokenNeeded(() => new Promise((resolve) => {
  const dialog = $("token");
  dialog.addEventListener("close", () => resolve($("token-text").value), { once: true });
  dialog.showModal();
}));

setUpSearch(actions.observe);
try {
  const { model, evidence } = fromHash();
  change({ models: await api.models() });
  const names = state.models.map(({ name }) => name);
  await actions.choose(names.includes(model) ? model : names[0], evidence);
} catch (error) {
  change({ error: error.message });
}
