// What columns the chosen data gives to reward functions, with an example of each.

import { el } from "../../ui/dom.js";
import { cut } from "../../ui/text.js";
import { button, page } from "./core.js";
import { plain } from "./text.js";

// page.given: {columns: [{name, sample, decimal}], answer: the row's, null where none is mapped, mapped: its column's
// name, decimal: how that one wrote its numbers, where only these are kept};
// null where it is not known. The names that a function is given, “answer” first.
export function givenNames() {
  const { columns, answer } = page.given;
  const trls = ["prompt", "completion", ...Object.keys(page.about.trl)]; // of these TRL gives values of its own
  const names = columns.map((one) => one.name).filter((name) => !trls.includes(name));
  return [...new Set(answer === null ? names : ["answer", ...names])];
}
// The decimal mark that a column writes its numbers with; null where it does not say.
export function decimalOf(name) {
  if (!page.given) return null;
  const { columns, mapped, decimal } = page.given;
  const column = name === "answer" && mapped ? mapped : name;
  return (name === "answer" && decimal) || (columns.find((one) => one.name === column)?.decimal ?? null);
}
const example = (words, most = 40) => (words ? `e.g. ${cut(plain(words).replace(/\s+/g, " "), most)}` : "");
// A column in words: the mapped column “Antwort”, e.g. 58; where there is little room: “Antwort”, e.g. 58.
export function aboutColumn(name, isShort = false) {
  const { columns, answer, mapped, decimal } = page.given;
  const sampleOf = (column) => columns.find((one) => one.name === column)?.sample ?? "";
  const sample = sampleOf(name);
  const most = isShort ? 24 : 40;
  if (name !== "answer" || answer === null) return example(sample, most);
  const own = mapped && mapped !== "answer" ? mapped : "";
  const from = own
    ? isShort
      ? `“${cut(own, 20)}”`
      : `the mapped column “${cut(own, 30)}”`
    : `the right answer${isShort ? "" : " of the row"}`;
  // where only its number is kept, as the column writes it: so the block's setting says how numbers are written
  const written = (decimal && sampleOf(mapped)) || answer || sample;
  const compared = written !== answer && answer ? `compared as ${example(answer, most).replace("e.g. ", "")}` : "";
  return [from, example(written, most), compared].filter(Boolean).join(", ");
}
// A row's columns as “name: value”, none that says just the prompt; an answer of which only the number is kept stands
// once, with how its column writes it; one that a column has under a name of its own, with that name: the mapped
// column's, or, of rows whose mapping is not known, that of one that says the same.
export function columnsInWords(columns, most, prompt = null) {
  const inWords = (value) => cut(plain(typeof value === "string" ? value : JSON.stringify(value)), most);
  const mapped = page.given?.decimal ? page.given.mapped : "";
  const pair = mapped !== "answer" && mapped in columns && "answer" in columns;
  const only = page.given?.mapped in columns ? page.given.mapped : null;
  const isTwin = (name) =>
    !pair &&
    name !== "answer" &&
    "answer" in columns &&
    (only ?? name) === name &&
    !differ(columns[name], columns.answer);
  const twins = Object.keys(columns).filter(isTwin);
  const called = (name) => cut(plain(name), 30) + (name === "answer" && twins.length ? ` (${twins.map(plain)})` : "");
  const words = ([name, value]) =>
    pair && name === "answer"
      ? `answer: ${inWords(value)}${differ(value, columns[mapped]) ? ` (written ${inWords(columns[mapped])})` : ""}`
      : `${called(name)}: ${inWords(value)}`;
  return Object.entries(columns)
    .filter(([name, value]) => value !== prompt && !(pair && name === mapped) && !isTwin(name))
    .map(words);
}
const differ = (value, written) => String(value) !== String(written);
// [value, words] for each column that can be chosen; the one that is set stays, also where this data has none of it.
export function columnChoices(chosen) {
  const names = page.given ? givenNames() : [];
  const known = names.map((name) => [name, [name, aboutColumn(name, true)].filter(Boolean).join(": ")]);
  if (names.includes(chosen)) return known;
  return [[chosen, page.given ? `${chosen}: not in this data` : chosen], ...known];
}
export function columnList() {
  if (!page.given) return el("p.xs.mut", plain(page.notGiven) || "Reading the columns of the data…");
  const names = givenNames();
  const row = (name) => [el("dt.mono", cut(plain(name), 60)), el("dd", aboutColumn(name) || "empty")];
  return el(
    "details.columns",
    { open: names.length <= 6 },
    el("summary.s", "Columns of the data besides the prompt"),
    names.length ? el("dl.s", ...names.slice(0, 60).flatMap(row)) : el("p.s.mut", "None: it has prompts only."),
  );
}
// A name that the data has under another: the clicks that write that one, in the chosen function or also in the others
// of the text that take it. `rename(names of functions, old, meant)`.
export function waysToRename({ rename: [name, old, meant], also = [] }, rename) {
  const all = also.length === 1 ? "both functions" : `all ${also.length + 1} functions`;
  return [
    button(`Use “${meant}”`, () => rename([name], old, meant), "link s"),
    ...(also.length ? [" · ", button(`Use it in ${all}`, () => rename([name, ...also], old, meant), "link s")] : []),
  ];
}
