// What the page knows. Views read it, actions change it, everybody hears of it: data flows one way.

const MOST_UNDO = 200;
const listeners = [];

export const state = {
  models: [], // what can be chosen
  model: null, // the one that is, with its variables
  evidence: {}, // variable -> value, in the order of setting
  selected: null, // the variable that is looked at
  seconds: 1,
  distance: 1,
  answer: null, // to the evidence; its alternatives and margins come later, in `more`
  before: null, // named assignment of the answer before
  more: null,
  whatif: null, // { variable, value, answer }
  around: null, // factors of the selected variable
  curve: { improvements: [], bounds: [] },
  busy: null, // what is being done
  error: null,
};

export const onChange = (listener) => listeners.push(listener);

let isDue = false;

export function change(changes) {
  Object.assign(state, changes);
  if (isDue) return;
  isDue = true;
  queueMicrotask(() => {
    isDue = false;
    for (const listener of listeners) listener(state);
  });
}

// Evidence: each step can be undone.

const past = [];

export const canUndo = () => past.length > 0;

export function setEvidence(evidence) {
  past.push(state.evidence);
  if (past.length > MOST_UNDO) past.shift();
  change({ evidence, whatif: null });
}

export function undo() {
  if (canUndo()) change({ evidence: past.pop(), whatif: null });
}

export function forget() {
  past.length = 0;
}

// The part of the address after # holds model and evidence; browsers do not send it to servers.

export function toHash() {
  const pairs = [["model", state.model.name], ...Object.entries(state.evidence).map(([name, value]) => [`.${name}`, value])];
  return `#${new URLSearchParams(pairs)}`;
}

export function fromHash() {
  const pairs = [...new URLSearchParams(location.hash.slice(1))];
  const evidence = pairs.filter(([name]) => name.startsWith(".")).map(([name, value]) => [name.slice(1), value]);
  return { model: pairs.find(([name]) => name === "model")?.[1], evidence: Object.fromEntries(evidence) };
}
