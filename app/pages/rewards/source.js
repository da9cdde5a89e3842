// Where the completions come from: whose data, and whether the model, a past run, a person or the probes wrote them.

import { params } from "../../ui/address.js";
import { tryStore } from "../../ui/browser_store.js";
import { el, option, press, setText, showText } from "../../ui/dom.js";
import { currentDraft } from "../../ui/run_drafts.js";
import { builtOn, keepBuiltOn } from "./built_on.js";
import { givenNames } from "./columns.js";
import { askWorker, button, call, find, on, page, root, server, tell } from "./core.js";
import { dataOfFile, guessOfFile, howRead, isFile, mapFile, readAnew, slipOfFile, specOfFile } from "./file_data.js";
import { tagsLookedFor } from "./looked_for.js";
import { guessOfDraft, mapDraft, mappedText, mappingWords } from "./mapped_drafts.js";
import { plain } from "./text.js";
import { drawTyped, typedNow } from "./typed_boxes.js";
import { MOST_ROWS, readRows } from "./written_rows.js";

export let from = "model";
// The data that a person chose here, in this tab.
const CHOSEN = "groupwise:rewards:data";
// And here, at this address: a reload keeps it, before all else that is likely.
const chosenHere = () => history.state?.dataChosen ?? "";
const noteChosenHere = (value) =>
  tryStore(() => history.replaceState({ ...history.state, dataChosen: value }, "", location.href));
const QUICKSTART = "preset:quickstart";
const SELECTS = "select:is(.data, .run, .history)";
const AGES = 10_000; // ms between looks at the runs, whose states and ages change
export function dataChosen() {
  const { value } = find("select.data");
  const draft = draftChosen();
  if (draft !== null) return `text:${mappedText(draft)}`;
  return isFile(value) ? `text:${specOfFile(value)}` : value;
}
// The text of the draft that is chosen, as it was typed; null where no draft is.
function draftChosen() {
  const { value } = find("select.data");
  if (value === "new") return newRunText();
  return value.startsWith("text:") ? value.slice("text:".length) : null;
}
// Where how the chosen file is read can be seen and changed; "" where no file is chosen.
export function addressOfFile() {
  const file = find("select.data").value;
  return isFile(file) ? `/new?${new URLSearchParams(pairsOfFile(file))}` : "";
}
const pairsOfFile = (file) => [["data", JSON.stringify(dataOfFile(file))]];
// Whether that is all there is to say: that New run's draft has no data, as sources.py says it.
export const isWithoutData = (sentence) => sentence === "New run’s draft has no data yet.";
// Whether a file has a heading and no row that is filled, as worker/data/preview.py says it.
export const isWithoutRows = (sentence) => / (row is|rows are) empty\.$/.test(sentence ?? "");
export const takeQuickstart = () => chooseData(QUICKSTART, askColumns);
// The settings that the New run page is at, in this tab.
const newRunText = () => currentDraft()?.text ?? "";

// What a new run begins from, as pairs for its address: the draft that New run is at, else what functions are tried on.
export function beginningOfRun() {
  const { value } = find("select.data");
  const [kind, id] = value.split(/:(.*)/s);
  if (currentDraft() || !id) return [];
  if (kind !== "file") return [[{ run: "from", preset: "preset" }[kind], id]];
  return pairsOfFile(value);
}

// The data that the blocks which are open were built on; null where that is not known. A draft of a new run may have
// changed since.
function dataOfBlocks() {
  const kept = page.open?.blocks?.blocks ? builtOn(page.open.name) : null;
  return kept?.value === `text:${newRunText()}` ? { ...kept, value: "new" } : kept;
}
export function rememberData(name) {
  const { value } = find("select.data");
  keepBuiltOn(name, { value: value === "new" ? `text:${newRunText()}` : value, label: page.given?.source ?? "" });
}

const BUILT_ON = "what it was built on";
// Whoever came from New run to write a function of its own tries it on the data of that run.
const CAME_TO_BEGIN = params().has("new");
const CAME_FROM = params().get("run");
// What a person works on, the first that is there: [value, why it is chosen].
function likelyData() {
  const { runs } = page.about.sources;
  const newest = runs.find((one) => one.begun);
  const kept = dataOfBlocks();
  const chosen = tryStore(() => sessionStorage.getItem(CHOSEN));
  return [
    ...(chosenHere() ? [[chosenHere(), "chosen by you"]] : []),
    ...(CAME_FROM ? [[`run:${CAME_FROM}`, "the run that you came from"]] : []),
    ...(kept ? [[kept.value, BUILT_ON]] : []),
    ...(CAME_TO_BEGIN && newRunText() ? [["new", "what New run is set to"]] : []),
    ...(chosen ? [[chosen, "chosen by you"]] : []),
    ...(newRunText() ? [["new", "what New run is set to"]] : []),
    ...(newest ? [[newest.value, "your newest run"]] : []),
    [QUICKSTART, "the built-in example"],
  ];
}
function fillData() {
  const { presets, files, runs } = page.about.sources;
  const stored = runs.filter((one) => one.stored);
  const kept = dataOfBlocks();
  const groups = (list, title) =>
    list.length ? [el("optgroup", { label: title }, ...list.map((one) => option(one.value, plain(one.label))))] : [];
  find("select.data").replaceChildren(
    ...groups(presets, "Presets"),
    ...(newRunText() ? [option("new", "Current draft")] : []),
    ...(kept?.value.startsWith("text:") ? [option(kept.value, `Built on a draft (${plain(kept.label)})`)] : []),
    ...groups(files, "Your files"),
    ...groups(runs, "Runs"),
  );
  // a run that was chosen stays, whatever is opened meanwhile
  for (const select of root.querySelectorAll("select.run, select.history")) {
    const { value } = select;
    select.replaceChildren(
      ...(stored.length
        ? stored.map((one) => option(one.id, plain(one.label)))
        : [option("", "No run has stored completions yet")]),
    );
    if (value) select.value = value;
    select.disabled = !stored.length;
  }
}
// The lists as they are now; what is chosen stays chosen, also where an open list is looked at.
async function refresh() {
  if (!root.isConnected || document.hidden) return;
  const now = await server.list_data({}).catch(() => null);
  if (!now?.runs) return;
  const before = page.about.sources;
  page.about.sources = now;
  if (listed(before) === listed(now)) {
    const words = new Map(now.runs.flatMap(({ id, value, label }) => [id, value].map((key) => [key, plain(label)])));
    for (const each of root.querySelectorAll(`${SELECTS} option`))
      if (words.has(each.value)) setText(each, words.get(each.value));
    if (dataChosen() !== askedOf) askColumns(); // its file was read otherwise on another page
    return;
  }
  const { value } = find("select.data");
  fillData();
  if (value) find("select.data").value = value;
  if (find("select.data").selectedIndex < 0) chooseLikely(askColumns); // its run was deleted
  tell("runs");
}
const listed = ({ presets, files, runs }) =>
  JSON.stringify([...presets, ...files, ...runs].map(({ value, stored }) => [value, stored]));
function chooseLikely(then = () => {}) {
  const select = find("select.data");
  dataBefore = null;
  for (const [value, why] of likelyData()) {
    select.value = value;
    if (select.selectedIndex < 0) continue;
    isOfOpened = why === BUILT_ON;
    sayWhy(why);
    break;
  }
  then();
}

// A function was opened: its blocks come with the rows that they were built on, and those of the one before go with it.
// Whoever came from a run stays at it.
let drawn = false;
let isOfOpened = false;
on("open", () => {
  const kept = drawn ? dataOfBlocks() : null;
  if (kept ? CAME_FROM || kept.value === find("select.data").value : !drawn || !isOfOpened) return;
  noteChosenHere("");
  fillData();
  chooseLikely(askColumns);
});

export function drawSource() {
  drawn = true;
  fillData();
  chooseLikely();
  const run = chosenHere().startsWith("run:") ? chosenHere().slice("run:".length) : CAME_FROM;
  if (page.about.sources.runs.some((one) => one.stored && one.id === run))
    for (const select of root.querySelectorAll("select.run, select.history")) select.value = runChosen = run;
  setInterval(refresh, AGES);
  document.addEventListener("visibilitychange", refresh);
  for (const tab of root.querySelectorAll("[data-from]")) tab.addEventListener("click", () => choose(tab.dataset.from));
  find("select.data").addEventListener("change", ({ target }) => chooseData(target.value, askColumns));
  find("select.run").addEventListener("change", ({ target }) => {
    runChosen = target.value;
    takeDataOfRun();
  });
  find("select.pick").addEventListener("change", ({ target }) => {
    find(".input.groups").hidden = target.value !== "first";
    find(".input.rows").hidden = target.value === "first";
  });
  drawTyped();
  askColumns();
}
// Where this data is not there (any more), what is likely.
function chooseData(value, then = () => {}) {
  const select = find("select.data");
  tryStore(() => sessionStorage.setItem(CHOSEN, value));
  noteChosenHere(value);
  isOfOpened = false;
  dataBefore = null;
  select.value = value;
  if (select.selectedIndex < 0) chooseLikely();
  else sayWhy("");
  if (from === "run" && runOfValue(value)) find("select.run").value = runChosen = runOfValue(value).id;
  then();
}
const runOfValue = (value) => page.about.sources.runs.find((one) => one.stored && one.value === value);

// A past run's completions bring that run's data with them, until others are wanted again: what was chosen stays so.
let runChosen = ""; // of “A past run”
let dataBefore = null;
function takeDataOfRun() {
  const value = `run:${find("select.run").value}`;
  const { value: before } = find("select.data");
  if (value !== before) setData(value, "of the run whose completions are scored", dataBefore ?? before);
}
function takeDataBack() {
  if (dataBefore !== null) setData(dataBefore, "as before");
}
function setData(value, why, before = null) {
  dataBefore = before;
  isOfOpened = false;
  find("select.data").value = value;
  if (find("select.data").selectedIndex < 0) chooseLikely();
  else sayWhy(why);
  askColumns();
}
// The run of the chosen data, else the one that was chosen there, else the newest that has completions.
function runToBegin() {
  const stored = page.about.sources.runs.filter((one) => one.stored);
  const chosen = runOfValue(find("select.data").value) ?? stored.find((one) => one.id === runChosen);
  return (chosen ?? stored.find((one) => one.stepped) ?? stored[0])?.id ?? "";
}
let said = ""; // why the data is chosen
// Why this data is chosen; and as what a file is read, with the ways to read it otherwise.
function sayWhy(why) {
  const file = find("select.data").value;
  const read = howRead(file);
  const words = [why, read?.words].filter(Boolean).join("; ");
  const change = read ? [" ", el("a", { href: addressOfFile() }, "Change it in New run")] : [];
  const readAsNew = () => {
    readAnew(file);
    askColumns();
  };
  const anew = read?.isOwn ? [" · ", button("Read it as a new file", readAsNew, "link xs")] : [];
  find(".why-data").replaceChildren(words && `(${words})`, ...change, ...anew);
  said = why;
}
// How the chosen data is mapped, where nobody mapped it.
function sayMapping() {
  const draft = draftChosen();
  const file = find("select.data").value;
  const guess = draft === null ? guessOfFile(file) : guessOfDraft(draft);
  showText(find(".mapping-data"), mappingWords(guess));
}
// The newest run whose completions are kept and whose rows are from the chosen data: {id, label}; null for none.
export function runOfData() {
  const { runs } = page.about.sources;
  const chosen = find("select.data").value;
  const stored = runs.filter((one) => one.stored);
  return stored.find((one) => one.value === chosen) ?? stored.find((one) => one.data === page.given?.source) ?? null;
}
// `keepsData`: also the data of a run whose completions were scored.
export function choose(kind, { keepsData = false } = {}) {
  from = kind;
  press(root.querySelectorAll("[data-from]"), (tab) => tab.dataset.from === kind);
  for (const part of root.querySelectorAll(".workbench .from")) part.hidden = !part.classList.contains(`from-${kind}`);
  if (kind === "run" && runToBegin()) {
    find("select.run").value = runToBegin();
    takeDataOfRun();
  } else if (kind !== "run" && !keepsData) takeDataBack();
  tell("source");
}
// What the worker is asked, whose text tells one set of completions from another; {sentence} where it cannot be.
export function sourceAsked() {
  const count = (selector, otherwise) => {
    const n = parseInt(find(selector).value, 10);
    return Number.isInteger(n) && n > 0 ? n : otherwise;
  };
  const asked = { from, data: dataChosen() };
  const rows = find("select.pick").value === "first" ? count(".groups", 4) : readRows(find(".input.rows").value);
  if (rows === null && ["model", "probes"].includes(from))
    return { sentence: `Write the rows as numbers, such as 1, 5, 9-12; at most ${MOST_ROWS}.` };
  if (from === "model") return { ...asked, rows, size: count(".size", 8) };
  if (from === "run") {
    const step = parseInt(find(".step").value, 10);
    return { ...asked, run: find("select.run").value, step: Number.isInteger(step) ? step : null };
  }
  if (from === "typed") return { ...asked, typed: typedNow() };
  return { ...asked, rows, tags: tagsLookedFor() };
}
// Whose completions are asked for, as a sentence names them.
export function sourceWords({ from: kind = from, run }) {
  if (kind !== "run") return { model: "the model’s completions", typed: "what was typed", probes: "the probes" }[kind];
  const { label } = page.about.sources.runs.find(({ id }) => id === run) ?? {};
  return label ? `completions of “${plain(label).split(" · ")[0]}”` : "a run’s completions";
}

let askedOf = ""; // the data whose columns were asked for last
// The data's columns: for completion in the editor, and to say what a function asks for in vain.
async function askColumns() {
  page.columns = null;
  page.given = null;
  page.notGiven = "";
  page.slip = null;
  sayMapping();
  sayWhy(said);
  tell("data");
  const data = dataChosen();
  askedOf = data;
  const [got, set] = await Promise.all([askWorker("columns", { data }), call("run_rewards", { data }, () => {})]);
  if (!got) return;
  if (!got.answer) {
    page.notGiven = isWithoutData(got.sentence) ? "Its columns are shown once data is chosen." : (got.sentence ?? "");
    tell("columns");
    if (got.lost)
      setTimeout(() => {
        if (page.columns === null) askColumns();
      }, 4000);
    return;
  }
  const draft = draftChosen();
  const isMapped =
    draft === null ? mapFile(find("select.data").value, got.answer.guess) : await mapDraft(draft, got.answer);
  if (isMapped) {
    await askColumns();
    return;
  }
  sayMapping();
  const { answer: mapped = "", decimal = null, source = "" } = set ?? {};
  page.slip = slipOfFile(find("select.data").value, got.answer.problems, askColumns);
  page.given = { columns: got.answer.columns, answer: got.answer.answer, mapped, decimal, source };
  page.columns = givenNames();
  tell("columns");
}
