// A small picture of the model around one variable: its factors (squares) and the variables they share.

import { h, svg } from "./dom.js";
import { plural, readable } from "./words.js";

const WIDTH = 400, MOST = 16, LONGEST = 20;
const RADIUS = 62, LEAST = 34; // of the ring, sideways: names stand outside it

export function network(state, actions) {
  const { name, factors, num_factors: count } = state.around;
  const neighbours = [...new Set(factors.flat())].filter((one) => one !== name);
  const shown = neighbours.slice(0, MOST);
  const height = Math.max(150, 36 * Math.ceil(shown.length / 2) + 40);
  const places = new Map([[name, [WIDTH / 2, height / 2]], ...shown.map((one, k) => [one, onRing(k, shown.length, height)])]);
  const squares = factors.map((scope) => scope.filter((one) => places.has(one))).filter((scope) => scope.length > 1);
  const links = squares.flatMap((scope) => scope.map((one) => line(middle(scope, places), places.get(one))));
  const title = `${readable(name)} and its neighbours`;
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, class: "network", role: "group", "aria-label": title },
    ...links, ...squares.map((scope) => square(middle(scope, places), scope)),
    ...[...places].map(([one, at]) => node(one, at, one === name, state, actions)));
  const rest = neighbours.length - shown.length;
  return h("figure", {}, drawing, h("figcaption", { class: "soft" },
    `${plural(count, "factor")}, ${plural(neighbours.length, "neighbour")}${rest > 0 ? ` (${rest} not shown)` : ""}`));
}

// Half of the neighbours to the right, half to the left, from top to bottom.
function onRing(k, count, height) {
  const side = k % 2 ? -1 : 1;
  const rows = Math.ceil((count - (k % 2)) / 2);
  const share = rows === 1 ? 0 : (2 * Math.floor(k / 2)) / (rows - 1) - 1; // -1 at the top, 1 at the bottom
  const out = LEAST + (RADIUS - LEAST) * Math.sqrt(1 - share * share);
  return [WIDTH / 2 + side * out, height / 2 + share * (height / 2 - 26)];
}

function middle(scope, places) {
  const sum = scope.map((one) => places.get(one)).reduce(([a, b], [x, y]) => [a + x, b + y], [0, 0]);
  return sum.map((part) => part / scope.length);
}

const line = ([x1, y1], [x2, y2]) => svg("line", { x1, y1, x2, y2 });

const square = ([x, y], scope) => svg("rect", { x: x - 4, y: y - 4, width: 8, height: 8 },
  svg("title", {}, scope.map(readable).join(", ")));

function node(name, [x, y], isCenter, state, actions) {
  const value = state.evidence[name] ?? state.answer?.named_assignment[name] ?? "";
  const kind = isCenter ? "center" : name in state.evidence ? "known" : "";
  const look = () => actions.look(name);
  const label = readable(name).length > LONGEST ? `${readable(name).slice(0, LONGEST - 1)}…` : readable(name);
  return svg("g", { class: `node ${kind}`, tabindex: "0", role: "button", "data-key": `node ${name}`, onclick: look,
    onkeydown: (event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), look()) },
  svg("title", {}, `${name} = ${value}`), svg("circle", { cx: x, cy: y, r: isCenter ? 9 : 7 }),
  ...(isCenter ? [svg("text", { x, y: y - 15 }, label), svg("text", { x, y: y + 24, class: "given" }, value)] : beside(x, y, label, value)));
}

function beside(x, y, label, value) {
  const side = x < WIDTH / 2 ? { x: x - 12, class: "left" } : { x: x + 12, class: "right" };
  return [svg("text", { ...side, y }, label), svg("text", { ...side, class: `${side.class} given`, y: y + 12 }, value)];
}
