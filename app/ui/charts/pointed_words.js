// At which step the figures in a chart's head were logged, while the pointer or the keyboard is at one: each is that of
// the point nearest to it, and no mean of the last steps, as they are otherwise.

import { el, setText } from "../dom.js";
import { Plots } from "./plots.js";

// `curves`: of the lines of the chart; "" where none has a point.
function sayPointedStep(curves, step) {
  const near = curves.filter((curve) => curve?.x.length).map(({ x }) => x[Plots.nearest(x, step)]);
  if (!near.length) return "";
  const isOne = near.every((one) => one === near[0]) && !curves.some((curve) => curve?.low);
  return isOne ? `at step ${near[0].toLocaleString("en")}` : `near step ${Math.round(step).toLocaleString("en")}`;
}

// `values`: where the figures stand; `step`: null where nothing is pointed at.
export function showPointedStep(values, curves, step) {
  const words = step === null ? "" : sayPointedStep(curves, step);
  const at = values.querySelector(".at") ?? (words ? values.appendChild(el("span.at.xs")) : null);
  if (at) setText(at, words);
}
