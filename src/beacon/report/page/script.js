"use strict";

// Sorting: numbers by value, words by the alphabet; what is neither comes last.
function sortValue(row, column) {
  const text = row.cells[column].dataset.value;
  const infinite = { inf: Infinity, "-inf": -Infinity }[text];
  const number = infinite === undefined ? Number(text) : infinite;
  return text === "" || Number.isNaN(number) ? text : number;
}

function compare(a, b) {
  if (typeof a === typeof b) return typeof a === "number" ? a - b : a.localeCompare(b);
  return typeof a === "number" ? -1 : 1;
}

for (const button of document.querySelectorAll("thead button")) {
  button.addEventListener("click", () => {
    const head = button.parentElement, table = head.closest("table"), body = table.tBodies[0];
    const column = head.cellIndex, isLabel = head.classList.contains("label");
    const old = head.getAttribute("aria-sort");
    const order = old ? (old === "ascending" ? "descending" : "ascending") : isLabel ? "ascending" : "descending";
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const rows = [...body.rows].map((row) => [sortValue(row, column), row]);
    rows.sort((a, b) => sign * compare(a[0], b[0]));
    body.append(...rows.map(([, row]) => row));
  });
}

// Drill-down: the best score of one query over steps or seconds, drawn as steps.
const data = JSON.parse(document.getElementById("curve-data").textContent);
const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 720, HEIGHT = 300, LEFT = 78, BOTTOM = 34, TOP = 12, RIGHT = 14;

function element(parent, name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

function points(curve, kind) {
  const first = kind === "steps" ? 1 : 1e-5;
  const xs = curve[kind].map((x) => Math.max(first, x)), end = curve.end[kind === "steps" ? 0 : 1];
  return [...xs.map((x, k) => [x, curve.scores[k]]), [Math.max(end, xs.at(-1)), curve.scores.at(-1)]];
}

function draw(box, network, key, kind) {
  const curves = data.networks[network]?.[key];
  box.replaceChildren();
  box.hidden = false;
  if (!curves) { box.textContent = "The curves of this query are not on this page."; return; }
  for (const choice of ["steps", "seconds"]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "over " + choice;
    button.setAttribute("aria-pressed", choice === kind);
    button.addEventListener("click", () => draw(box, network, key, choice));
    box.append(button);
  }
  const shown = curves.map((curve, k) => [curve, k]).filter(([curve]) => curve && (kind === "seconds" || curve.end[0] > 0));
  const lines = shown.map(([curve, k]) => [points(curve, kind), k]);
  const all = lines.flatMap(([line]) => line);
  if (!all.length) return;
  // The first part of a search is steep: show the upper part of the scores, where methods differ.
  const xs = all.map((p) => Math.log10(p[0])), ys = all.map((p) => p[1]).sort((a, b) => a - b);
  const left = Math.min(...xs), right = Math.max(...xs, left + 0.1), high = ys.at(-1);
  const low = Math.min(ys[Math.floor(ys.length / 3)], high - 1e-6);
  const x = (v) => LEFT + ((Math.log10(v) - left) / (right - left)) * (WIDTH - LEFT - RIGHT);
  const y = (v) => TOP + ((high - Math.max(v, low)) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const svg = element(box, "svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  for (let k = 0; k <= 4; k++) {
    const value = low + ((high - low) * k) / 4;
    element(svg, "line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value), stroke: "currentColor", opacity: 0.12 });
    element(svg, "text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end", fill: "currentColor" }, value.toPrecision(6));
  }
  for (let power = Math.ceil(left); power <= right; power++) {
    const place = x(10 ** power);
    element(svg, "line", { x1: place, x2: place, y1: TOP, y2: HEIGHT - BOTTOM, stroke: "currentColor", opacity: 0.12 });
    const text = power < -3 || power > 5 ? "1e" + power : String(Number((10 ** power).toPrecision(1)));
    element(svg, "text", { x: place, y: HEIGHT - BOTTOM + 16, "text-anchor": "middle", fill: "currentColor" }, text);
  }
  element(svg, "text", { x: WIDTH - RIGHT, y: HEIGHT - 4, "text-anchor": "end", fill: "currentColor" }, kind);
  for (const [line, k] of lines) {
    let path = `M${x(line[0][0])} ${y(line[0][1])}`;
    for (const [px, py] of line.slice(1)) path += `H${x(px)}V${y(py)}`;
    element(svg, "path", { d: path, fill: "none", stroke: data.colours[k], "stroke-width": 2 });
  }
  const legend = document.createElement("div");
  for (const [curve, k] of shown) {
    const key = document.createElement("span"), mark = document.createElement("i");
    key.className = "key";
    mark.style.background = data.colours[k];
    key.append(mark, `${data.methods[k]}: ${curve.scores.at(-1)}`);
    legend.append(key);
  }
  box.append(legend);
}

for (const row of document.querySelectorAll("tr[data-run]")) {
  const choose = () => {
    const table = row.closest("table"), box = row.closest("details").querySelector(".curves");
    for (const other of table.querySelectorAll("tr.chosen")) other.classList.remove("chosen");
    row.classList.add("chosen");
    draw(box, table.dataset.network, row.dataset.run, "steps");
    box.scrollIntoView({ block: "nearest" });
  };
  row.addEventListener("click", choose);
  row.addEventListener("keydown", (event) => { if (event.key === "Enter") choose(); });
}
