// What the parts of Compare share: what the address asks for, the runs as the server last told of them, and which of
// them are shown.

import { params, setParams } from "../../ui/address.js";
import { Plots } from "../../ui/charts/plots.js";
import { part } from "../../ui/part.js";
import { Lines } from "./lines.js";
import * as Axes from "./axes.js";
import * as Parallel from "./parallel.js";

export const { root: page, find, server } = part("pages/compare/compare");
export const MOST = 20; // runs
export const runs = new Map(); // id → the server's last word on it, its curves and final kept where it had nothing new
export let state = {}; // what the address asks for
export let leftOut = 0; // runs of the address beyond MOST
export let order = []; // the runs as they are drawn
export let fields = []; // settings that differ
export let over = "step"; // what the curves that came are over; state.x: what they are to be
let told = { ids: [], fields: [] };
let dashes = []; // the kind of line that goes with each colour of runs
// After a change of the address, the old ones until the new have come.
export const drawnIds = () => order.map(({ id }) => id);

// ---- the address ----
export function readAddress() {
  const now = params();
  const list = (name) =>
    (now.get(name) ?? "")
      .split(",")
      .map((word) => word.trim())
      .filter(Boolean);
  const all = [...new Set([...list("ids"), ...list("runs")])]; // `runs`: as people write it
  leftOut = Math.max(0, all.length - MOST);
  state = {
    ids: all.slice(0, MOST),
    x: ["tokens", "time", "attempt"].includes(now.get("x")) ? now.get("x") : "step",
    by: now.get("by") ?? "",
    metrics: [...new Set([...list("metrics"), ...list("metric")])],
    band: now.get("band") === "std" ? "std" : "range",
    smooth: now.get("smooth") !== "0",
    log: now.get("log") === "1",
    hidden: new Set(list("hide")),
    sort: now.get("sort") ?? "",
    prompt: now.get("prompt") ?? "",
    prompts: now.get("prompts") === "differ" ? "differ" : "",
    a: now.get("a") ?? "",
    b: now.get("b") ?? "",
    chosen: Parallel.read(now.get("pick") ?? ""),
    axes: list("axes"),
    zoom: Plots.zoomOf(now.get("zoom")),
  };
}
// The stretch of the axis in sight, and the steps at its edges, so that lines reach them.
export const inSight = () =>
  state.zoom && ["step", "attempt"].includes(state.x) ? Plots.around(state.zoom) : state.zoom;
export const setIds = (ids) => setParams({ ids: ids.join(","), runs: null }, { push: true });
// The runs that are still here.
export const runsHere = () => order.filter(({ there }) => there);
// Those of them that are on the axes of settings and finals, which span only what these have.
export const runsOnAxes = () => runsHere().filter(({ id }) => !state.hidden.has(id));
export const ofAxes = () =>
  order.map((run) => (runsOnAxes().includes(run) ? run : { ...run, there: false, final: null }));
export const axesNow = () => Axes.axes(ofAxes(), fields, state.axes, runsHere());
export const nothingToSet = (axes) => Parallel.why(runsOnAxes(), axes);
// The runs beside the stretches of settings and finals that are chosen below, where these are drawn.
export function besideChosen() {
  const axes = axesNow();
  if (!state.chosen.size || nothingToSet(axes)) return new Set();
  const through = new Set(Parallel.through(order, axes, state.chosen));
  return new Set(
    runsOnAxes()
      .filter((run) => !through.has(run))
      .map(({ id }) => id),
  );
}
export function shown() {
  const beside = besideChosen();
  return order.filter((run) => run.there && !state.hidden.has(run.id) && !beside.has(run.id));
}
// Where the longest of the shown runs ends on an axis. A point of a curve may stand for some steps: the last of them
// lie behind it.
export function axisEnd(x) {
  const last = shown().flatMap(({ curves, final }) => [
    final?.[x] ?? 0,
    ...Object.values(curves ?? {}).flatMap((lines) => lines.map((line) => line.x.at(-1) ?? 0)),
  ]);
  return Math.max(0, ...last);
}

export function looksOf() {
  const look = new Map(order.map((run) => [run.id, run]));
  for (const group of grouped())
    for (const id of group.ids) look.set(id, { ...look.get(id), colour: group.colour, dash: group.dash });
  return look;
}
// The runs as their curves are drawn: where these are grouped, in their group's colour.
export function runsDrawn() {
  const look = looksOf();
  return order.map(({ id }) => look.get(id));
}
export const grouped = () => (state.by ? Lines.groups(order, fields, state.by, dashes) : []);

// The first of the runs before this one whose curves and figures are the same, value for value: neither is seen beside
// the other. undefined where there is none, or are too few values to tell.
const written = new WeakMap(); // curves → their values
function valuesOf({ curves, final }) {
  if (!Object.values(curves ?? {}).some((lines) => lines.some(({ y }) => y.length > 2))) return null;
  if (!written.has(curves))
    written.set(curves, JSON.stringify(Object.entries(curves).map(([name, lines]) => [name, lines.map(({ y }) => y)])));
  const { step, reward, kl, length } = final ?? {};
  return JSON.stringify([step, reward, kl, length, written.get(curves)]);
}
export function sameAs(run) {
  const own = valuesOf(run);
  const before = order.slice(0, order.indexOf(run));
  return own === null ? undefined : before.find((other) => other.there && valuesOf(other) === own);
}

// ---- what came ----
export function takeRuns(now) {
  order = now.runs.map((run) => ({ ...(runs.get(run.id) ?? {}), problem: undefined, ...run }));
  runs.clear();
  for (const run of order) runs.set(run.id, run);
  over = state.x;
  dashes = now.dashes;
  fields = inOrder(told);
}
export const settingsTold = () => drawnIds().every((id) => told.ids.includes(id));
export function takeSettings(now) {
  told = now;
  fields = inOrder(now);
}
// The settings that were told of other runs, or in another order, as these runs have them; null where that is not
// known.
const inOrder = ({ ids, fields }) =>
  fields.map((field) => ({ ...field, values: drawnIds().map((id) => field.values[ids.indexOf(id)] ?? null) }));
