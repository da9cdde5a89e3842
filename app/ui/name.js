// A name that may have no room for all of it.

import { el, steady } from "./dom.js";

// A name in two parts, the second of which is kept where there is no room for both: copies differ at their ends. It
// begins between two words where it can, and within no sign that is made of several; “” of a name that is short,
// or is written from right to left anywhere: two parts would be put in order each by itself.
const [KEPT, SHORT] = [12, 24]; // signs
const FROM_RIGHT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
export function endApart(name) {
  const signs = [...new Intl.Segmenter("en").segment(name)].map(({ segment }) => segment);
  if (signs.length <= SHORT || FROM_RIGHT.test(name)) return [name, ""];
  const from = signs.length - KEPT;
  const between = signs.findIndex((sign, at) => at >= from && at < signs.length - 1 && /[\s_./-]/.test(sign));
  const word = signs.findIndex((sign, at) => at >= between && /\S/.test(sign)); // no blank is left behind the “…”
  const cut = between < 0 ? from : Math.max(between, word);
  return [signs.slice(0, cut).join(""), signs.slice(cut).join("")];
}
// How many signs of a name a hover label of this chart has room for, beside the curves: few on a phone.
export const hoverRoom = (plot) => (plot.closest(".panel").clientWidth < 420 ? 18 : 28);
// At most so many signs of a name, for where nothing can cut it as it is drawn: without its middle, or its end.
export function shortName(name, most) {
  const signs = [...new Intl.Segmenter("en").segment(name)].map(({ segment }) => segment);
  if (signs.length <= most) return name;
  const [, end] = endApart(name);
  const kept = most - 1 - [...new Intl.Segmenter("en").segment(end)].length;
  return end && kept > 0
    ? `${signs.slice(0, kept).join("").trimEnd()}…${end}`
    : `${signs.slice(0, most - 1).join("")}…`;
}
// A name that is cut in its middle where there is no room for all of it, or at its end: the text is the whole.
export function nameOf(name) {
  const [start, end] = endApart(steady(name));
  if (end) return el("bdi.kept-end", el("span", start), el("span", end));
  return FROM_RIGHT.test(name) ? el("bdi.cut-end", el("span", name)) : el("bdi", name);
}
