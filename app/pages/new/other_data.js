// A function comes from Rewards, where it had other data than the draft that it is added to, or the same file was read
// and mapped otherwise: said beside what came of it, with a button that takes that, until the draft has it.

import { el } from "../../ui/dom.js";
import { isSameReading } from "../../ui/file_readings.js";
import { takeDataOf } from "../../ui/run_drafts.js";
import { cut, listed } from "../../ui/text.js";
import { edit, find, onView, page, shownAt } from "./core.js";
import { dataWords, isDataChosen } from "./data_names.js";

let had = null; // {source, taking}
let isTaken = false; // whether the draft's file is read as it was there, as nobody had said yet how
const line = el("div.row.tight.wrap.other-data", { hidden: true });
const take = el("button.btn.s", { type: "button", onclick: () => edit([{ fix: missing() }]) });

export function noteDataOf(reward) {
  had = takeDataOf(reward);
  isTaken = Boolean(had) && isOfDraft() && !Object.keys(readingNow()).length && readOtherwise().length > 0;
  if (isTaken) edit([{ fix: missing() }], { own: true });
  drawOtherData();
}
const sourceNow = () => shownAt("data.source") || "task:arithmetic";
const isOfDraft = () => had.source === sourceNow();
const readingNow = () => page.view?.reading ?? {};
// The settings of how the file is read and mapped that are others in the draft; none where nothing was set there.
function readOtherwise() {
  const [there, now, paths] = [had.taking.settings, readingNow(), page.form.past_settings];
  const one = (settings, path) => (path in settings ? { [path]: settings[path] } : {});
  const isSet = paths.some((path) => path in there);
  return isSet ? paths.filter((path) => !isSameReading(one(there, path), one(now, path))) : [];
}
// What gives the draft that data; where it has the same file, only how that is read.
function missing() {
  if (!isOfDraft()) return had.taking;
  const [there, paths] = [had.taking.settings, readOtherwise()];
  const settings = Object.fromEntries(paths.filter((path) => path in there).map((path) => [path, there[path]]));
  return { settings, removed: paths.filter((path) => !(path in there)) };
}
// The line, as it is now.
export function drawOtherData() {
  const paths = had && isOfDraft() ? readOtherwise() : [];
  line.hidden = !had || (isOfDraft() && !paths.length && !isTaken);
  if (line.hidden) return line;
  if (isTaken) line.replaceChildren(el("span", `${fileWords()} is read and mapped as on the Rewards page.`));
  else line.replaceChildren(el("span", paths.length ? wordsOfReading(paths) : wordsOfData()), take);
  return line;
}
const fileWords = () => cut(dataWords(had.source), 60);
const labelOf = (path) => page.form.fields.find((one) => one.path === path)?.label ?? path;
function wordsOfReading(paths) {
  take.textContent = "Read it as there";
  return `On the Rewards page, ${fileWords()} was read differently: ${listed(paths.map(labelOf))}.`;
}
function wordsOfData() {
  const now = sourceNow();
  const has = isDataChosen(now) ? `has ${dataWords(now)}` : "has no data yet";
  take.textContent = `Use ${dataWords(had.source)}`;
  return `On the Rewards page, the data was ${dataWords(had.source)}; this draft ${has}.`;
}
onView(() => {
  if (isTaken && (!isOfDraft() || readOtherwise().length)) isTaken = false; // it was set otherwise since
  if (!find(".handed").hidden) drawOtherData();
});
