// How the chosen data file is read: what was found, in words, with the first rows as they stand in the file, and what
// can be chosen instead.

import { el, option, setText } from "../../ui/dom.js";
import { countWords, wholeNumber } from "../../ui/number.js";
import { visibleText } from "../../ui/visible_text.js";
import { edit, find, isPending, onEdited, onPreview, onView, page, settleIn, shownAt } from "./core.js";
import { about, field, setValue } from "./fields.js";

const OF_KIND = {
  csv: ["data.separator", "data.encoding", "data.quote", "data.skip_lines", "data.heading"],
  json: ["data.encoding"],
  sheet: ["data.sheet", "data.skip_lines", "data.heading"],
  parquet: [],
};
// Of a file that could not be read its name alone says what could be chosen.
function kindByName(name) {
  const plain = name.toLowerCase().replace(/\.gz$/, "");
  if (/\.(json|jsonl)$/.test(plain)) return "json";
  if (/\.(xlsx|xls|ods)$/.test(plain)) return "sheet";
  return /\.(csv|tsv|txt)$/.test(plain) ? "csv" : "parquet";
}
const OF_SHEET = ["data.skip_lines", "data.heading"];
const READING = "Reading the data…";
const preview = find(".preview");
const TEXTS = ["data.separator", "data.encoding", "data.quote"];
const node = find(".read-as");
const words = el("b");
const rows = el("span.mut");
const told = el("p.s", { role: "status" }, el("span.mut", "Read as: "), words, rows);
const again = el("p.s", { role: "status", hidden: true }, READING);
const table = el("table.raw");
const scroll = el("div.scroll", { tabindex: "0", role: "region", "aria-label": "The first rows of the file" }, table);
const sheet = el("div.which-sheet");
const choices = el("div.cards.four");
const change = el("details", el("summary.s", "Change how it is read"), choices);
const controls = {};
const ofSheets = new Map(); // what was chosen of how each sheet is read
let sheetNow = "";
let foundSheet = "";
let source = null; // of which the answer speaks
let found = null;
let sheets = []; // of the workbook, also where the one that is read cannot be
let failed = false;
let readingOf = null; // the key of how the file was read that the answer speaks of

const isFile = () => shownAt("data.source").startsWith("file:");
const wordsOf = (path, value) => page.form.file_words[path]?.[value] ?? String(value ?? "");

function makeControls() {
  for (const path of [...TEXTS, "data.sheet", "data.heading"])
    controls[path] = field(about(path), { input: el("select.input", { "aria-label": about(path).label }) });
  controls["data.skip_lines"] = field(about("data.skip_lines"));
  choices.append(...Object.values(controls));
  drawSheet();
  controls["data.sheet"].querySelector("select").addEventListener("input", readSheetAnew);
}
// Where a sheet begins and whether it has a heading is of that sheet alone; back on it, it is as it was.
function readSheetAnew({ target }) {
  ofSheets.set(sheetNow, Object.fromEntries(OF_SHEET.map((path) => [path, shownAt(path)])));
  sheetNow = nameOf(target.value);
  const kept = ofSheets.get(sheetNow) ?? {};
  const changed = OF_SHEET.filter((path) => (kept[path] ?? "") !== shownAt(path));
  const set = (path) => (kept[path] ? { path, typed: kept[path] } : { path, remove: true });
  if (changed.length) edit(changed.map(set), { now: true });
}
// The sheet that is read where none is chosen has its name, too.
const nameOf = (chosen) => chosen || foundSheet || "";
// Of several sheets the choice stands in sight: which one is read changes everything.
function drawSheet() {
  sheet.hidden = sheets.length < 2;
  const control = controls["data.sheet"];
  const place = sheet.hidden ? choices : sheet;
  if (control.parentElement !== place) place.prepend(control);
  if (sheet.hidden) return;
  if (!sheet.lastChild.matches?.("p")) sheet.append(el("p.s.mut"));
  const why = found?.found.includes("data.sheet") ? ": the table with the most rows" : "";
  const which = failed ? "can be read" : `is read${why}`;
  setText(sheet.lastChild, `One of ${sheets.length} sheets ${which}.`);
}
// “found: semicolons” first, then all there is to choose from.
function fill(path) {
  const box = controls[path].querySelector("select");
  if (!box) return;
  const names = path === "data.sheet" ? sheets : Object.keys(page.form.file_words[path]);
  const was = found?.found.includes(path) ? `found: ${wordsOf(path, found.settings[path])}` : "find it";
  const key = JSON.stringify([names, was]);
  if (box.dataset.key !== key) {
    box.dataset.key = key;
    box.replaceChildren(option("", was), ...names.map((name) => option(name, wordsOf(path, name))));
  }
  setValue(box, shownAt(path));
}
// Of a wide table only the first columns are shown.
const columnWords = ({ heading, columns }) =>
  columns > heading.length ? `; ${heading.length} of ${wholeNumber(columns)} columns shown` : "";
function drawTable() {
  table.replaceChildren(
    el("thead", el("tr", ...found.heading.map((name) => el("th", { scope: "col" }, visibleText(name))))),
    el("tbody", ...found.lines.map((line) => el("tr", ...line.map((cell) => el("td", visibleText(cell)))))),
  );
}
// What is shown was read otherwise than is chosen now.
function markOld(isOld) {
  again.hidden = !isOld;
  told.hidden = isOld;
  for (const one of [node, preview]) one.classList.toggle("reread", isOld);
  const wait = preview.querySelector(".wait");
  if (isOld) setText(wait, READING);
  else if (!preview.classList.contains("asking") && wait.textContent === READING) setText(wait, "");
}
function show() {
  const isGone = !page.view?.keys?.preview; // the file is not there: there is nothing to choose of how it is read
  node.hidden = !isFile() || isGone || (!found && !source) || source !== shownAt("data.source");
  // an answer that was on its way when another way of reading was chosen is of the one before
  const isChanging = Object.keys(controls).some(isPending);
  markOld(!node.hidden && (isChanging || readingOf !== page.view.keys.reading));
  if (node.hidden) return;
  const ofKind = OF_KIND[found?.kind ?? kindByName(source)];
  for (const [path, control] of Object.entries(controls)) {
    control.hidden = !ofKind.includes(path);
    fill(path);
  }
  drawSheet();
  change.hidden = !ofKind.filter((path) => controls[path].parentElement === choices).length;
}
// An answer about the data that is shown. One that says why there is none leaves the choices, so that another can be
// made.
function take(answer) {
  const same = source === shownAt("data.source");
  source = shownAt("data.source");
  failed = Boolean(answer.error);
  readingOf = answer.reading;
  if (!same) {
    ofSheets.clear();
    foundSheet = "";
  }
  if (failed) {
    if (!same) found = null;
    sheets = answer.sheets ?? [];
    setText(words, "not readable this way");
    setText(rows, found ? "; choose otherwise below." : ".");
    scroll.hidden = true;
    change.open = change.open || Boolean(found) || answer.field in controls; // where the message stands
  } else {
    found = answer.read_as ?? null;
    sheets = found?.sheets ?? [];
    scroll.hidden = !found;
    if (found) {
      setText(words, found.words || (found.kind === "parquet" ? "Parquet" : found.kind.toUpperCase()));
      const { count, exact } = answer.rows;
      setText(rows, `, ${exact ? "" : "about "}${countWords(count, "row")}${columnWords(found)}`);
      drawTable();
      if (found.found.includes("data.sheet")) foundSheet = found.settings["data.sheet"];
      page.known.reading = { key: answer.reading, settings: found.settings };
      if (!find(".view-script").hidden) settleIn(0);
    } else source = null;
  }
  sheetNow = nameOf(shownAt("data.sheet"));
  show();
}
export function drawReadAs() {
  makeControls();
  node.append(told, again, sheet, scroll, change);
  onPreview(take);
  onEdited((changes) => {
    if (!node.hidden && changes.some(({ path }) => path in controls)) markOld(true);
  });
  onView(show);
}
