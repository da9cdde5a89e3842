// Keeps the second click of a double click from what the first one brought to light: where a dialog or a bar closed, or
// opened, under the pointer, or what was pressed is gone from there, that click was never meant for what is there now.
// Whoever means it looks first.

const LAYER = "dialog, .layer"; // what lies over the page; .layer: a bar that comes and goes
const SOON = 700; // ms
const NEAR = 12; // px
const CONTROL = "button, a[href], summary, label, input, select, textarea, [role=tab], [role=option]";
let last = null; // the last press that went through: when, where, in which layer, and on what
let before = null; // the one before it
let swallows = false;

const layerOf = (node) => node.closest?.(LAYER) ?? null;
const isAgain = ({ timeStamp, clientX, clientY }) =>
  timeStamp - last.timeStamp < SOON &&
  Math.abs(clientX - last.clientX) < NEAR &&
  Math.abs(clientY - last.clientY) < NEAR;

// A list whose first row goes, or a control that is drawn anew, has the next one like it there: one may click on.
const looks = (control) => control && [control.tagName, control.className, control.textContent].join("\n");
const controlAt = ({ clientX, clientY }) => document.elementFromPoint(clientX, clientY)?.closest(CONTROL) ?? null;

function press(event) {
  const layer = layerOf(event.target);
  swallows = !!last && last.layer !== layer && isAgain(event);
  if (swallows) return;
  const { timeStamp, clientX, clientY } = event;
  const control = event.target.closest?.(CONTROL) ?? null;
  before = last;
  last = { timeStamp, clientX, clientY, layer, control, looks: looks(control) };
}
// Whether it is a double click, as the system counts them (a press of the pointer does not tell), and what was pressed
// first has gone from its place since, or something lies over it.
function pressAgain(event) {
  if (swallows || event.detail < 2 || !before?.control) return;
  const there = controlAt(before);
  swallows = there !== before.control && looks(there) !== before.looks;
  if (swallows) last = before;
}
function swallow(event) {
  const byPointer = event.isTrusted && event.detail + (event.pointerId ?? 0) > 0; // not by keyboard, or by a script
  if (!swallows || !byPointer) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}
export function guardDoubleClicks() {
  document.addEventListener("pointerdown", press, { capture: true });
  document.addEventListener("mousedown", pressAgain, { capture: true });
  for (const name of ["pointerdown", "mousedown", "mouseup", "click", "dblclick"])
    document.addEventListener(name, swallow, { capture: true });
}
