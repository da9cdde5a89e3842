// A smoothed line: at each point the mean of the last logged steps, as many as “now” is the mean of (window_of in
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
  // The same of values at these steps, where the logged steps are known (see logged.js): each is the mean of the last
  // of them up to its own. What came after the last log stays at what “now” is.
  static along(values, steps, logs) {
    const known = [...values.keys()].filter((i) => values[i] !== null);
    const some = known.map((i) => steps[i]);
    if (logs.length < 2) return Smoother.over(values);
    const reach = Smoother.reach(logs.length - 1) || 1;
    const weights = Logged.weights(some, logs);
    const found = values.map(() => null);
    let [place, from] = [1, 0];
    some.forEach((step, at) => {
      while (place < logs.length - 1 && logs[place] < step) place += 1;
      while (from < at && some[from] <= logs[Math.max(0, place - reach)]) from += 1;
      let [sum, count] = [0, 0];
      for (let i = from; i <= at; i += 1) {
        if (some[i] > logs.at(-1) && count) break;
        sum += weights[i] * values[known[i]];
        count += weights[i];
      }
      found[known[at]] = sum / count;
    });
    return found;
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
