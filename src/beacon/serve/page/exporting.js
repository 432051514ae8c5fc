// The answer as a file.

import { h } from "./dom.js";

export function exportJson(state) {
  const { alternatives, alternatives_exact, margins, margins_exact, margins_at_least } = state.more ?? {};
  const more = state.more ? { alternatives, alternatives_exact, margins, margins_exact, margins_at_least } : {};
  save(state, "json", JSON.stringify({ model: state.model.name, evidence: state.evidence, ...state.answer, ...more }, null, 2));
}

export function exportCsv(state) {
  const values = state.answer.named_assignment;
  const lines = Object.entries(values).map(([name, value]) => [name, value, name in state.evidence ? "yes" : "no", margin(name, value, state)]);
  save(state, "csv", [["variable", "value", "observed", "margin_nats"], ...lines].map((line) => line.map(cell).join(",")).join("\r\n"));
}

function margin(name, own, state) {
  const losses = Object.entries(state.more?.margins?.[name] ?? {}).filter(([value, loss]) => value !== own && loss !== null);
  return losses.length ? String(Math.min(...losses.map(([, loss]) => loss))) : "";
}

const cell = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function save(state, kind, text) {
  const url = URL.createObjectURL(new Blob([text], { type: kind === "csv" ? "text/csv" : "application/json" }));
  const link = h("a", { href: url, download: `${state.model.name}.${kind}` });
  link.click();
  URL.revokeObjectURL(url);
}
