// A name that may have no room for all of it.

import { el, steady } from "./dom.js";

// A name in two parts, the second of which is kept where there is no room for both: copies differ at their ends. It
// begins between two words where it can, and within no sign that is made of several; “” of a name that is short.
const [KEPT, SHORT] = [12, 24]; // signs
export function endApart(name) {
  const signs = [...new Intl.Segmenter("en").segment(name)].map(({ segment }) => segment);
  if (signs.length <= SHORT) return [name, ""];
  const from = signs.length - KEPT;
  const between = signs.findIndex((sign, at) => at >= from && at < signs.length - 1 && /[\s_./-]/.test(sign));
  const cut = between < 0 ? from : between;
  return [signs.slice(0, cut).join(""), signs.slice(cut).join("")];
}
// A name that is cut in its middle where there is no room for all of it: the text is the whole.
export function nameOf(name) {
  const [start, end] = endApart(steady(name));
  return end ? el("bdi.kept-end", el("span", start), el("span", end)) : el("bdi", name);
}
