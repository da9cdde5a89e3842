// The run's curves as the browser keeps them: whole at first, then added to; a step comes once.
const MOST_POINTS = 4000; // then the whole is asked for again, in buckets
const MORE_POINTS = 1000; // where that is no shorter, not again before so many more have come

class Curves {
  constructor() { this.byName = new Map(); this.limit = MOST_POINTS; this.past = []; this.marks = []; this.odd = {}; }

  // Takes an answer of the server; for each name in it, what changed: "whole" or the number of points appended.
  take(answer) {
    const changed = new Map();
    if (answer.marks) this.marks = answer.marks;
    if (answer.reset) {
      for (const name of this.byName.keys()) changed.set(name, "whole"); // also of those that are no more
      this.byName.clear();
      this.past = answer.past ?? [];
      this.odd = answer.odd ?? {};
    }
    for (const [name, curve] of Object.entries(answer.curves)) {
      changed.set(name, answer.reset || !this.byName.has(name) ? this.replace(name, curve) : this.add(name, curve));
    }
    if (answer.reset) this.limit = Math.max(MOST_POINTS, this.longest + MORE_POINTS);
    return changed;
  }

  replace(name, curve) {
    const own = (values) => (values ? [...values] : null);
    this.byName.set(name, { x: own(curve.x), y: own(curve.y), low: own(curve.low), high: own(curve.high), of: curve.of ?? curve.x.length });
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
    curve.of += 1;
    if (curve.low) { curve.low.push(value); curve.high.push(value); }
  }

  get(name) { return this.byName.get(name); }
  get names() { return [...this.byName.keys()].sort(); }
  get longest() { return Math.max(0, ...[...this.byName.values()].map((curve) => curve.x.length)); }
  get tooLong() { return this.longest > this.limit; }
  get lastStep() { return Math.max(0, ...[...this.byName.values()].map((curve) => curve.x.at(-1) ?? 0)); }
  // Whether the training's own metrics have come, not only what is measured of each step's groups and time.
  get logged() { return this.names.some((name) => !Curves.ours(name)); }
  static ours(name) { return /^(eval_)?(groups|time|system)\//.test(name); }

  // How many values are NaN or infinite: those that are here, else those that the server counted.
  notFinite(name) {
    const curve = this.get(name);
    return Math.max(this.odd[name] ?? 0, curve?.y.filter((value) => value === null).length ?? 0);
  }

  last(name) { return this.get(name)?.y.findLast((value) => value !== null); }
  // The value at the step that is nearest to this one.
  near(name, step) {
    const curve = this.get(name);
    const at = curve ? Curves.nearest(curve.x, step) : -1;
    return at < 0 ? undefined : curve.y[at];
  }
  static nearest(steps, step) {
    let low = 0, high = steps.length - 1;
    while (high - low > 1) { const middle = (low + high) >> 1; if (steps[middle] <= step) low = middle; else high = middle; }
    return high < 0 ? -1 : Math.abs(steps[low] - step) <= Math.abs(steps[high] - step) ? low : high;
  }
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
  static over(values, on = true) { const smoother = new Smoother(on ? values.length : 0); return values.map((value) => smoother.next(value)); }
}
