// Compare: what the address says is compared; asks for it again and again, and draws what came.

import { onAddress, setParams } from "../../ui/address.js";
import { Curves } from "../../ui/charts/curves.js";
import { Plots } from "../../ui/charts/plots.js";
import { el, option, press, setText, show, showText } from "../../ui/dom.js";
import { countWords } from "../../ui/number.js";
import { poll } from "../../ui/poll.js";
import { dotted } from "../../ui/text.js";
import "./adder.js";
import { CompareChart } from "./charts.js";
import {
  axisEnd,
  fields,
  find,
  grouped,
  inSight,
  leftOut,
  MOST,
  order,
  over,
  page,
  readAddress,
  runs,
  runsDrawn,
  runsHere,
  server,
  setIds,
  settingsTold,
  shown,
  state,
  takeRuns,
  takeSettings,
} from "./core.js";
import { finalRows, offerCsv, settingRows } from "./csv.js";
import { drawLegend } from "./legend.js";
import { Lines } from "./lines.js";
import { bestWords, firstLines, mostsWords, shortWords, solvedWords } from "./measure.js";
import { seriesOf } from "./series.js";
import { hear, loadPrompt, loadPrompts } from "./shared_prompts.js";
import { offerRuns } from "./starting.js";
import { drawSweep } from "./sweep.js";
import * as tables from "./tables.js";
import { sayUnknown } from "./unknown.js";

let charts = new Map();
let names = [];
let labels = {}; // what those are called that Groupwise works out, by name
let asking = "";
let settled = "";
let coded = "";

// ---- the curves ----
function zoomTo(range, x) {
  if (range && x !== state.x) return; // what is drawn is over the former axis until the curves over the other have come
  setParams({ zoom: range ? range.map((end) => +end.toPrecision(6)).join("..") : null });
}
find(".all-of-it").addEventListener("click", () => zoomTo(null));
function layCharts(abouts) {
  const key = abouts.map(({ name }) => name).join("\n");
  if (page.dataset.charts === key) return;
  page.dataset.charts = key;
  for (const chart of charts.values()) Plots.drop(chart.plot);
  charts = new Map(abouts.map((about) => [about.name, new CompareChart(about, zoomTo)]));
  find(".charts").replaceChildren(...[...charts.values()].map(({ node }) => node));
}
function drawCurves() {
  const former = over !== state.x;
  const view = { ...state, ...(former ? { x: over, zoom: null } : {}), end: axisEnd(over) };
  find(".charts").setAttribute("aria-busy", `${former}`);
  const all = [...charts].map(([name, chart]) => [chart, seriesOf(name)]);
  for (const [chart, some] of all) {
    const { name } = chart.about;
    chart.show(some, { ...view, of: dotted(solvedWords(shown(), name), mostsWords(shown(), name)) });
  }
  const lines = all.flatMap(([{ about }, some]) =>
    some.flatMap((one) => one.lines.map((line) => ({ ...line, single: Curves.single(about.name) }))),
  );
  setText(find(".reach"), state.smooth ? Lines.reachWords(lines) : "");
  const there = order.filter((run) => run.seq > 0);
  const without = there.filter((run) => !Object.keys(run.curves ?? {}).length);
  const lacks = { tokens: "tokens", time: "time" }[over];
  const words =
    there.length && !charts.size
      ? "None of these runs has logged a metric yet."
      : lacks && without.length
        ? `${without.map(({ name }) => name).join(", ")}: no ${lacks} recorded, so no curve over it.`
        : "";
  showText(find(".unlaid"), words);
}
function drawNames() {
  const box = find(".all-metrics .names");
  const asked = find(".all-metrics input").value.toLowerCase();
  const drawn = [...charts.keys()];
  setText(find(".all-metrics summary span"), names.length ? `${names.length}` : "");
  const found = names.filter((name) => `${labels[name] ?? ""} ${name}`.toLowerCase().includes(asked));
  const key = `${found.join("\n")}\n\n${drawn.join("\n")}`;
  if (!find(".all-metrics").open || box.dataset.key === key) return;
  box.dataset.key = key;
  const focused = box.contains(document.activeElement) ? document.activeElement.textContent : null;
  box.replaceChildren(
    ...found.map((name) =>
      el(
        `button.chip${labels[name] ? "" : ".mono"}`,
        { "aria-pressed": `${drawn.includes(name)}`, onclick: () => choose(name) },
        ...(labels[name] ? [`${labels[name]} `, el("span.mut.mono.xs", name)] : [name]),
      ),
    ),
  );
  if (!found.length) box.append(el("span.s.mut", "No metric has this in its name."));
  if (focused !== null) [...box.children].find((one) => one.textContent === focused)?.focus();
}
function choose(name) {
  const drawn = [...charts.keys()];
  const next = drawn.includes(name) ? drawn.filter((one) => one !== name) : [...drawn, name];
  setParams({ metrics: next.join(","), metric: null });
}
find(".all-metrics").addEventListener("toggle", drawNames);
find(".all-metrics input").addEventListener("input", drawNames);

// ---- controls ----
for (const button of page.querySelectorAll(".x button"))
  button.addEventListener("click", () =>
    setParams({ x: button.dataset.x === "step" ? null : button.dataset.x, zoom: null }),
  );
for (const button of page.querySelectorAll(".band button"))
  button.addEventListener("click", () => setParams({ band: button.dataset.band === "range" ? null : "std" }));
find(".smooth").addEventListener("change", (event) => setParams({ smooth: event.target.checked ? null : "0" }));
find(".log").addEventListener("change", (event) => setParams({ log: event.target.checked ? "1" : null }));
find(".by").addEventListener("change", (event) => setParams({ by: event.target.value }));
function drawControls() {
  press(page.querySelectorAll(".x button"), (button) => button.dataset.x === state.x);
  press(page.querySelectorAll(".band button"), (button) => button.dataset.band === state.band);
  find(".band").hidden = !state.by;
  show(find(".all-of-it"), state.zoom, find(".smooth"));
  find(".smooth").checked = state.smooth;
  find(".log").checked = state.log;
  const settings = fields.map(({ name, label }) => [name, `${label} (${name})`]);
  options(find(".by"), [["", "nothing"], ["settings", "all settings but seeds"], ...settings], state.by);
  const named = runsHere().map(({ id, name }) => [id, name]);
  ["a", "b"].forEach((which, n) => options(find(`.code .${which}`), named, pair()[n]));
}
function options(select, wanted, value) {
  const key = JSON.stringify(wanted);
  if (select.dataset.key !== key) select.replaceChildren(...wanted.map(([id, name]) => option(id, name)));
  select.dataset.key = key;
  if (select.value !== value) select.value = value;
}
const pair = () => {
  const ids = runsHere().map(({ id }) => id);
  const a = ids.includes(state.a) ? state.a : (ids[0] ?? "");
  return [a, ids.includes(state.b) ? state.b : (ids.find((id) => id !== a) ?? a)];
};
for (const which of ["a", "b"])
  find(`.code .${which}`).addEventListener("change", (event) => setParams({ [which]: event.target.value }));

// ---- what is asked once for these runs ----
function drawFinals() {
  const key = JSON.stringify([runsDrawn().map((run) => ({ ...run, curves: null, seq: null })), state.sort, grouped()]);
  if (page.dataset.finals === key) return;
  page.dataset.finals = key;
  const line = (words) => el("li", { dir: "auto" }, ...tables.withNames(words, runsHere()));
  const first = firstLines(runsHere()).map(line);
  find(".short").replaceChildren(
    ...shortWords(runsHere(), grouped()).map(line),
    ...(first.length ? [el("li", "Look first at:", el("ul.first", ...first))] : []),
  );
  setText(find(".results .best-of"), bestWords(runsHere()));
  const drawn = runsDrawn().filter(({ there }) => there);
  const sort = (key) => {
    const usual = ["name", "state"].includes(key) ? key : `-${key}`;
    setParams({ sort: state.sort === usual ? (usual.startsWith("-") ? key : `-${key}`) : usual });
  };
  tables.drawFinals(find("table.finals"), drawn, state.sort, sort, grouped());
  drawSweep();
}
// In the colours of the curves, at once where these are grouped otherwise; the old ones until those of other runs came.
function drawSettings() {
  const isTold = Boolean(settled) && settingsTold();
  show(find(".differ .csv"), isTold && fields.length, find(".adder input"));
  if (!isTold) return;
  const looks = runsDrawn().map(({ name, there, colour, dash }) => [name, there, colour, dash]);
  const key = JSON.stringify([looks, fields, state.by]);
  if (page.dataset.settings === key) return;
  page.dataset.settings = key;
  tables.drawSettings(find("table.settings"), runsDrawn(), fields, state.by, (name) =>
    setParams({ by: state.by === name ? null : name }),
  );
}
async function loadSettings() {
  const key = JSON.stringify([state.ids, state.by]);
  if (settled === key) return;
  const now = await server.compare_settings({ ids: state.ids, by: state.by === "settings" ? "" : state.by });
  if (!now?.fields) return;
  settled = key;
  takeSettings(now);
  const problems = Object.entries(now.problems).map(([id, words]) => `${runs.get(id)?.name ?? id}: ${words}`);
  if (now.left_out) problems.push(`${now.left_out} more differ.`);
  const known = state.ids.length - Object.keys(now.problems).length;
  const they = known < state.ids.length ? "The others" : "They";
  if (!fields.length && known > 1) problems.unshift(`${they} have the same settings.`);
  setText(find(".settled"), problems.join(" "));
  find(".settled").hidden = !problems.length;
  find("table.settings").parentElement.hidden = !fields.length;
  drawAll();
  drawSweep();
}
const codeKey = () => JSON.stringify([state.ids, ...pair()]);
async function loadCode() {
  const [a, b] = pair();
  const key = codeKey();
  if (coded === key) return;
  const now = await server.compare_code({ ids: state.ids, a, b });
  if (!now?.functions || key !== codeKey()) return;
  coded = key;
  tables.drawCode(find(".functions"), now.functions);
  find(".code .pair").hidden = !now.functions.length;
}

// ---- the loop ----
function drawAll() {
  drawLegend();
  drawControls();
  drawCurves();
  drawNames();
  drawFinals();
  drawSettings();
  sayUnknown(names);
}
const noneHere = () =>
  order.length === 1
    ? "The run of this address is not here."
    : `None of the ${order.length} runs of this address is here.`;
function hint() {
  const here = runsHere().length;
  const some = state.ids.length && here < 2 ? "Add another run to compare it with." : "";
  const more = leftOut
    ? `At most ${MOST} runs can be compared at once: ` +
      `${leftOut} of the address ${leftOut === 1 ? "is" : "are"} left out.`
    : "";
  showText(find(".hint"), [some, more].filter(Boolean).join(" "));
  const missing = order.length - here;
  show(find(".stale"), missing > 0, find(".adder input"));
  setText(
    find(".stale span"),
    here
      ? `${missing} of the ${order.length} runs of this address ${missing === 1 ? "is" : "are"} not here.`
      : noneHere(),
  );
  setText(find(".stale button"), missing === 1 ? "Remove it" : "Remove them");
  offerRuns();
  find(".whole").hidden = !here;
  for (const part of page.querySelectorAll(".several")) part.hidden = here < 2;
  document.title = here ? `${countWords(here, "run")} compared · Groupwise` : "Compare · Groupwise";
}
find(".stale button").addEventListener("click", () => setIds(runsHere().map(({ id }) => id)));
offerCsv(".differ", "settings", () => settingRows(order, fields));
offerCsv(".results", "final-metrics", () => finalRows(runsHere()));
function take(now) {
  takeRuns(now);
  hear();
  names = now.names;
  labels = now.labels ?? {};
  layCharts(now.charts);
  hint();
  drawAll();
}
const wake = poll(page, async () => {
  const key = JSON.stringify([state.x, state.metrics, inSight()]);
  const ids = state.ids;
  if (key !== asking) {
    asking = key;
    for (const run of runs.values()) run.seq = null;
  }
  const seen = Object.fromEntries(ids.filter((id) => runs.get(id)?.seq).map((id) => [id, runs.get(id).seq]));
  const now = await server.compare_runs({ ids, x: state.x, metrics: state.metrics, zoom: inSight(), seen });
  if (!now) return undefined;
  showText(find(".problem"), now.sentence);
  if (now.sentence) return 2000;
  if (key !== JSON.stringify([state.x, state.metrics, inSight()]) || ids.join() !== state.ids.join()) return 0;
  take(now);
  await loadSettings();
  await loadCode();
  await loadPrompts();
  Plots.ready.then(() => {
    page.dataset.drawn = "yes";
  });
  return now.poll;
});
function follow() {
  const asked = () => {
    const { ids, x, metrics, by, a, b, zoom, prompts } = state;
    return JSON.stringify([ids, x, metrics, by, a, b, zoom, prompts]);
  };
  const before = asked();
  readAddress();
  if (before !== asked()) wake();
  if (order.length) {
    drawAll();
    drawSweep();
    loadPrompt();
  }
}
onAddress(follow);
readAddress();
hint();
