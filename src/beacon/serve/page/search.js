// The box in which variables are found and their values set, with the mouse or the keyboard alone.

import { $, h } from "./dom.js";
import { state } from "./store.js";
import { readable } from "./words.js";

const MOST = 40;
let found = [];
let active = -1;

export function setUpSearch(onChoice) {
  const box = $("search");
  const choose = (pair) => {
    box.value = "";
    close();
    onChoice(pair.variable, pair.value);
  };
  box.addEventListener("input", () => open(box.value, choose));
  box.addEventListener("focus", () => open(box.value, choose));
  box.addEventListener("blur", close);
  box.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (found.length === 0) open(box.value, choose);
      move(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter" && found.length) choose(found[Math.max(active, 0)]);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
}

// All words must occur in "variable = value". Variables of groups come first, then those that begin so.
function matching(text) {
  const words = text.toLowerCase().replaceAll("=", " ").split(/\s+/).filter(Boolean);
  const pairs = [];
  for (const variable of state.model.searchable) {
    for (const value of state.model.values.get(variable)) {
      const name = variable.toLowerCase();
      const line = `${name} ${readable(name)} ${value.toLowerCase()}`;
      if (state.evidence[variable] !== value && words.every((word) => line.includes(word))) {
        const isFirst = words.length && line.startsWith(words[0]);
        pairs.push({ variable, value, rank: (state.model.groupOf.has(variable) ? 0 : 2) + (isFirst ? 0 : 1) });
      }
    }
    if (pairs.length > 20 * MOST) break;
  }
  return pairs.sort((a, b) => a.rank - b.rank).slice(0, MOST);
}

function open(text, choose) {
  if (!state.model) return;
  found = matching(text);
  active = text && found.length ? 0 : -1;
  const none = h("li", { class: "none" }, "nothing is called that");
  $("choices").replaceChildren(...(found.length ? found.map((pair, k) => choice(pair, k, choose)) : [none]));
  $("choices").hidden = false;
  $("search").setAttribute("aria-expanded", "true");
  mark();
}

function choice(pair, k, choose) {
  const take = (event) => {
    event.preventDefault(); // the box keeps the focus
    choose(pair);
  };
  const group = state.model.groupOf.get(pair.variable);
  const name = h("span", { class: "name" }, readable(pair.variable));
  return h("li", { id: `choice-${k}`, role: "option", "aria-selected": "false", onpointerdown: take }, name,
    h("span", { class: "pill" }, pair.value), group && h("span", { class: "kind" }, group));
}

function move(by) {
  if (found.length === 0) return;
  active = (active + by + found.length) % found.length;
  mark();
}

function mark() {
  [...$("choices").children].forEach((item, k) => {
    item.setAttribute("aria-selected", String(k === active));
    if (k === active) item.scrollIntoView({ block: "nearest" });
  });
  if (active >= 0) $("search").setAttribute("aria-activedescendant", `choice-${active}`);
  else $("search").removeAttribute("aria-activedescendant");
}

function close() {
  found = [];
  active = -1;
  $("choices").hidden = true;
  $("search").setAttribute("aria-expanded", "false");
  $("search").removeAttribute("aria-activedescendant");
}
