// From evidence to answers: first the explanation with its curve, then margins and alternatives.

import * as api from "./api.js";
import { telling } from "./explanation.js";
import { change, state } from "./store.js";

const ALTERNATIVES = 4;
const MOST_SHARPENED = 24;
const running = { ask: new AbortController(), whatIf: new AbortController() };

// A new question ends the one before of its kind, here and on the server.
function begun(kind) {
  running[kind].abort();
  running[kind] = new AbortController();
  return running[kind].signal;
}

async function guarded(signal, work) {
  try {
    await work();
  } catch (error) {
    if (!signal.aborted) change({ error: error.message, busy: null });
  }
}

const asked = () => ({ evidence: state.evidence, seconds: state.seconds });

export function ask() {
  running.whatIf.abort();
  const signal = begun("ask");
  const before = state.answer?.named_assignment ?? null;
  change({ busy: "searching", error: null, more: null, curve: { improvements: [], bounds: [] } });
  return guarded(signal, async () => {
    await api.stream(state.model.name, asked(), signal, (kind, data) => {
      if (!signal.aborted) hear(kind, data, before);
    });
    if (signal.aborted || state.error) return;
    change({ busy: "looking for alternatives and margins" });
    const more = await api.solve(state.model.name, moreOf(asked()), signal);
    if (signal.aborted) return;
    change({ more: more.log_score >= state.answer.log_score - 1e-6 ? more : null });
    await sharpen(signal);
    if (!signal.aborted) change({ busy: null });
  });
}

// Where elimination gives no exact margins, a query of its own tells what another value of a telling variable loses.
// Of an answer that is not proved, such a query might find a better one instead.
async function sharpen(signal) {
  if (!state.more?.margins || state.more.margins_exact || !state.answer.optimal) return;
  const variables = state.model.sections.filter((section) => !section.isFolded).flatMap((section) => telling(section, state).says);
  const own = state.answer.named_assignment;
  const moves = variables.flatMap((variable) => state.model.values.get(variable).filter((value) => value !== own[variable])
    .map((value) => ({ variable, value }))).slice(0, MOST_SHARPENED);
  const queries = moves.map(({ variable, value }) => ({ ...state.evidence, [variable]: value }));
  const body = { queries, seconds: state.seconds, show: [state.model.list[0].name], probability: false };
  change({ busy: "measuring margins" });
  await api.solveMany(state.model.name, body, signal, (found) => {
    if (!signal.aborted && !found.error) narrow(moves[found.query], found);
  });
}

function narrow({ variable, value }, found) {
  const { margins, margins_at_least: least } = state.more;
  const loss = found.log_score === null ? null : Math.max(0, state.answer.log_score - found.log_score);
  const isExact = found.optimal || found.impossible;
  if (loss !== null || isExact) margins[variable][value] = loss === null ? null : Math.min(loss, margins[variable][value] ?? Infinity);
  if (isExact) least[variable][value] = margins[variable][value];
  change({ more: state.more });
}

const moreOf = (body) => ({ ...body, alternatives: ALTERNATIVES, distance: state.distance, margins: true });

function hear(kind, data, before) {
  const { improvements, bounds } = state.curve;
  if (kind === "improvement") change({ curve: { improvements: [...improvements, data], bounds } });
  if (kind === "bound") change({ curve: { improvements, bounds: [...bounds, data] } });
  if (kind === "answer") change({ answer: data, before });
  if (kind === "error") change({ error: data.error, busy: null });
}

export function whatIf(variable, value) {
  const signal = begun("whatIf");
  change({ busy: `supposing ${variable} = ${value}`, error: null });
  return guarded(signal, async () => {
    const body = { ...asked(), suppose: { [variable]: value }, show: "query" };
    const answer = await api.solve(state.model.name, body, signal);
    if (!signal.aborted) change({ whatif: { variable, value, answer }, busy: null });
  });
}

export async function look(variable) {
  change({ selected: variable, around: null });
  const found = await api.around(state.model.name, variable).catch(() => null);
  if (state.selected === variable) change({ around: found });
}
