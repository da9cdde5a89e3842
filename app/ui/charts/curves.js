// The run's curves as the browser keeps them: whole at first, then added to; a step comes once. Where a point of a long
// run is of many steps, its newest steps are kept as logged (`tail`) and drawn as points of as many.

import { countWords, stepRange } from "../number.js";
import { dotted } from "../text.js";
import { Logged } from "./logged.js";
import { Smoother } from "./smoother.js";

const MOST_POINTS = 4000; // then the whole is asked for again, in buckets
const MORE_POINTS = 1000; // where that is no shorter, not again before so many more have come

export class Curves {
  constructor() {
    this.byName = new Map();
    this.limit = MOST_POINTS;
    this.size = 1;
    this.past = [];
    this.marks = [];
    this.odd = {};
    this.window = 10; // logged steps that “now” is the mean of; the server says how many
    this.logs = []; // of the stage that trains: see logged.js
    this.interval = 1; // steps from one of TRL's logs to the next
  }

  // Takes an answer of the server; gives the names of those that have other points.
  take(answer) {
    const changed = new Set();
    if (answer.marks) this.marks = answer.marks;
    if (answer.reset) {
      for (const name of this.byName.keys()) changed.add(name); // also of those that are no more
      this.byName.clear();
      this.size = answer.bucket ?? 1;
      this.past = answer.past ?? [];
      this.odd = answer.odd ?? {};
    }
    for (const [name, curve] of Object.entries(answer.curves)) {
      if (answer.reset || !this.byName.has(name)) this.replace(name, curve);
      else if (!this.add(name, curve)) continue;
      changed.add(name);
    }
    if (answer.reset) this.limit = Math.max(MOST_POINTS, this.longest + MORE_POINTS);
    this.logs = this.logsOfStage(this.stageBegan());
    this.interval = Logged.interval(this.logs);
    return changed;
  }

  replace(name, { x, y, low, high, tail, of }) {
    const curve = { x: [...x], y: [...y], tail: null, of: of ?? x.length };
    if (low)
      Object.assign(curve, {
        low: [...low],
        high: [...high],
        tail: { x: [...tail.x], y: [...tail.y] },
        closed: x.length,
      });
    else if (this.size > 1)
      // came late
      Object.assign(curve, { x: [], y: [], low: [], high: [], tail: { x: curve.x, y: curve.y }, closed: 0 });
    if (curve.tail) this.fold(curve);
    this.byName.set(name, curve);
  }

  // Whether anything came of it.
  add(name, { x, y }) {
    const curve = this.byName.get(name);
    const newest = curve.tail ?? curve;
    let changed = false;
    x.forEach((step, i) => {
      const last = newest.x.at(-1) ?? curve.x.at(-1);
      if (last === undefined || step > last) {
        newest.x.push(step);
        newest.y.push(y[i]);
        curve.of += 1;
        changed = true;
        return;
      }
      const at = newest.x.lastIndexOf(step);
      if (at < 0 || newest.y[at] === y[i]) return;
      newest.y[at] = y[i];
      changed = true;
    });
    if (changed && curve.tail) this.fold(curve);
    return changed;
  }

  // Makes points of the tail: the mean of what each has, and the least and the greatest of it.
  fold(curve) {
    for (const column of [curve.x, curve.y, curve.low, curve.high]) column.length = curve.closed;
    const { x, y } = curve.tail;
    for (let from = 0, to; from < x.length; from = to) {
      const number = Math.floor(x[from] / this.size);
      for (to = from; to < x.length && Math.floor(x[to] / this.size) === number;) to += 1;
      const known = y.slice(from, to).filter((value) => value !== null);
      if (!known.length) continue;
      curve.x.push(Math.floor((x[from] + x[to - 1]) / 2));
      curve.y.push(known.reduce((a, b) => a + b, 0) / known.length);
      curve.low.push(Math.min(...known));
      curve.high.push(Math.max(...known));
    }
  }

  get(name) {
    return this.byName.get(name);
  }
  get names() {
    return [...this.byName.keys()].sort();
  }
  get longest() {
    return Math.max(0, ...[...this.byName.values()].map((curve) => curve.x.length + (curve.tail?.x.length ?? 0)));
  }
  get tooLong() {
    return this.longest > this.limit;
  }
  get lastStep() {
    return Math.max(0, ...[...this.byName.values()].map((curve) => curve.tail?.x.at(-1) ?? curve.x.at(-1) ?? 0));
  }
  // Whether the training's own metrics have come, not only what is measured of each step's groups and time.
  get logged() {
    return this.names.some((name) => !Curves.ours(name));
  }
  static ours(name) {
    return /^(eval_)?(groups|time|system)\//.test(name);
  }

  static heldOut(name) {
    return name.startsWith("eval_");
  }

  // The reward function that a metric is of; undefined of any other.
  static functionOf(name) {
    return /^(eval_)?rewards\/(.*)\/[^/]+$/.exec(name)?.[2];
  }
  // Whether it is what completions scored: TRL logs NaN where none of a step has a score.
  static isScore(name) {
    return /^(eval_)?(reward|reward_std|frac_reward_zero_std|rewards\/.*)$/.test(name);
  }

  // Why values are no numbers: which metrics, and what is said before the steps of so many of them. TRL has no length
  // of completions that ended by themselves where none of a step did.
  static gaps = [
    [Curves.isScore, "no score in"],
    [(name) => name.endsWith("_terminated_length"), "no completion ended in"],
    [() => true, ""],
  ];
  // What is said of the gaps of these metrics, for each reason by the metric that lacks most.
  gapWords(names) {
    const reason = (name) => Curves.gaps.find(([isOf]) => isOf(name));
    const unit = names.every(Curves.heldOut) ? "evaluation" : "step";
    const words = Curves.gaps.map((gap) => {
      const [, said] = gap;
      const those = names.filter((name) => reason(name) === gap);
      const lacking = Math.max(0, ...those.map((name) => (said ? this.stepsMissing(name) : this.missing(name))));
      if (!lacking) return "";
      return said
        ? `${said} ${countWords(lacking, unit)}`
        : `${countWords(lacking, "value was", "values were")} not finite`;
    });
    return dotted(...words);
  }

  // Whether there is anything of it to draw. Where nothing was scored TRL calls no group tied: that says nothing.
  hasNumbers(name) {
    if (name === "frac_reward_zero_std" && !this.hasNumbers("reward")) return false;
    return this.get(name)?.y.some((value) => value !== null && Number.isFinite(value)) ?? false;
  }
  // What is said of metrics that a run which is over never logged: TRL logs some every so many steps alone.
  unloggedWords(every) {
    if (!(this.lastStep < every)) return "Not logged.";
    const had = countWords(this.lastStep, "step");
    return `Not logged: TRL logs this every ${countWords(every, "step")}; the run had ${had}.`;
  }
  // What is said in place of a chart whose metrics were logged and have no number.
  static lackWords(names) {
    if (!names.length) return "";
    return `Nothing to draw: ${Curves.isScore(names[0]) ? "no step has a score" : "no value is finite"}.`;
  }

  // How many values are no numbers: those that are here, and those that the server counted.
  missing(name) {
    const curve = this.get(name);
    return (this.odd[name] ?? 0) + ((curve?.tail ?? curve)?.y.filter((value) => value === null).length ?? 0);
  }
  // How many steps these are of: each of all since the log before it, an evaluation of its own. Where a point of a long
  // run is of many steps, not all logs are here, and each is of as many as is usual.
  stepsMissing(name) {
    if (Curves.heldOut(name)) return this.missing(name);
    const [steps, values] = [this.whole(name, "x"), this.whole(name, "y")];
    const most = this.size > 1 ? this.interval : Infinity;
    const gaps = steps.map((step, i) => (values[i] === null ? Math.min(step - (steps[i - 1] ?? 0), most) : 0));
    return gaps.reduce((sum, gap) => sum + gap, (this.odd[name] ?? 0) * this.interval);
  }

  // The newest points as they were logged, after the points of those before: one column of them.
  whole(name, column) {
    const curve = this.get(name);
    if (!curve) return [];
    return curve.tail ? [...curve[column].slice(0, curve.closed), ...curve.tail[column]] : curve[column];
  }
  // Their values, of those that have one; those after a step alone.
  newest(name, since = -1) {
    const steps = this.whole(name, "x");
    return this.whole(name, "y").filter((value, i) => value !== null && steps[i] > since);
  }
  // Of what not every step has (a function may score nothing in one), the metric that has a value wherever there is
  // anything to say of it, as in storage/analysis/compare/finals.py; "" of others.
  static ofAll(name) {
    if (/^rewards\/[^/]+\/(mean|std)$/.test(name)) return "reward";
    return name.endsWith("_terminated_length") ? name.replace("_terminated", "") : "";
  }
  // What a metric is now: the mean of the last steps, as many as the server says (storage/record/recent.py); of what
  // only grows, is set, or is seldom measured, the last value.
  now(name) {
    if (Curves.ofAll(name)) return this.nowOfSome(name);
    return Curves.single(name) ? this.newest(name, this.stageBegan()).at(-1) : this.recent(name)?.mean;
  }
  // The mean over the steps that the metric of all is now of: what the steps before these had says nothing of now.
  nowOfSome(name) {
    const { after, until } = this.windowOf(Curves.ofAll(name));
    const { steps, values } = this.known(name);
    if (this.logs.length && until - after > 1) return Logged.mean(steps, values, this.logs, { after, until });
    const inside = values.filter((_, i) => steps[i] > after && steps[i] <= until);
    return inside.length ? inside.reduce((a, b) => a + b, 0) / inside.length : undefined;
  }
  // The steps that a metric is now of: up to `until`, those after `after`.
  windowOf(name) {
    const { steps } = this.known(name);
    if (Curves.single(name)) return { after: (steps.at(-1) ?? 0) - 1, until: steps.at(-1) ?? -1 };
    if (!Logged.isOwn(steps, this.logs, this.window)) return Logged.closing(this.logs, this.window);
    return { after: (steps.at(-Logged.reach(steps.length, this.window)) ?? 0) - 1, until: steps.at(-1) ?? -1 };
  }
  // The steps that a metric's figure is of where it has none in the last logged steps, of which other figures are:
  // “ (steps 4–5)”; "" elsewhere.
  earlierWords(name) {
    const { after, until } = this.windowOf(Curves.ofAll(name) || name);
    const known = this.logs.length && until > 0 && !Curves.single(name);
    if (!known || until > Logged.closing(this.logs, this.window).after) return "";
    return ` (${stepRange([after + 1, until])})`;
  }
  // The step of a metric's last value.
  lastAt(name) {
    const curve = this.get(name);
    const { x, y } = curve?.tail?.x.length ? curve.tail : (curve ?? { x: [], y: [] });
    return x[y.findLastIndex((value) => value !== null)];
  }
  // The finite values of the stage that trains, and their steps.
  known(name) {
    const [steps, values] = [this.whole(name, "x"), this.whole(name, "y")];
    const places = [...values.keys()].filter((i) => values[i] !== null && steps[i] > this.stageBegan());
    return { steps: places.map((i) => steps[i]), values: places.map((i) => values[i]) };
  }
  // The metric that says when TRL logged: the reward, which is in every log. A long run comes without what is no
  // number, and the share of ties is always one.
  get ofLogs() {
    const counts = ["reward", "frac_reward_zero_std"].map((name) => this.get(name)?.of ?? 0);
    return counts[1] > counts[0] ? "frac_reward_zero_std" : "reward";
  }
  // The logged steps of the stage that began after a step (−1: the first), up to the next.
  logsOfStage(began, until = Infinity) {
    const begin = Math.max(0, began);
    const steps = this.whole(this.ofLogs, "x").filter((step) => step > begin && step <= until);
    return steps.length ? [begin, ...steps] : [];
  }
  // What a point of the reward is the mean of: as the settings have it (`said`) before the first log, and in a long
  // run, whose logs are not all here.
  spanWords(said) {
    if (this.size > 1 || !this.logs.length) return said;
    return Logged.sizeWords(this.logs) || "the steps since the point before";
  }
  // How many values of a metric one logged step is of: 1 of all that TRL logs. `steps`: of the values.
  perLog(steps) {
    return Math.max(1, this.interval / (Logged.gap(steps) || this.interval));
  }
  // A metric's values, at these steps, smoothed: up to the last log, as “now” is. What is known of the steps
  // behind it is in no mean yet: a line that went on there would say that nothing changed.
  smooth(name, steps, values) {
    const { steps: known } = this.known(name);
    if (Logged.isOwn(known, this.logs, this.window)) return this.meansOfOwn(steps, values, known.length);
    const means = this.means(steps, values);
    return means.map((mean, i) => (steps[i] > this.logs.at(-1) ? null : mean));
  }
  // Of values that are a logged step each, `count` of them in all, as `recent` has them.
  meansOfOwn(steps, values, count) {
    return Smoother.over(values, count, 1, this.stageBegins(steps));
  }
  // Each stage for itself. Where a point of the reward is of several logs, and of what comes more seldom, by the number
  // of points.
  means(steps, values) {
    const begins = this.stageBegins(steps);
    const whole = this.whole(this.ofLogs, "x").length === (this.get(this.ofLogs)?.of ?? 0);
    if (!whole || !this.logs.length || Logged.gap(steps) > this.interval)
      return Smoother.over(values, values.length, this.perLog(steps), begins);
    return Smoother.byStage(values, steps, begins, (part) => this.logsOfStage(...this.stageAround(part)));
  }
  // The step after which the stage of these steps began (−1: the first), and its last.
  stageAround(steps) {
    const begun = this.marks.filter(({ kind }) => kind === "stage").map(({ step }) => step);
    return [begun.findLast((step) => step < steps[0]) ?? -1, begun.find((step) => step >= steps[0]) ?? Infinity];
  }
  // The step after which the stage that trains began.
  stageBegan() {
    return this.marks.findLast(({ kind }) => kind === "stage")?.step ?? -1;
  }
  // Where among these steps the stages begin that are not the first of them.
  stageBegins(steps) {
    const begun = this.marks.filter(({ kind }) => kind === "stage");
    return begun.map(({ step }) => steps.findIndex((one) => one > step)).filter((at) => at > 0);
  }
  static single(name) {
    return /^(eval_.*|num_tokens|epoch|learning_rate|beta|kl\/target|time\/elapsed|rewards\/.*\/weight)$/.test(name);
  }
  // What a figure of `recent` is the mean of: so many logged steps, or where a log is of several, the steps it is of.
  windowWords({ n, after, until }) {
    if (until - after > n) return `mean of ${stepRange([after + 1, until])}`;
    return `mean of the last ${n === 1 ? "step" : `${n} logged steps`}`;
  }
  // Mean of the last logged steps, and of how many (`n`), of the stage that trains: as mean_of_recent in
  // storage/record/recent.py has it.
  recent(name) {
    const { steps, values } = this.known(name);
    if (!values.length) return null;
    if (!Logged.isOwn(steps, this.logs, this.window)) {
      const closing = Logged.closing(this.logs, this.window);
      return { mean: Logged.mean(steps, values, this.logs, closing), n: closing.count, ...closing };
    }
    const n = Logged.reach(values.length, this.window);
    return { mean: values.slice(-n).reduce((a, b) => a + b, 0) / n, n };
  }
}
