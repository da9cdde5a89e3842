// The table by keyboard: ↑ ↓ from box to box, with Shift all between; F2 renames, Delete deletes, Esc lets go, and /
// searches. Ctrl+Z takes back what the bar offers to.

import { chosen, forgetChosen, pick, remove, removeChosen } from "./chosen.js";
import { boxes, find, look, page } from "./core.js";
import { edit } from "./editing.js";
import { isUndoOffered, takeBack } from "./undo.js";

const isWriting = (node) => node.matches("input:not([type=checkbox]), textarea, select, [contenteditable]");

function step(box, by, range) {
  const there = boxes();
  const next = there[there.indexOf(box) + by];
  if (!next) return;
  next.focus();
  if (!range) return;
  for (const one of [box, next]) {
    one.checked = true;
    pick(one, false);
  }
}
const removeHere = (row) => (chosen.size ? removeChosen() : remove([row.dataset.run]));
function inRow(event, row) {
  const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (move && event.target.matches(".pick input")) step(event.target, move, event.shiftKey);
  else if (event.key === "F2" && !look.deleted) edit(row, "name");
  else if (event.key === "Delete" && !look.deleted) removeHere(row);
  else return;
  event.preventDefault();
}
page.addEventListener("keydown", (event) => {
  if (isWriting(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
  const row = event.target.closest("tbody tr");
  if (row) inRow(event, row);
  if (event.key === "Escape" && chosen.size && !event.target.closest("dialog")) forgetChosen();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || isWriting(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  find(".search").focus();
});
document.addEventListener("keydown", (event) => {
  const isUndo = /^z$/i.test(event.key) && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
  if (!isUndo || isWriting(event.target) || document.querySelector("dialog[open]") || !isUndoOffered()) return;
  event.preventDefault();
  takeBack();
});
