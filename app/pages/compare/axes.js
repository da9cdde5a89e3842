// The axes of “Settings vs. final metrics”: which there are, where each run is on them, and what stands beside them.

import { isApart, isOfBefore } from "./measure.js";
import { COLUMNS } from "./tables.js";

const MOST = 11; // axes, where nobody chose them
const SETTINGS_FAR = 20; // how many times the lowest value the highest is, from where an axis is logarithmic
// Of which metrics an axis may be logarithmic: the others are read as differences.
const FINALS_FAR = { reward: Infinity, held_out: Infinity, solved: Infinity, kl: 100, length: 100 };
const finals = COLUMNS.filter(([key]) => key in FINALS_FAR);
const NONE = "no value";
// Where a run without a value is: below the axis, and not among the values, where it would be the lowest.
export const BELOW = -0.16;

// ---- which settings ----
const NAMES = /(^|\.)(run_name|output_dir|logging_dir)$/; // differ from run to run, and say nothing
const SEEDS = /(^|\.)(seed|data_seed|shuffle)$/;
const VARIED = ["learning_rate", "beta", "num_generations", "temperature"].map((name) => `training.${name}`);
const BY_HAND = new Set([...VARIED, "kl.target"]);
// What follows from the group size, the memory there was, and how long one had.
const FOLLOWS =
  /^training\.(per_device_\w+|gradient_\w+|generation_batch_size|steps_per_generation|(save|eval|logging)_\w+)$/;
const rankOf = (name) => (BY_HAND.has(name) ? 0 : FOLLOWS.test(name) ? 3 : SEEDS.test(name) ? 2 : 1);
// How many runs have another value than most have.
function apartFromMost(words) {
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return words.length - Math.max(0, ...counts.values());
}
const wordsOf = (runs, { values }) => values.filter((_, i) => runs[i]?.there).map((value) => value?.words ?? NONE);
// The settings in which these runs differ, as the table has them.
export const offered = (runs, fields) =>
  fields.filter((field) => !NAMES.test(field.name) && apartFromMost(wordsOf(runs, field)) > 0);
// The names of those that say the most: varied by hand first, and by how many of the runs; none of runs that differ in
// their seeds alone.
export function suggested(runs, fields, most) {
  const known = offered(runs, fields);
  if (known.every(({ name }) => SEEDS.test(name))) return [];
  const weighed = known.map((field) => [rankOf(field.name), -apartFromMost(wordsOf(runs, field)), field.name]);
  const order = weighed.sort(([a, many], [b, more]) => a - b || many - more);
  return order.slice(0, Math.max(1, most)).map(([, , name]) => name);
}

// ---- the axes ----
const settingAxis = (runs, { name, label, values }) => ({
  title: label,
  full: name,
  values: values.map((value, i) => (runs[i]?.there ? (value?.number ?? null) : null)),
  words: values.map((value, i) => (runs[i]?.there ? (value?.words ?? NONE) : null)),
  below: values.map((value) => !value),
  far: SEEDS.test(name) ? Infinity : SETTINGS_FAR, // a seed is no amount
});
// Why a run has no place on the axis of a metric, as its table says; “” where it has one.
function lacks(run, key, all) {
  if ((run.final?.[key] ?? null) === null) return NONE;
  if (isOfBefore(run, key)) return "before training";
  return isApart(all, run, key) ? "not compared" : "";
}
function finalAxis(runs, [key, title, write], all) {
  const why = runs.map((run) => (run.there ? lacks(run, key, all) : NONE));
  const values = runs.map((run, i) => (why[i] ? null : run.final[key]));
  const words = runs.map((run, i) => (run.there ? why[i] || write(values[i]) : null));
  return { title, full: title, values, words, below: why.map(Boolean), far: FINALS_FAR[key], final: true };
}
// Settings that differ, then the finals that at least two runs have, written as in their table: [{title, full, values,
// words, below, far}], `full` being the name by which the address knows it, `below` whether a run has no place on it.
// `chosen`: names of the settings; none: the suggested ones. `all`: the runs of the table, which says who is compared.
export function axes(runs, fields, chosen = [], all = runs) {
  const ends = finals
    .map((column) => finalAxis(runs, column, all))
    .filter(({ values }) => values.filter((value) => value !== null).length > 1);
  const known = offered(runs, fields);
  const asked = known.filter(({ name }) => chosen.includes(name)).map(({ name }) => name);
  const names = asked.length ? asked : suggested(runs, fields, MOST - ends.length);
  return [...known.filter(({ name }) => names.includes(name)).map((field) => settingAxis(runs, field)), ...ends];
}

// ---- places on an axis ----
const ZERO = 0.14; // of a logarithmic axis, that 0 is below the lowest other value
export function isLog({ values, far = Infinity }) {
  const numbers = values.filter((value) => value !== null);
  const above = numbers.filter((value) => value > 0);
  return above.length > 0 && Math.min(...numbers) >= 0 && Math.max(...above) / Math.min(...above) >= far;
}
// Where a number is, 0 to 1.
function scaleOf(axis) {
  const numbers = axis.values.filter((value) => value !== null);
  const log = isLog(axis);
  const some = log ? numbers.filter((value) => value > 0).map(Math.log10) : numbers;
  const [low, high] = [Math.min(...some), Math.max(...some)];
  const base = some.length < numbers.length ? ZERO : 0;
  return (value) => {
    if (log && value === 0) return 0;
    return high > low ? base + ((1 - base) * ((log ? Math.log10(value) : value) - low)) / (high - low) : 0.5;
  };
}
// Where each run is on an axis, and its ticks: [[where, words, where the words stand]]. Choices are spread evenly.
export function place(axis) {
  const { values, words, below = [] } = axis;
  const placed = (at) => words.map((word, i) => (word === null ? null : below[i] ? BELOW : at(values[i], word)));
  const said = words.filter((word, i) => word !== null && !below[i]);
  const numbers = values.filter((value) => value !== null);
  if (numbers.length < said.length || !numbers.length) {
    const choices = [...new Set(said)].sort();
    const at = (word) => (choices.length > 1 ? choices.indexOf(word) / (choices.length - 1) : 0.5);
    return { y: placed((_, word) => at(word)), ticks: laid(choices.map((word) => [at(word), word])) };
  }
  const at = scaleOf(axis);
  const distinct = [...new Set(numbers)].sort((a, b) => a - b);
  const ticks = distinct.map((value) => [at(value), words[values.indexOf(value)]]);
  return { y: placed(at), ticks: laid(ticks.filter(([, word], i) => word !== ticks[i - 1]?.[1])) };
}

const APART = 0.085; // of an axis, in which a tick's words have room
// Ticks, from the lowest to the highest, with where their words stand, so that none covers another's. Where there is no
// room for all, as many as there is room for; the ends always.
function laid(ticks) {
  const shown = (ticks.length - 1) * APART <= 1 ? ticks : legible(ticks);
  const up = stacked(shown.map(([y]) => y));
  const down = stacked(shown.map(([y]) => 1 - y).toReversed()).toReversed();
  return shown.map(([y, words], i) => [y, words, (up[i] + 1 - down[i]) / 2]);
}
function legible(ticks) {
  const [high] = ticks.at(-1);
  const shown = [];
  for (const tick of ticks.slice(0, -1))
    if (!shown.length || (tick[0] - shown.at(-1)[0] >= APART && high - tick[0] >= APART)) shown.push(tick);
  return [...shown, ticks.at(-1)];
}
// Rising places, each moved up until it has room above the one below it, and all of them within the axis.
function stacked(ys) {
  const up = [];
  for (const y of ys) up.push(Math.max(y, (up.at(-1) ?? -1) + APART));
  return up.map((y, i) => Math.min(y, 1 - (ys.length - 1 - i) * APART));
}
