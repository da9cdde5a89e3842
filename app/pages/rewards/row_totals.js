// What the rows score in all, in a line below the blocks: on a phone the rows themselves stand a screen or two below.

import { el, showText } from "../../ui/dom.js";
import { find } from "./core.js";

const line = find(".row-totals");
const live = find(".live");

// What each row scores, as it is written there.
export function drawTotals() {
  const scored = [...live.querySelectorAll(".row-of")].filter((row) => row.querySelector(".total b"));
  line.hidden = !scored.length;
  line.classList.remove("old");
  const total = (row) => [
    el("span.mut", `${row.getAttribute("aria-label")}: `),
    el("b.num", row.querySelector(".total b").textContent),
  ];
  line.replaceChildren(...scored.flatMap((row, n) => [n ? " · " : "", ...total(row)]));
}
export const markTotals = () => line.classList.add("old");

// What is said of each block stands in its card.
export function sayOfBlocks(words) {
  for (const [n, node] of [...find(".blocks").children].entries())
    showText(node.querySelector(".alike-here"), words[n]);
}
line.addEventListener("click", () => {
  live.scrollIntoView({ block: "start" });
  live.querySelector("textarea")?.focus({ preventScroll: true });
});
