// What is pasted or dropped is measured before it goes into a box of this page.

import { limitPaste } from "../../ui/paste_limit.js";
import { page, root, trouble } from "./core.js";

const BLOCK_TEXT = 20_000; // characters of a box of the builder or of a completion
const size = (length) =>
  length < 1024 ** 2 ? `${Math.ceil(length / 1024)} KB` : `${(length / 1024 ** 2).toFixed(1)} MB`;
let refused = false;
const boxOf = ({ target }) => target.closest?.("textarea, input, .ace") ?? null;

function roomFor(event) {
  const box = boxOf(event);
  if (!box) return Infinity;
  return box.matches(".ace, .paste") || box.closest(".ace") ? page.about.most_code : BLOCK_TEXT;
}
function refuse(text, event) {
  const most = size(roomFor(event));
  const words = `This text is ${size(text.length)}: the limit here is ${most}. Nothing was changed.`;
  const dialog = boxOf(event).closest("dialog");
  if (dialog) dialog.querySelector(".said").textContent = words;
  else {
    trouble(words);
    refused = true;
  }
}
// What was said of a refusal goes as soon as something else is typed.
function takeBack(event) {
  if (!refused || !boxOf(event)) return;
  refused = false;
  trouble("");
}
export function guardPastes() {
  limitPaste(root, roomFor, refuse);
  root.addEventListener("input", takeBack);
}
