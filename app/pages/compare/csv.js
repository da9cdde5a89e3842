// Compare's tables as CSV files, with every digit. A cell that a spreadsheet would run as a formula begins with a '
// (app/server/exports.py).

import { download } from "../../ui/dom.js";
import { find } from "./core.js";
import { isSolvedKnown } from "./prompts.js";
import { COLUMNS } from "./tables.js";

const FORMULA = /^[=+\-@\t\r]/;

function cellText(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value); // a negative one is no formula
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
// RFC 4180; the first mark is what Excel knows UTF-8 by.
const toCsv = (rows) => `\ufeff${rows.map((row) => `${row.map(cellText).join(",")}\r\n`).join("")}`;

const names = (runs) => runs.filter(({ there }) => there).map(({ name }) => name);
export const settingRows = (runs, fields) => [
  ["setting", "name", ...names(runs)],
  ...fields.map(({ label, name, values }) => [
    label,
    name,
    ...values.filter((_, i) => runs[i]?.there).map((value) => value && (value.number ?? value.words)),
  ]),
];
export const finalRows = (runs) => [
  ["run", "id", "state", "reason", ...COLUMNS.map(([, title]) => (title === "time" ? "time (s)" : title))],
  ...runs.map((run) => [run.name, run.id, run.label, run.reason, ...COLUMNS.map(([key]) => run.final?.[key] ?? null)]),
];
// Of each run what share it solved of a prompt at first and at last; the mean reward of both where neither end has
// anything that tells what is right.
export function promptRows(runs, rows) {
  const ends = (one) => {
    if (!one) return [null, null];
    const key = isSolvedKnown(one) ? "solved" : "mean";
    return [one.first[key], one.last[key]];
  };
  return [
    ["prompt", ...names(runs).flatMap((name) => [`${name}, first`, `${name}, last`])],
    ...rows.map((row) => [row.prompt, ...row.runs.filter((_, i) => runs[i]?.there).flatMap(ends)]),
  ];
}

// The button in a table's section saves what `rows()` gives by then.
export function offerCsv(section, name, rows) {
  find(`${section} .csv`).addEventListener("click", () =>
    download(`compare-${name}.csv`, toCsv(rows()), "text/csv;charset=utf-8"),
  );
}
