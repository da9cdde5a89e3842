// What is drawn of a metric: a line a run, or of runs that are grouped a mean a group.

import { grouped, shown, state } from "./core.js";
import { lineCanBeAveraged } from "./measure.js";

const linesOf = (run, metric) => run.curves?.[metric] ?? [];

// [{key, label, colour, dash, lines, group}]; `group`: whether the lines are to be a mean; `alone`: the label of the
// group that a run is drawn for, which has no mean of this metric.
export function seriesOf(metric) {
  const own = (run, { colour, dash } = run, alone = "") => {
    const { id: key, name: label } = run;
    return { key, label, colour, dash, lines: linesOf(run, metric), alone };
  };
  if (!state.by) return shown().map((run) => own(run));
  return grouped().flatMap((group) => {
    const runs = shown().filter(({ id }) => group.ids.includes(id));
    if (!lineCanBeAveraged(runs, metric)) return runs.map((run) => own(run, group, group.label));
    const lines = runs.flatMap((run) => linesOf(run, metric));
    return runs.length ? [{ ...group, group: true, key: group.label, lines }] : [];
  });
}
