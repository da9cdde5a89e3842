// Settings vs. final metrics as parallel axes: one line a run, drawn with Plotly's plain lines (its own parallel
// coordinates need WebGL, and tell no line's name).

import { Plots } from "../../ui/charts/plots.js";
import { hoverRoom, shortName } from "../../ui/name.js";
import { number } from "../../ui/number.js";
import { colour } from "../../ui/theme.js";
import { COLUMNS } from "./tables.js";

const most = 9; // axes
const finals = COLUMNS.filter(([key]) => ["reward", "held_out", "solved", "kl", "length"].includes(key));
const NONE = "–"; // what a run without a value has; null: of a run that is not here
// Where it is on an axis: below, and not among the values, where it would be the lowest.
const BELOW = -0.16;
export const told = (words) => (words === NONE ? "no value" : words);
const plain = /(^|\.)(seed|data_seed|run_name|output_dir|logging_dir)$/;

// The axes: settings that differ, then the finals that at least two runs have, written as in their table; [{title,
// full, values, words, write}], `full` being the name by which the address knows it.
export function axes(runs, fields) {
  const wordsOf = (values, write) => values.map((value, i) => (runs[i]?.there ? write(value) : null));
  const settings = fields
    .filter(
      ({ name, values }) =>
        !plain.test(name) && new Set(values.filter((_, i) => runs[i]?.there).map((v) => v?.words ?? NONE)).size > 1,
    )
    .map(({ name, label, values }) => ({
      title: label,
      full: name,
      values: values.map((value, i) => (runs[i]?.there ? (value?.number ?? null) : null)),
      words: wordsOf(values, (value) => value?.words ?? NONE),
    }));
  const ends = finals
    .map(([key, title, write]) => {
      const values = runs.map((run) => run.final?.[key] ?? null);
      return { title, full: title, values, words: wordsOf(values, write), write, final: true };
    })
    .filter(({ values }) => values.filter((value) => value !== null).length > 1);
  return [...settings.slice(0, most - ends.length), ...ends];
}

const APART = 0.085; // of an axis, in which a tick's words have room
// Those of the ticks, from the lowest to the highest, whose words cover no other's; the ends always.
function legible(ticks) {
  const [high] = ticks.at(-1);
  const shown = [];
  for (const tick of ticks.slice(0, -1))
    if (!shown.length || (tick[0] - shown.at(-1)[0] >= APART && high - tick[0] >= APART)) shown.push(tick);
  return [...shown, ticks.at(-1)];
}

// Where each run is on an axis, 0 to 1, and the axis's ticks. Choices are spread evenly, and what spans far is
// logarithmic.
export function place({ values, words, write = number }) {
  const placed = (at) => words.map((word, i) => (word === null ? null : word === NONE ? BELOW : at(values[i], word)));
  const said = words.filter((word) => word !== null && word !== NONE);
  const numbers = values.filter((value) => value !== null);
  if (numbers.length < said.length || !numbers.length) {
    const choices = [...new Set(said)].sort();
    const at = (word) => (choices.length > 1 ? choices.indexOf(word) / (choices.length - 1) : 0.5);
    return { y: placed((_, word) => at(word)), ticks: legible(choices.map((word) => [at(word), word])) };
  }
  const low = Math.min(...numbers);
  const high = Math.max(...numbers);
  const far = low > 0 && high / low >= 20;
  const turn = far ? Math.log10 : (value) => value;
  const span = turn(high) - turn(low);
  const at = (value) => (span ? (turn(value) - turn(low)) / span : 0.5);
  const distinct = [...new Set(numbers)].sort((a, b) => a - b);
  const shown =
    distinct.length <= 6
      ? distinct
      : [
          low,
          ...[0.25, 0.5, 0.75].map((share) => {
            const value = turn(low) + span * share;
            return far ? 10 ** value : value;
          }),
          high,
        ];
  const tick = (value) => [at(value), words[values.indexOf(value)] ?? write(value)];
  return { y: placed(at), ticks: legible(shown.map(tick)) };
}

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
  return new Map(parts.filter(([full, [low, high]]) => full && low <= high).slice(0, most));
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
const MARKS = { true: "circle-open", false: "circle" }; // of a run without a value, and with one
export const narrowest = (axes) => axes.length * 92; // pixels, in which their names can be read

// As Plotly takes it, with the signs of a share.
const SIGNS = { "%": "%", "<": "&lt;" };
const drawn = (words) =>
  words
    .split(/([%<])/)
    .map((part) => SIGNS[part] ?? Plots.plain(part))
    .join("");

// The name of each axis and of the places on it, `apart` pixels from axis to axis. Names that are longer stand in two
// rows by turns, where each has the room of two.
function notes(axes, placed, apart) {
  const room = Math.floor(apart / CHARACTER);
  const turns = axes.some(({ title }) => title.length > room);
  const cut = (words, most) => drawn(words.length > most ? `${words.slice(0, most - 1)}…` : words);
  const named = ({ title, full }) => Plots.plain(title === full ? full : `${title} · ${full}`);
  // the first has no room on its left
  const where = (i) => (i ? {} : { xanchor: "left", xshift: -apart / 2 });
  const font = { size: 12, color: colour("--ink-3") };
  const note = (x, y, text, more) => ({ x, y, text, showarrow: false, font, ...more });
  const beside = { xanchor: "right", xshift: -6, bgcolor: colour("--panel"), opacity: 0.92, borderpad: 1 };
  return axes.flatMap((axis, i) => [
    note(i, turns && i % 2 === 0 ? 1.21 : 1.11, cut(axis.title, turns ? 2 * room - 2 : room), {
      font: { size: 12, color: colour(axis.final ? "--ink" : "--ink-2") },
      hovertext: named(axis),
      ...where(i),
    }),
    ...placed[i].ticks.map(([y, words]) => note(i, y, cut(words, Math.max(5, Math.min(22, room - 2))), beside)),
    ...(placed[i].y.includes(BELOW) ? [note(i, BELOW, cut(told(NONE), room), beside)] : []),
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
  const data = runs.map(({ id, name, colour: own, dash, index }) => ({
    opacity: faint.has(id) ? 0.14 : 1,
    x: axes.map((_, i) => i),
    y: placed.map(({ y }) => y[index]),
    type: "scatter",
    mode: "lines+markers",
    connectgaps: true,
    line: { color: Plots.colour(own), width: 1.8, dash },
    marker: { color: Plots.colour(own), size: 6, symbol: placed.map(({ y }) => MARKS[y[index] === BELOW]) },
    text: axes.map((axis) => drawn(`${axis.title}: ${told(axis.words[index])}`)),
    hovertemplate: `<b>${Plots.plain(shortName(name, room))}</b><br>%{text}<extra></extra>`,
  }));
  const annotations = notes(axes, placed, (width - 32) / (axes.length - 0.2));
  const shapes = shapesOf(axes, chosen);
  const low = placed.some(({ y }) => y.includes(BELOW)) ? BELOW - 0.06 : -0.06;
  return {
    data,
    layout: Plots.layout({
      height: 300,
      hovermode: "closest",
      dragmode: false,
      annotations,
      shapes,
      margin: { l: 16, r: 16, t: 8, b: 8 },
      x: { visible: false, range: [-0.55, axes.length - 0.75], fixedrange: true },
      y: { visible: false, range: [low, 1.26], fixedrange: true },
    }),
  };
}
