// A file that a run used before is read and mapped as that run did, as soon as it is chosen; one that was set here
// before, as it was set. It is said, with a button that takes it back.

import { el } from "../../ui/dom.js";
import { edit, isPending, onView, page, plainAt, shownAt } from "./core.js";

const node = el("p.s.past-reading", { role: "status", hidden: true });
const LISTS = ["data.columns"];
let paths = [];
const left = {}; // a file → the edits that set it as it was when another was chosen
// {source, words, rows: the conditions by which that run left rows out, as: the settings that the words speak of, once
// they are shown}
let said = null;

const settingsNow = () => JSON.stringify(editsNow());
const pastOf = (source) => page.form.files.find((one) => one.value === source)?.past;
const setting = (path, value) => (value === undefined ? { path, remove: true } : { path, value });
function editsNow() {
  const isNull = (path) => page.view?.empty?.[path] === null;
  return paths.map((path) => {
    if (LISTS.includes(path)) return setting(path, plainAt(path) ?? undefined);
    if (isNull(path)) return { path, value: null };
    return shownAt(path) === "" ? { path, remove: true } : { path, typed: shownAt(path) };
  });
}

// What belongs to the file that is left is kept for when it is chosen again.
export function keepReading() {
  const [source, edits] = [shownAt("data.source"), editsNow()];
  if (/^file:./.test(source) && edits.some(({ remove }) => !remove)) left[source] = edits;
}
// The edits that read and map this file as it last was; none where nothing is known of it.
export function pastReading(source) {
  const past = pastOf(source);
  const here = left[source];
  said = null;
  if (here) say(source, "Read and mapped as you set it here before.");
  else if (past) say(source, `Read and mapped as in run “${past.run}”.`, past.data["data.filter"]);
  return here ?? (past ? paths.map((path) => setting(path, past.settings[path])) : []);
}
function say(source, words, rows = []) {
  said = { source, words, rows, as: null };
}
const FILTER = "data.filter";
// Which rows a run uses is its own affair: that this one uses others than that run is said, with the way to those.
function takeRows() {
  edit([{ path: FILTER, value: said.rows }]);
}
function readAnew() {
  delete left[said.source];
  said = null;
  edit(paths.map((path) => ({ path, remove: true })));
}
function show() {
  if (said && !paths.some(isPending) && !isPending("data.source")) {
    said.as ??= settingsNow();
    if (said.source !== shownAt("data.source") || said.as !== settingsNow()) said = null;
  }
  node.hidden = !said;
  if (!said) return;
  const isOther = said.rows.length > 0 && JSON.stringify(plainAt(FILTER) ?? []) !== JSON.stringify(said.rows);
  const words = isOther ? `${said.words} It used only the rows where ${said.rows.join(" and ")}.` : said.words;
  if (node.firstChild?.textContent === words) return;
  const button = (does, label) => el("button.link.s", { type: "button", onclick: does }, label);
  const buttons = [...(isOther ? [button(takeRows, "Use only those")] : []), button(readAnew, "Read it as a new file")];
  node.replaceChildren(el("span", words), ...buttons.flatMap((one, n) => [n ? " · " : " ", one]));
}
export function drawPastReading(after) {
  paths = page.form.past_settings;
  after.after(node);
  onView(show);
}
