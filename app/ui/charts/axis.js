// What the charts are drawn along: steps, tokens or time. Curves are kept by step; the other two are read off the
// run's own curves of them, between two logged steps in a straight line.

import { neighbours } from "../number.js";

export const AXES = {
  step: { of: null, words: "Steps" },
  tokens: { of: "num_tokens", words: "Tokens", missing: "This run has logged no num_tokens." },
  time: { of: "time/elapsed", words: "Time", missing: "This run has logged no time/elapsed." },
};
const UNITS = [
  [7200, 3600, " h"],
  [120, 60, " min"],
  [0, 1, " s"],
]; // from so many seconds on, in so many

export class Axis {
  constructor(name, curves) {
    this.name = name;
    this.curves = curves;
    this.refresh();
  }

  static has(name, curves) {
    return !AXES[name]?.of || (curves.get(AXES[name].of)?.y.some((value) => value !== null) ?? false);
  }

  // Reads the curve again: what came since may move the newest points.
  refresh() {
    const { of } = AXES[this.name];
    this.table = of ? Axis.rising(this.curves.get(of)) : null;
    const longest = this.table?.y.at(-1) ?? 0;
    const unit = this.name === "time" ? UNITS.find(([from]) => longest >= from) : null;
    [, this.scale, this.suffix] = unit ?? [0, 1, ""];
  }
  get key() {
    return `${this.name} ${this.scale}`;
  }
  get plain() {
    return this.table === null;
  }

  // Known points from (0, 0) on, never falling, so that there is one step for each place.
  static rising(curve) {
    const x = [0];
    const y = [0];
    curve?.x.forEach((step, i) => {
      const value = curve.y[i];
      if (value === null || step <= x.at(-1) || value <= y.at(-1)) return;
      x.push(step);
      y.push(value);
    });
    return { x, y };
  }

  // Where a step stands; `own` is the curve that an earlier attempt logged.
  at(step, own = null) {
    if (this.plain) return step;
    const table = own ? Axis.rising(own) : this.table;
    return Axis.read(table.x, table.y, step) / this.scale;
  }
  all(steps, own = null) {
    if (this.plain) return steps;
    const table = own ? Axis.rising(own) : this.table;
    return steps.map((step) => Axis.read(table.x, table.y, step) / this.scale);
  }
  step(place) {
    return this.plain ? place : Axis.read(this.table.y, this.table.x, place * this.scale);
  }

  // Between two points in a straight line, and on in the last one beyond them.
  static read(from, to, value) {
    if (from.length < 2) return value;
    const [low, high] = neighbours(from, value);
    return to[low] + ((value - from[low]) / (from[high] - from[low])) * (to[high] - to[low]);
  }

  get layout() {
    const title = { step: "step %{x:,.10~g}", tokens: "%{x:.4~s} tokens", time: `%{x:.4~g}${this.suffix}` }[this.name];
    const short = this.name === "tokens" || (this.plain && this.curves.lastStep >= 1e4);
    return {
      ticksuffix: this.suffix,
      showticksuffix: "last",
      unifiedhovertitle: { text: title },
      tickformat: short ? "~s" : ",.4~g",
    };
  }
}
