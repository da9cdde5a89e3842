// A smoothed line: at each log the mean of the last logged steps, as many as “now” is the mean of (window_of in
// storage/record/recent.py), so that it ends where the number beside its chart's title says.

import { Logged } from "./logged.js";

export class Smoother {
  static LEAST = 4; // logged steps
  static MOST = 10;
  // Of how many logged steps each is the mean: 0 where “now” is of one alone.
  static reach(logged) {
    return logged < Smoother.LEAST ? 0 : Math.min(Smoother.MOST, Math.floor(logged / 2));
  }
  // `points`: how many all of the line has, where these are a part of it; `per`: how many of them a logged step is of;
  // `begins`: where among the values another stage begins, of which the one before says nothing.
  static over(values, points = values.length, per = 1, begins = []) {
    const edges = [0, ...begins, values.length];
    return edges.slice(1).flatMap((to, n) => {
      const part = values.slice(edges[n], to);
      const reach = Smoother.reach(Math.floor((begins.length ? part.length : points) / per));
      return Smoother.means(part, Math.round(per * (reach || 1)));
    });
  }
  // The same of values at these steps, where the logged steps are known (see logged.js): at each log the mean of the
  // last of them, and a straight line from one log to the next, so that what has a value of each step and what TRL logs
  // go alike. What came before the first log stays at what that is, and what came after the last at what “now” is: up
  // to where it is drawn says who knows whether more will be logged (`smooth` in curves.js, `smoothed` in lines.js).
  static along(values, steps, logs) {
    if (logs.length < 2) return Smoother.over(values);
    const known = [...values.keys()].filter((i) => values[i] !== null);
    const [some, those] = [known.map((i) => steps[i]), known.map((i) => values[i])];
    const means = Smoother.atLogs(some, those, logs);
    const found = values.map(() => null);
    let place = 1;
    some.forEach((step, at) => {
      while (place < logs.length - 1 && logs[place] < step) place += 1;
      const [before, after] = [means[place - 1] ?? means[place], means[place]];
      const share = Math.min(1, (step - logs[place - 1]) / (logs[place] - logs[place - 1]));
      found[known[at]] = after === undefined ? those[at] : before + (after - before) * share;
    });
    return found;
  }
  // The mean at each log, by its place among them; undefined at the first, behind which they begin, and where none of
  // these values is in it.
  static atLogs(steps, values, logs) {
    const reach = Smoother.reach(logs.length - 1) || 1;
    const weights = Logged.weights(steps, logs);
    let [from, to] = [0, 0];
    return logs.map((log, place) => {
      if (!place) return undefined;
      while (steps[from] <= logs[Math.max(0, place - reach)]) from += 1;
      while (steps[to] <= log) to += 1;
      let [sum, count] = [0, 0];
      for (let i = from; i < to; i += 1) {
        sum += weights[i] * values[i];
        count += weights[i];
      }
      return count ? sum / count : undefined;
    });
  }
  // The same of each stage for itself: `begins`, as above; `logsOf`: the logged steps of the stage of some steps, the
  // n-th of these.
  static byStage(values, steps, begins, logsOf) {
    const edges = [0, ...begins, values.length];
    return edges.slice(1).flatMap((to, n) => {
      const part = steps.slice(edges[n], to);
      return Smoother.along(values.slice(edges[n], to), part, logsOf(part, n));
    });
  }
  static means(values, reach) {
    const last = [];
    return values.map((value) => {
      if (value === null) return null;
      last.push(value);
      if (last.length > reach) last.shift();
      return last.reduce((sum, one) => sum + one, 0) / last.length;
    });
  }
}
