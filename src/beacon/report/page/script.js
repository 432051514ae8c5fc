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

// Drill-down: how far each method was from the best of one query, over steps or seconds.
const data = JSON.parse(document.getElementById("curve-data").textContent);
const SVG = "http://www.w3.org/2000/svg";
const FLOOR = 0.001, WIDTH = 560, HEIGHT = 280, LEFT = 58, BOTTOM = 34, TOP = 12, RIGHT = 14;

function element(parent, name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

function plain(power) {
  const large = ["10k", "100k", "1M", "10M", "100M"][power - 4];
  return large ?? (power > 3 || power < -5 ? "1e" + power : String(Number((10 ** power).toPrecision(1))));
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
  // Gaps to the best of this query, in percent of it, on a logarithmic axis that ends at 0.001.
  const best = Math.max(...all.map((p) => p[1])), unit = Math.abs(best) / 100 || 1;
  const gap = (score) => Math.log10(Math.max(FLOOR, (best - score) / unit));
  const xs = all.map((p) => Math.log10(p[0])), ys = all.map((p) => gap(p[1]));
  const left = Math.min(...xs), right = Math.max(...xs, left + 0.1);
  const low = Math.log10(FLOOR), high = Math.max(Math.ceil(Math.max(...ys)), low + 1);
  const x = (v) => LEFT + ((Math.log10(v) - left) / (right - left)) * (WIDTH - LEFT - RIGHT);
  const y = (power) => TOP + ((high - power) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const svg = element(box, "svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  for (let power = low; power <= high; power++) {
    const place = y(power), text = power === low ? "0" : plain(power);
    element(svg, "line", { x1: LEFT, x2: WIDTH - RIGHT, y1: place, y2: place, stroke: "currentColor", opacity: 0.12 });
    element(svg, "text", { x: LEFT - 6, y: place + 4, "text-anchor": "end", fill: "currentColor" }, text);
  }
  element(svg, "text", { x: LEFT + 6, y: TOP + 10, fill: "currentColor", opacity: 0.7 }, "gap to the best, %");
  for (let power = Math.ceil(left); power <= right; power++) {
    const place = x(10 ** power);
    element(svg, "line", { x1: place, x2: place, y1: TOP, y2: HEIGHT - BOTTOM, stroke: "currentColor", opacity: 0.12 });
    element(svg, "text", { x: place, y: HEIGHT - BOTTOM + 16, "text-anchor": "middle", fill: "currentColor" }, plain(power));
  }
  element(svg, "text", { x: WIDTH - RIGHT, y: HEIGHT - 4, "text-anchor": "end", fill: "currentColor" }, kind);
  for (const [line, k] of lines) {
    let path = `M${x(line[0][0])} ${y(gap(line[0][1]))}`;
    for (const [px, score] of line.slice(1)) path += `H${x(px)}V${y(gap(score))}`;
    element(svg, "path", { d: path, fill: "none", stroke: data.colours[k], "stroke-width": 2 });
  }
  const legend = document.createElement("div");
  for (const [curve, k] of shown) {
    const key = document.createElement("span"), mark = document.createElement("i");
    key.className = "key";
    mark.style.background = data.colours[k];
    const score = curve.scores.at(-1).toLocaleString("en", { maximumFractionDigits: 4 });
    key.append(mark, `${data.methods[k]}: ${score}`);
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
