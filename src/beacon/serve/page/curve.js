// The anytime curve: the best score climbs, the upper bound comes down, and a proof is where they meet.

import { h, svg } from "./dom.js";
import { fixed, seconds } from "./words.js";

const WIDTH = 340, HEIGHT = 190, LEFT = 46, RIGHT = 8, TOP = 10, BOTTOM = 24;

export function curve({ curve: { improvements, bounds }, answer, busy }) {
  const title = h("h2", {}, "How it was found");
  if (answer?.proof === "elimination" && improvements.length === 0) {
    return [title, h("p", { class: "soft" }, `Solved exactly by elimination in ${seconds(answer.total_seconds)}: nothing had to be searched.`)];
  }
  const found = improvements.filter((one) => one.log_score !== null);
  if (found.length === 0) return busy || !answer ? [] : [title, h("p", { class: "soft" }, "The search found nothing possible.")];
  return [title, picture(found, bounds.filter((one) => one.upper_bound !== null), answer)];
}

function picture(found, bounds, answer) {
  const last = Math.max(...[...found, ...bounds].map((one) => one.seconds), answer?.seconds ?? 0, 1e-3);
  const scores = found.map((one) => [one.seconds, one.log_score]);
  const limits = bounds.map((one) => [one.seconds, one.upper_bound]);
  if (answer && answer.log_score !== null) scores.push([last, answer.log_score]);
  if (answer && answer.upper_bound !== null && limits.length) limits.push([last, answer.upper_bound]);
  const [low, high] = range(scores, limits);
  const x = (time) => LEFT + ((WIDTH - LEFT - RIGHT) * Math.sqrt(time)) / Math.sqrt(last); // early times get more room
  const y = (score) => TOP + ((HEIGHT - TOP - BOTTOM) * (high - Math.max(score, low))) / (high - low || 1);
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "curve", role: "img", "aria-label": inWords(scores, limits) },
    ...axes(x, y, low, high, last), limits.length ? svg("path", { class: "between", d: area(scores, limits, x, y) }) : null,
    limits.length ? svg("path", { class: "bound", d: steps(limits, x, y) }) : null, svg("path", { class: "score", d: steps(scores, x, y) }));
  return h("figure", {}, drawing, h("figcaption", { class: "keys" }, h("span", { class: "key score" }, "best score"),
    limits.length ? h("span", { class: "key bound" }, "upper bound") : null));
}

// The first, bad scores would press everything else into a line: the better half and all bounds decide.
function range(scores, limits) {
  const half = scores.slice(Math.floor(scores.length / 2)).map(([, score]) => score);
  const all = [...half, ...limits.map(([, bound]) => bound)];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const room = 0.06 * (high - low || 1);
  return [low - room, high + room];
}

function steps(points, x, y) {
  return points.map(([time, score], k) => (k ? `H${x(time)}V${y(score)}` : `M${x(time)} ${y(score)}`)).join("");
}

function area(scores, limits, x, y) {
  const [start] = limits[0];
  const before = scores.filter(([time]) => time <= start).at(-1) ?? scores[0];
  const up = steps([[start, before[1]], ...scores.filter(([time]) => time > start)], x, y);
  const back = [...limits].reverse();
  const down = back.map(([time, bound], k) => (k ? `V${y(bound)}H${x(time)}` : `L${x(time)} ${y(bound)}`)).join("");
  return `${up}${down}Z`;
}

function axes(x, y, low, high, last) {
  const marks = [0, 0.5, 1].map((share) => low + (0.1 + 0.8 * share) * (high - low));
  const times = [0.1 * last, 0.4 * last, last];
  return [...marks.map((score) => svg("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(score), y2: y(score) })),
    ...marks.map((score) => svg("text", { x: LEFT - 6, y: y(score) + 3, class: "left" }, fixed(score, high - low > 20 ? 0 : 1))),
    ...times.map((time) => svg("text", { x: Math.min(x(time), WIDTH - 20), y: HEIGHT - 8, class: "below" }, seconds(time)))];
}

function inWords(scores, limits) {
  const bound = limits.length ? `, upper bound ${fixed(limits.at(-1)[1])}` : "";
  return `Best score ${fixed(scores.at(-1)[1])}${bound} after ${seconds(scores.at(-1)[0])}`;
}
