// What was typed in place of a row's answer, by data, who answered and row: there again whenever the row is. And which
// rows of each data were shown last, so that it is when one comes back to the data.

import { tryStore } from "../../ui/browser_store.js";

const KEPT = "groupwise:rewards:answers";
const MOST = 60;
const answers = tryStore(() => new Map(JSON.parse(localStorage.getItem(KEPT)))) ?? new Map();
const keyOf = (data, from, row) => JSON.stringify([data, from, row]);

export const typedAnswer = (data, from, row) => answers.get(keyOf(data, from, row));
// What is as it was `given` is not kept.
export function keepAnswer(data, from, { row, text, given }) {
  const key = keyOf(data, from, row);
  answers.delete(key); // what was typed last is kept longest
  if (text !== given) answers.set(key, text);
  tryStore(() => localStorage.setItem(KEPT, JSON.stringify([...answers].slice(-MOST))));
}

const rows = new Map();
export const rowsShownOf = (data) => rows.get(data);
export const keepRowsShown = (data, shown) =>
  rows.set(
    data,
    shown.map(({ row }) => row),
  );
