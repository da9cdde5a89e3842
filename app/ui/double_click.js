// Keeps the second click of a double click from what the first one brought to light: where a dialog or a bar closed, or
// opened, under the pointer, that click was never meant for what is there now. Whoever means it looks first.

const LAYER = "dialog, .layer"; // what lies over the page; .layer: a bar that comes and goes
const SOON = 700; // ms
const NEAR = 12; // px
let last = null; // the last press that went through: when, where, and in which layer
let swallows = false;

const layerOf = (node) => node.closest?.(LAYER) ?? null;
const isAgain = ({ timeStamp, clientX, clientY }) =>
  timeStamp - last.timeStamp < SOON &&
  Math.abs(clientX - last.clientX) < NEAR &&
  Math.abs(clientY - last.clientY) < NEAR;

function press(event) {
  const layer = layerOf(event.target);
  swallows = !!last && last.layer !== layer && isAgain(event);
  const { timeStamp, clientX, clientY } = event;
  if (!swallows) last = { timeStamp, clientX, clientY, layer };
}
function swallow(event) {
  const byPointer = event.isTrusted && event.detail + (event.pointerId ?? 0) > 0; // not by keyboard, or by a script
  if (!swallows || !byPointer) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}
export function guardDoubleClicks() {
  document.addEventListener("pointerdown", press, { capture: true });
  for (const name of ["pointerdown", "mousedown", "mouseup", "click", "dblclick"])
    document.addEventListener(name, swallow, { capture: true });
}
