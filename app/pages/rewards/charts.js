// Small charts as inline SVG: a distribution (old behind new where there are both), and values over steps.

import { el } from "../../ui/dom.js";
import { number } from "../../ui/number.js";
import { many, plural } from "./text.js";

function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function picture(wide, high, words, drawn) {
  const look = { viewBox: `0 0 ${wide} ${high}`, preserveAspectRatio: "none", role: "img", "aria-label": words };
  return svg("svg", look, ...drawn);
}
const underneath = (left, right) => el("div.row.between.xs.mut", el("span", left), el("span", right));

// edges: one more than counts. `behind`: other counts over the same edges, drawn as an outline.
export function histogram(found, words, behind = null) {
  const { edges, counts } = found ?? {};
  if (!counts?.length || !counts.some(Boolean)) return el("p.xs.mut.none-drawn", "No scores to draw.");
  const wide = 200;
  const high = 44;
  const each = wide / counts.length;
  const most = Math.max(...counts, ...(behind ?? []), 1);
  const tall = (n) => (n ? Math.max(2, (high * n) / most) : 0);
  const width = Math.max(each - 1, 0.5);
  const bar = (n, i, kind, ...inside) =>
    svg("rect", { x: i * each + 0.5, y: high - tall(n), width, height: tall(n), class: kind }, ...inside);
  const about = (n, i) => `${plural(n, "completion")} from ${number(edges[i])} to ${number(edges[i + 1])}`;
  const bars = counts.map((n, i) => bar(n, i, "now", svg("title", {}, about(n, i))));
  const old = (behind ?? []).map((n, i) => bar(n, i, "before"));
  return el(
    "div.histogram",
    picture(wide, high, words, [...bars, ...old]),
    underneath(number(edges[0]), number(edges.at(-1))),
  );
}

// Scores that are all the same: one bar at their value, in place of bins around it that hold nothing else.
export function allAlike({ counts }, value) {
  const n = counts.reduce((sum, each) => sum + each, 0);
  const words = `${n === 1 ? "The one completion gets" : `All ${plural(n, "completion")} get`} ${score(value)}`;
  const bar = svg("rect", { x: 97, y: 2, width: 6, height: 42, class: "now" });
  return el("div.histogram.alike", picture(200, 44, words, [bar]), el("p.xs.mut", words));
}

// series: [{name, kind: “now” | “before”, points: [[x, y|null], …]}]
export function lines(series, words) {
  const known = (points) => points.filter(([, y]) => Number.isFinite(y));
  const all = series.flatMap((one) => known(one.points));
  if (all.length < 2) return null;
  const wide = 600;
  const high = 120;
  const edge = 4;
  const [xs, ys] = [all.map(([x]) => x), all.map(([, y]) => y)];
  const bounds = (values) =>
    values.reduce(([low, top], value) => [Math.min(low, value), Math.max(top, value)], [Infinity, -Infinity]);
  const [x0, x1] = bounds(xs);
  const [y0, y1] = bounds(ys);
  const at = ([x, y]) =>
    `${(wide * (x - x0)) / (x1 - x0 || 1)},${high - edge - ((high - 2 * edge) * (y - y0)) / (y1 - y0 || 1)}`;
  const drawn = series.map((one) => svg("polyline", { class: one.kind, points: known(one.points).map(at).join(" ") }));
  return el(
    "div.lines",
    el(
      "div.row.between.xs.mut",
      el("span", number(y1)),
      el("span.row.tight.keys", ...series.map((one) => el("span", { class: `key ${one.kind}` }, el("i"), one.name))),
    ),
    picture(wide, high, words, drawn),
    underneath(number(y0), `steps ${many(x0)} to ${many(x1)}`),
  );
}

// A score's number: whole ones as they are.
export const score = (value) =>
  Number.isInteger(value) && Math.abs(value) < 1e6 ? String(value).replace("-", "−") : number(value);
// A score as a bar, with its number.
export function scoreBar(value, span) {
  const share = span ? Math.min(1, Math.abs(value) / span) * 100 : 0;
  return el(
    "span.scored",
    el("span.b", el("i", { class: value < 0 ? "low" : "", style: `width:${share}%` })),
    el("span.num", score(value)),
  );
}
// An advantage as a bar either side of zero.
export function advantageBar(value, span) {
  const share = span ? Math.min(1, Math.abs(value) / span) * 50 : 0;
  const side =
    value >= 0 ? `left:50%;width:${share}%;background:var(--high)` : `right:50%;width:${share}%;background:var(--low)`;
  const words = Math.abs(value) < 0.005 ? "0" : `${value > 0 ? "+" : "−"}${Math.abs(value).toFixed(2)}`;
  return el("span.scored", el("span.adv", el("i", { style: side })), el("span.num.mut", words));
}
