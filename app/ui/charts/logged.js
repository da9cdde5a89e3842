// Logged steps, as storage/record/recent.py has them: each is the stretch from behind one of TRL's logs up to the next,
// and each value counts for the steps since the one before it. `logs`: the steps at which TRL logged, behind the step
// after which the first of these logged steps began.

import { countWords } from "../number.js";

export class Logged {
  // The median of the steps between one and the next, by the last of them; 0 of fewer than two.
  static gap(steps) {
    const newest = steps.slice(-20);
    const gaps = newest
      .slice(1)
      .map((step, i) => step - newest[i])
      .sort((a, b) => a - b);
    return gaps[Math.floor(gaps.length / 2)] ?? 0;
  }
  // Steps that a logged step is usually of.
  static interval(logs) {
    return Logged.gap(logs.slice(1)) || (logs.length ? logs[1] - logs[0] : 1);
  }
  // Of how many steps each log is.
  static sizes(logs) {
    return logs.slice(1).map((step, i) => step - logs[i]);
  }
  // The same in words, of the logs but the last, and of that where it differs: “10 steps, the last of 4”; “” where
  // others differ, too.
  static sizeWords(logs) {
    const sizes = Logged.sizes(logs);
    const [first, last] = [sizes[0], sizes.at(-1)];
    if (!sizes.length || sizes.slice(0, -1).some((size) => size !== first)) return "";
    const each = first === 1 ? "a step" : countWords(first, "step");
    return last === first ? each : `${each}, the last of ${last}`;
  }
  // Of how many logged steps “now” is the mean where there are so many: `most`, or half of fewer than twice that.
  static reach(count, most) {
    return Math.max(1, Math.min(most, Math.floor(count / 2)));
  }
  // The logged steps that “now” is of.
  static closing(logs, most) {
    const count = Logged.reach(logs.length - 1, most);
    return { after: logs.at(-1 - count), until: logs.at(-1), count };
  }
  // Of how many steps each value tells, of these steps.
  static weights(steps, logs) {
    let place = 1;
    return steps.map((step, i) => {
      while (place < logs.length - 1 && logs[place] < step) place += 1;
      const before = i ? steps[i - 1] : Math.min(logs[0], step - 1);
      return Math.max(1, Math.min(step - before, logs[place] - logs[place - 1]));
    });
  }
  // The mean over a window of these finite values; undefined where there is none in it.
  static mean(steps, values, logs, { after, until }) {
    const from = Math.max(0, steps.findIndex((step) => step > after) - 1);
    const weights = Logged.weights(steps.slice(from), logs);
    const inside = weights.map((weight, i) => {
      const step = steps[from + i];
      return step > after && step <= until ? weight : 0;
    });
    const total = inside.reduce((a, b) => a + b, 0);
    return total ? inside.reduce((sum, weight, i) => sum + weight * values[from + i], 0) / total : undefined;
  }
  // Whether each value of a metric is a logged step of its own: before the first log, and where it comes more seldom
  // than logs, or in none of the last.
  static isOwn(steps, logs, most) {
    if (!logs.length || Logged.gap(steps) > Logged.interval(logs)) return true;
    const { after, until } = Logged.closing(logs, most);
    return !steps.some((step) => step > after && step <= until);
  }
}
