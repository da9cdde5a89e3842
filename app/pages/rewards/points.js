// What a block gives to an answer, and what a score is worth, beside the rows.

import { el } from "../../ui/dom.js";
import { number } from "../../ui/number.js";
import { page } from "./core.js";

const short = (value) =>
  number(value)
    .replace(/(\.\d*?)0+$/, "$1")
    .replace(/\.$/, "");
export const worth = (value) => (value === null || value === undefined ? "none" : short(value));
export function drawPoint(block, n, value) {
  const known = typeof value === "number";
  const lacking = block.kind === "number_equals" ? "no answer" : "none";
  const kind = !known ? "" : value >= 0.995 ? ".full" : value > 0 ? ".some" : ".nothing";
  const label = page.about.kinds[block.kind].label;
  return el(
    `span.point${kind}`,
    {
      title: known
        ? `Block ${n + 1} gives ${number(value)}; its weight is ${block.weight}`
        : "It gives this row no score, and does not count here",
    },
    el("span.number", String(n + 1)),
    `${label} `,
    el("b.num", known ? short(value) : lacking),
  );
}
