// The bar that offers to take back what was just done: for some seconds, and no shorter than one looks at it.

import { setText } from "../../ui/dom.js";
import { find } from "./core.js";

const SHOWN = 10_000; // ms
const bar = find(".undo");
let timer = null;
let takeBack = null;

const later = () => {
  clearTimeout(timer);
  timer = setTimeout(() => (bar.matches(":hover, :focus-within") ? later() : close()), SHOWN);
};
function close() {
  clearTimeout(timer);
  bar.hidden = true;
}
export function offerUndo(words, does) {
  setText(bar.querySelector("span"), words);
  takeBack = does;
  bar.hidden = false;
  later();
}
bar.querySelector("button").addEventListener("click", () => {
  close();
  find(".search").focus();
  takeBack?.();
});
