// “Settings vs. final metrics” by keyboard: ← and → from axis to axis; ↓ and ↑ move the upper end of its stretch from
// run to run, with Shift the lower one; Delete lets the stretch go. To a screen reader it is a slider, whose value
// names the axis, its stretch and how many runs pass.

import { Plots } from "../../ui/charts/plots.js";
import { place } from "./axes.js";
import { through } from "./parallel.js";

const ALL = [-1, 2]; // also those without a value, below the axis

export class AxisKeyboardNav {
  // `now()` gives {axes, runs, chosen}: what is drawn, the runs by their place on the axes; `pick(full name, ends or
  // null)`.
  constructor(plot, now, pick) {
    Object.assign(this, { plot, now, pick, name: null });
    Plots.slider(plot, "Settings vs. final metrics, axis by axis", this);
  }

  // Where the axis's runs are, each place once, lowest first.
  static places(axis) {
    return [...new Set(place(axis).y.filter((y) => y !== null))].sort((a, b) => a - b);
  }
  // The first and the last of the places that a stretch holds.
  static within(places, [low, high]) {
    const first = places.findIndex((y) => y >= low - 0.001);
    const last = places.findLastIndex((y) => y <= high + 0.001);
    return [first < 0 ? places.length - 1 : first, Math.max(0, last)];
  }
  // A stretch around some of the places, a little wider where that takes in no other; null for all of them.
  static ends(places, first, last) {
    if (first === 0 && last === places.length - 1) return null;
    const low = places[first];
    const high = places[last];
    return [
      low - Math.min(0.02, (low - (places[first - 1] ?? -1)) / 2),
      high + Math.min(0.02, ((places[last + 1] ?? 2) - high) / 2),
    ];
  }

  at(axes) {
    return Math.max(
      0,
      axes.findIndex(({ full }) => full === this.name),
    );
  }
  press(event) {
    const { axes, chosen } = this.now();
    const along = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    const go = ["Delete", "Backspace"].includes(event.key);
    if (!axes.length || !Plots.ours(event) || !(along || by || go || event.key === "Escape")) return;
    event.preventDefault();
    const at = this.at(axes);
    const axis = axes[at];
    if (event.key === "Escape") return this.leave();
    if (along) this.name = axes[Math.max(0, Math.min(axes.length - 1, at + along))].full;
    else if (go) this.pick(axis.full, null);
    else this.pick(axis.full, AxisKeyboardNav.moved(axis, chosen.get(axis.full), by, event.shiftKey));
    this.again();
  }
  static moved(axis, ends, by, lower) {
    const places = AxisKeyboardNav.places(axis);
    const [first, last] = AxisKeyboardNav.within(places, ends ?? ALL);
    const most = places.length - 1;
    return lower
      ? AxisKeyboardNav.ends(places, Math.max(0, Math.min(last, first + by)), last)
      : AxisKeyboardNav.ends(places, first, Math.min(most, Math.max(first, last + by)));
  }

  words({ axes, runs, chosen }) {
    const axis = axes[this.at(axes)];
    const ends = chosen.get(axis.full);
    const passing = through(runs, axes, chosen).length;
    const places = AxisKeyboardNav.places(axis);
    const { y } = place(axis);
    const said = (n) => axis.words[y.indexOf(places[n])];
    const [first, last] = AxisKeyboardNav.within(places, ends ?? ALL);
    const stretch = !ends ? "all of it" : first === last ? said(first) : `${said(first)} to ${said(last)}`;
    return `${axis.title}: ${stretch}; ${passing} of ${runs.filter(({ there }) => there).length} runs pass`;
  }
  // Where it has the focus: around the axis, and what is chosen of it.
  again() {
    const now = this.now();
    if (!now.axes.length || !this.plot._fullLayout || !this.plot.matches(":focus-visible")) return;
    const at = this.at(now.axes);
    this.name = now.axes[at].full;
    Plots.tell(this.plot, { max: now.axes.length, now: at + 1, text: this.words(now) });
    Plots.frame(this.plot, [at, at], [-0.04, 1.04], 11);
  }
  leave() {
    Plots.unframe(this.plot);
  }
}
