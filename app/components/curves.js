// The run's curves as the browser keeps them: whole at first, then added to; a step comes once.
const MOST_POINTS = 4000; // then the whole is asked for again, in buckets
const MORE_POINTS = 1000; // where that is no shorter, not again before so many more have come

class Curves {
  constructor() { this.byName = new Map(); this.limit = MOST_POINTS; }

  // Takes an answer of the server; for each name in it, what changed: "whole" or the number of points appended.
  take(answer) {
    const changed = new Map();
    if (answer.reset) {
      for (const name of this.byName.keys()) changed.set(name, "whole"); // also of those that are no more
      this.byName.clear();
    }
    for (const [name, curve] of Object.entries(answer.curves)) {
      changed.set(name, answer.reset || !this.byName.has(name) ? this.replace(name, curve) : this.add(name, curve));
    }
    if (answer.reset) this.limit = Math.max(MOST_POINTS, this.longest + MORE_POINTS);
    return changed;
  }

  replace(name, curve) {
    const own = (values) => (values ? [...values] : null);
    this.byName.set(name, { x: own(curve.x), y: own(curve.y), low: own(curve.low), high: own(curve.high) });
    return "whole";
  }

  add(name, { x, y }) {
    const curve = this.byName.get(name);
    let appended = 0, rewritten = false;
    x.forEach((step, i) => {
      const last = curve.x.at(-1);
      if (last === undefined || step > last) { this.push(curve, step, y[i]); appended += 1; return; }
      const at = curve.x.lastIndexOf(step);
      if (at < 0 || curve.y[at] === y[i]) return;
      curve.y[at] = y[i];
      if (curve.low) curve.low[at] = curve.high[at] = y[i];
      rewritten = true;
    });
    return rewritten ? "whole" : appended;
  }

  push(curve, step, value) {
    curve.x.push(step);
    curve.y.push(value);
    if (curve.low) { curve.low.push(value); curve.high.push(value); }
  }

  get(name) { return this.byName.get(name); }
  get names() { return [...this.byName.keys()].sort(); }
  get longest() { return Math.max(0, ...[...this.byName.values()].map((curve) => curve.x.length)); }
  get tooLong() { return this.longest > this.limit; }

  last(name) { return this.get(name)?.y.findLast((value) => value !== null); }
  // Mean and standard deviation of the last n values.
  recent(name, n = 10) {
    const values = (this.get(name)?.y ?? []).filter((value) => value !== null).slice(-n);
    if (!values.length) return null;
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    return { mean, std: Math.sqrt(values.reduce((a, b) => a + (b - mean) ** 2, 0) / values.length), n: values.length };
  }
}

// An exponential mean without the usual pull to its first value, which can go on where it stopped.
class Smoother {
  constructor(points) { this.keep = points < 12 ? 0 : points < 30 ? 0.6 : points < 200 ? 0.8 : 0.92; this.sum = 0; this.weight = 0; }
  next(value) {
    if (value === null) return null;
    this.sum = this.keep * this.sum + (1 - this.keep) * value;
    this.weight = this.keep * this.weight + (1 - this.keep);
    return this.sum / this.weight;
  }
}
