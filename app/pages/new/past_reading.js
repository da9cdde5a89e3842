// A file that is chosen is read and mapped as it last was, by a run or as it was set in this browser
// (ui/file_readings.js), as soon as it is chosen. It is said, with a button that takes it back.

import { el } from "../../ui/dom.js";
import { forgetReading, isSameReading, keepReading, readingOf } from "../../ui/file_readings.js";
import { edit, isPending, onView, page, plainAt, shownAt } from "./core.js";

const node = el("p.s.past-reading", { role: "status", hidden: true });
// {source, words, rows: the conditions by which that run left rows out, as: the settings that the words speak of, once
// they are shown}
let said = null;
let seen = null; // {source, reading} as they were shown last
let left = null; // {source, reading: another file's mapping, which was left standing with this one, once it is shown}

const fileOf = (source) => page.form.files.find((one) => one.value === source) ?? { value: source };
const isFile = (source) => /^file:./.test(source);
const setting = (path, value) => (value === undefined ? { path, remove: true } : { path, value });
const set = (reading) => page.form.past_settings.map((path) => setting(path, reading[path]));

// What belongs to the file that is left is kept for when it is chosen again, but not what is another's.
function keepOfLeft() {
  const [source, { reading = {} }] = [shownAt("data.source"), page.view];
  const isAnothers = left?.source === source && isSameReading(left.reading, reading);
  if (isFile(source) && Object.keys(reading).length && !isAnothers) keepReading(fileOf(source), reading);
}
// The edits that read and map this file as it last was; none where nothing is known of it.
export function pastReading(source) {
  keepOfLeft();
  const known = readingOf(fileOf(source));
  said = null;
  left = known ? null : { source, reading: null };
  if (!known) return [];
  const { past } = known;
  if (past) say(source, `Read and mapped as in run “${past.run}”.`, past.data["data.filter"]);
  else say(source, "Read and mapped as you set it here before.");
  return set(known.settings);
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
  forgetReading(fileOf(said.source));
  said = null;
  edit(set({}));
}
// How a file is read is kept as soon as it is set: Rewards, and another tab, read it so, too. A text that says nothing
// of it, where one said several things, is another text, and takes nothing back.
const isOtherText = (before, now) => !Object.keys(now).length && Object.keys(before).length > 1;
function follow({ reading }) {
  const source = shownAt("data.source");
  if (left?.source === source) left.reading ??= reading;
  else left = null;
  const isOfSame = seen?.source === source && isFile(source);
  const isSet = isOfSame && !isSameReading(seen.reading, reading) && !isOtherText(seen.reading, reading);
  if (isSet) keepReading(fileOf(source), reading);
  seen = { source, reading };
}
function show(view) {
  const paths = page.form.past_settings;
  if (!paths.some(isPending) && !isPending("data.source")) {
    follow(view);
    if (said) {
      said.as ??= view.reading;
      if (said.source !== shownAt("data.source") || !isSameReading(said.as, view.reading)) said = null;
    }
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
  after.after(node);
  onView(show);
}
