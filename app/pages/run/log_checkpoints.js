// Checkpoints that were saved one after the other are one line of the log, which opens. It stands for them where
// nothing else is seen between them: not where metric lines, or those of libraries, are shown (log.css). A line that
// has the searched words is shown all the same.

import { el } from "../../ui/dom.js";
import { stepRange, wholeNumber } from "../../ui/number.js";

const SAVED = / Checkpoint saved at step (\d+)\. —$/;
const FEW = 3; // in a row, from which on they are one line
const UNSEEN = ".metrics, .of-library, .again, .past-state";
let row = []; // those at the end of the log so far: {node, step}
let button = null; // that stands for them

export function forgetSaved() {
  [row, button] = [[], null];
}
// Of lines that were just added.
export function foldSaved(nodes) {
  for (const node of nodes) {
    const step = node.matches(".ours") ? SAVED.exec(node.words)?.[1] : undefined;
    if (step !== undefined) row.push({ node, step: Number(step) });
    else if (!node.matches(UNSEEN)) forgetSaved();
    if (step !== undefined && row.length >= FEW) draw();
  }
}
// Whether a line is seen, or is one that another stands for.
export const isShown = (node) =>
  node.matches("div") && (node.matches(".saved-too") || node.getClientRects().length > 0);
function draw() {
  const those = row;
  button ??= el("button.link.saved", { type: "button", "aria-expanded": "false" });
  if (!button.isConnected) those[0].node.before(button);
  const here = button;
  const open = () => here.getAttribute("aria-expanded") === "true";
  const lay = () => those.forEach(({ node }) => node.classList.toggle("saved-too", !open()));
  here.textContent = `${wholeNumber(those.length)} checkpoints saved, ${stepRange([those[0].step, those.at(-1).step])}`;
  here.onclick = () => {
    here.setAttribute("aria-expanded", `${!open()}`);
    lay();
  };
  lay();
}
