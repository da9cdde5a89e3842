// Settings vs. final metrics as parallel axes: one line a run, drawn with Plotly's plain lines (its own parallel
// coordinates need WebGL, and tell no line's name).

import { Plots } from "../../ui/charts/plots.js";
import { hoverRoom, shortName } from "../../ui/name.js";
import { colour } from "../../ui/theme.js";
import { BELOW, isLog, place } from "./axes.js";

const MOST_CHOSEN = 20; // stretches

// Why there is nothing to draw; empty where there is.
export function why(runs, axes) {
  if (runs.length < 3) return "With three or more runs, each is a line here, from its settings to its final metrics.";
  if (!axes.some(({ final }) => !final)) return "These runs differ only in seeds, so there are no settings to compare.";
  return axes.some(({ final }) => final) ? "" : "None of these runs has final metrics yet.";
}

// ---- stretches of axes that are chosen: full name → [from, to], as shares of the axis ----
export function read(words) {
  const parts = words
    .split(";")
    .map((part) => part.split("~"))
    .map(([full, ...ends]) => [full, ends.map(Number)]);
  return new Map(parts.filter(([full, [low, high]]) => full && low <= high).slice(0, MOST_CHOSEN));
}
export function write(chosen) {
  return [...chosen].map(([full, ends]) => [full, ...ends.map((end) => +end.toFixed(3))].join("~")).join(";");
}
// Those of the runs that pass through every chosen stretch; an axis that is no more asks nothing.
export function through(runs, axes, chosen) {
  const asked = axes.filter(({ full }) => chosen.has(full)).map((axis) => [place(axis).y, ...chosen.get(axis.full)]);
  return runs.filter((_, i) =>
    asked.every(([y, low, high]) => y[i] !== null && y[i] >= low - 0.001 && y[i] <= high + 0.001),
  );
}
// Dragging along an axis chooses a stretch of it, a click on it lets it go: `then(full name, [from, to] or null)`.
export function listen(plot, axesNow, then) {
  const mark = plot.parentElement.querySelector(".mark");
  const near = (event) => {
    const { xaxis, yaxis } = plot._fullLayout;
    const box = plot.getBoundingClientRect();
    const left = event.clientX - box.left - xaxis._offset;
    const number = Math.round(xaxis.p2l(left));
    const axis = axesNow()[number];
    if (!axis || Math.abs(xaxis.l2p(number) - left) > 16) return null;
    const share = (y) => Math.min(1.02, Math.max(BELOW - 0.02, yaxis.p2l(y - box.top - yaxis._offset)));
    return { axis, share, left: xaxis._offset + xaxis.l2p(number), top: (y) => yaxis._offset + yaxis.l2p(share(y)) };
  };
  let begun = null;
  plot.addEventListener("pointermove", (event) => {
    plot.classList.toggle("near", !!(begun ?? near(event)));
    if (!begun) return;
    const [a, b] = [begun.y, event.clientY].map(begun.top);
    Object.assign(mark.style, {
      left: `${begun.left - 7}px`,
      top: `${Math.min(a, b)}px`,
      height: `${Math.abs(a - b)}px`,
    });
    mark.hidden = false;
  });
  plot.addEventListener(
    "pointerdown",
    (event) => {
      const found = event.button === 0 && event.pointerType !== "touch" ? near(event) : null; // a finger scrolls
      if (!found) return;
      begun = { ...found, y: event.clientY };
      plot.setPointerCapture(event.pointerId);
      event.preventDefault();
    },
    true,
  );
  const end = (event) => {
    if (!begun) return;
    const { axis, share, y } = begun;
    begun = null;
    mark.hidden = true;
    if (event.type === "pointerup")
      then(axis.full, Math.abs(event.clientY - y) < 4 ? null : [share(event.clientY), share(y)].sort((a, b) => a - b));
  };
  plot.addEventListener("pointerup", end);
  plot.addEventListener("pointercancel", end);
}

const CHARACTER = 6.6; // pixels
// Of a run without a value, of a metric of one that still trains, and of what is as it stays.
const markOf = (y, going) => (y === BELOW ? "circle-open" : going ? "square-open" : "circle");
// What a label of so many letters takes on the left of its axis, in pixels.
const beforeAxis = (letters) => letters * CHARACTER + 12;
const MARGIN = 16;
const LEAST_LEFT = 0.55; // of the room between two axes
// Pixels from axis to axis where `left` of that is left of the first.
const apartOf = (width, axes, left) => (width - 2 * MARGIN) / (axes.length - 0.75 + left);
const mostLetters = (apart) => Math.max(5, Math.min(22, Math.floor(apart / CHARACTER) - 2));
// How much of that is, for the labels of the first axis to be seen whole.
function leftOfFirst(width, axes, [first]) {
  const words = [...first.ticks.map(([, words]) => words), ...lacking(axes[0])];
  const most = mostLetters(apartOf(width, axes, LEAST_LEFT));
  const pixels = beforeAxis(Math.max(0, ...words.map(({ length }) => Math.min(length, most)))) - MARGIN;
  const apart = (width - 2 * MARGIN - pixels) / (axes.length - 0.75);
  return Math.max(LEAST_LEFT, pixels / apart);
}
export const narrowest = (axes) => axes.length * 92; // pixels, in which their names can be read

// As Plotly takes it, with the signs of a share.
const SIGNS = { "%": "%", "<": "&lt;" };
const drawn = (words) =>
  words
    .split(/([%<])/)
    .map((part) => SIGNS[part] ?? Plots.plain(part))
    .join("");

const [HEIGHT, TOP] = [300, 1.26]; // pixels, and where they end above the axes
// Why runs are below an axis, each reason once.
const lacking = ({ words, below }) => [...new Set(words.filter((word, i) => word !== null && below[i]))];
const lackingCount = (axis) => lacking(axis).length;

// What is beside a place on an axis: its words, with a stroke to it where these had to make room for others.
function beside(x, [y, words, at = y], pixels) {
  const font = { size: 12, color: colour("--ink-3") };
  const label = { x, text: words, font, xanchor: "right", bgcolor: colour("--panel"), opacity: 0.92, borderpad: 1 };
  if (Math.abs(at - y) < 0.02) return { ...label, y: at, xshift: -6, showarrow: false };
  const stroke = { showarrow: true, arrowhead: 0, arrowwidth: 1, arrowcolor: colour("--line-strong"), standoff: 3 };
  return { ...label, y, ax: -14, ay: Math.round((y - at) * pixels), ...stroke };
}
// The name of each axis and of the places on it, `apart` pixels from axis to axis, an axis being so many high. Names
// that are longer stand in two rows by turns, where each has the room of two.
function notes(axes, placed, apart, pixels) {
  const room = Math.floor(apart / CHARACTER);
  const turns = axes.some((axis) => axis.title.length + (isLog(axis) ? 4 : 0) > room);
  const cut = (words, most) => drawn(words.length > most ? `${words.slice(0, most - 1)}…` : words);
  const titled = (axis, most) => (isLog(axis) ? `${cut(axis.title, most - 4)} log` : cut(axis.title, most));
  const named = (axis) =>
    [Plots.plain(axis.title), axis.title === axis.full ? "" : Plots.plain(axis.full), isLog(axis) && "logarithmic"]
      .filter(Boolean)
      .join(" · ");
  // the first has no room on its left
  const where = (i) => (i ? {} : { xanchor: "left", xshift: -apart / 2 });
  return axes.flatMap((axis, i) => [
    {
      x: i,
      y: turns && i % 2 === 0 ? 1.21 : 1.11,
      text: titled(axis, turns ? 2 * room - 2 : room),
      showarrow: false,
      font: { size: 12, color: colour(axis.final ? "--ink" : "--ink-2") },
      hovertext: named(axis),
      ...where(i),
    },
    ...placed[i].ticks.map(([y, words, at]) => beside(i, [y, cut(words, mostLetters(apart)), at], pixels)),
    ...lacking(axis).map((words, n) =>
      beside(i, [BELOW - 0.085 * n, cut(words, i ? Math.max(8, room) : mostLetters(apart))], pixels),
    ),
  ]);
}

// Each axis, and the stretch that is chosen of it.
function shapesOf(axes, chosen) {
  const line = { color: colour("--line-strong"), width: 1 };
  const shapes = axes.map((_, i) => ({ type: "line", x0: i, x1: i, y0: 0, y1: 1, line, layer: "below" }));
  const edge = { color: colour("--accent"), width: 1 };
  const box = { type: "rect", xsizemode: "pixel", x0: -7, x1: 7, line: edge };
  const fillcolor = Plots.fade(colour("--accent"), 0.22);
  axes.forEach(({ full }, i) => {
    const [y0, y1] = chosen.get(full) ?? [];
    if (y1 !== undefined) shapes.push({ ...box, xanchor: i, y0, y1, fillcolor });
  });
  return shapes;
}

// `faint`: the ids of the runs that are in no chosen stretch; `plot`: where it is drawn.
export function figure(runs, axes, chosen, faint, plot) {
  const [width, room] = [plot.clientWidth, hoverRoom(plot)];
  const placed = axes.map((axis) => place(axis));
  const data = runs.map(({ id, name, colour: own, dash, index, live, final }) => ({
    opacity: faint.has(id) ? 0.14 : 1,
    x: axes.map((_, i) => i),
    y: placed.map(({ y }) => y[index]),
    type: "scatter",
    mode: "lines+markers",
    connectgaps: true,
    line: { color: Plots.colour(own), width: 1.8, dash },
    marker: {
      color: Plots.colour(own),
      size: 6,
      symbol: axes.map((axis, i) => markOf(placed[i].y[index], live && axis.final)),
    },
    text: axes.map((axis) => drawn(`${axis.title}: ${axis.words[index]}`)),
    hovertemplate:
      `<b>${Plots.plain(shortName(name, room))}</b>${live ? `, at step ${final?.step ?? 0}` : ""}` +
      "<br>%{text}<extra></extra>",
  }));
  const deep = Math.max(0, ...axes.map(lackingCount));
  const low = deep ? BELOW - 0.06 - 0.085 * (deep - 1) : -0.06;
  const left = leftOfFirst(width, axes, placed);
  const annotations = notes(axes, placed, apartOf(width, axes, left), (HEIGHT - 16) / (TOP - low));
  const shapes = shapesOf(axes, chosen);
  return {
    data,
    layout: Plots.layout({
      height: HEIGHT,
      hovermode: "closest",
      dragmode: false,
      annotations,
      shapes,
      margin: { l: MARGIN, r: MARGIN, t: 8, b: 8 },
      x: { visible: false, range: [-left, axes.length - 0.75], fixedrange: true },
      y: { visible: false, range: [low, TOP], fixedrange: true },
    }),
  };
}
