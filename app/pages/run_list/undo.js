// The bar that offers to take back what was just done: for a minute, no shorter than one looks at it, and of what was
// deleted also after the page was left or loaded anew. That lies longer under Deleted, where it leads.

import { setParams } from "../../ui/address.js";
import { tryStore } from "../../ui/browser_store.js";
import { setText, show } from "../../ui/dom.js";
import { change, find, look, tableBox } from "./core.js";

const SHOWN = 60_000; // ms
const KEY = "groupwise:undo";
const bar = find(".undo");
let timer = null;
let offer = null;

const isOfDeleted = () => offer?.call === "restore_runs";
const keepOffer = () => tryStore(() => sessionStorage.setItem(KEY, JSON.stringify(isOfDeleted() ? offer : null)));
const closeAfter = (wait) => {
  clearTimeout(timer);
  timer = setTimeout(() => (bar.matches(":hover, :focus-within") ? closeAfter(SHOWN / 6) : close()), wait);
};
function close() {
  clearTimeout(timer);
  offer = null;
  keepOffer();
  show(bar, false, tableBox);
}
function open() {
  setText(bar.querySelector("span"), offer.words);
  bar.querySelector(".where").hidden = !isOfDeleted() || look.deleted;
  bar.hidden = false;
  closeAfter(offer.until - Date.now());
}
// `call`: the change of these runs that takes it back.
export function offerUndo(words, call, ids) {
  offer = { words, call, ids, until: Date.now() + SHOWN };
  keepOffer();
  open();
}
export function recallUndo() {
  offer = tryStore(() => JSON.parse(sessionStorage.getItem(KEY)));
  if (offer?.until > Date.now() && Array.isArray(offer.ids)) open();
}
export const isUndoOffered = () => !bar.hidden;
export function takeBack() {
  const { call, ids } = offer;
  close();
  change(call, { ids });
}
bar.querySelector(".back").addEventListener("click", takeBack);
bar.querySelector(".where").addEventListener("click", () => {
  close();
  setParams({ deleted: "1", q: null, state: null, n: null }, { push: true });
});
bar.querySelector(".shut").addEventListener("click", close);
