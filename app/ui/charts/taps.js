// A finger on a figure: the first tap shows what is under it, as a mouse does that points there; a second one on the
// same point leads on. A click of a mouse leads on at once.

const NEAR = 12; // pixels: what a finger that means the same place misses it by

export class Taps {
  static finger = false;
  static shown = null; // {node, point, at} of the tap before

  // The point that a click on a figure leads on from, of what Plotly says of the click; null where it only shows it.
  static leadsOn(node, { points: [point], event }) {
    const before = Taps.shown;
    Taps.shown = null;
    if (!Taps.finger) return point;
    const at = [event.clientX, event.clientY];
    if (before?.node === node && Taps.same(before, { point, at })) return before.point;
    Taps.shown = { node, point, at };
    return null;
  }
  static same(before, now) {
    const [across, up] = [0, 1].map((n) => now.at[n] - before.at[n]);
    return Math.hypot(across, up) <= NEAR || (before.point.x === now.point.x && before.point.y === now.point.y);
  }
}
document.addEventListener(
  "pointerdown",
  ({ pointerType, target }) => {
    Taps.finger = pointerType === "touch";
    if (!Taps.shown?.node.contains(target)) Taps.shown = null; // then what it showed is gone
  },
  { capture: true, passive: true },
);
