// The figures of the Statistics: from a panel's plain data to Plotly's traces, and where a click on one leads.

import { countWords, number, stepRange } from "../../ui/number.js";
import { Plots } from "../../ui/charts/plots.js";

const percentAxis = { range: [-2, 102], ticksuffix: " %", dtick: 25 };
const ends = (steps) => steps.map(([, last]) => last);
const hundredfold = (values) => values.map((value) => (value === null ? null : value * 100));
// How a share is read under a pointer.
const shares = { hovertemplate: "%{y:.3~g} % %{fullData.name}<extra></extra>" };
export const exactly = ([low, high]) => `${low}..${high}`;
const plainly = (value) => (Number.isInteger(value) ? value.toLocaleString("en").replace("-", "−") : number(value));
// Numbers of one axis, all with as many digits after the point as those need that are told apart by the last.
const FINEST = 4;
export function axisNumbers(values) {
  const apart = new Set(values).size;
  const digits = [0, 1, 2, 3, FINEST].find((n) => {
    const written = values.map((value) => value.toFixed(n));
    const isExact = values.every((value, i) => Math.abs(value - written[i]) < 1e-9);
    return isExact || (n >= 2 && new Set(written).size === apart);
  });
  if (digits === undefined || Math.max(...values.map(Math.abs)) >= 1e6) return values.map(number);
  return values.map((value) =>
    value
      .toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })
      .replace(/^-(?=.*[1-9])/, "−")
      .replace(/^-/, ""),
  );
}
const readable = ([low, high]) => (low === high ? plainly(low) : `${plainly(low)} to ${plainly(high)}`);

// A line per series; a point alone is drawn as a point.
function drawLine(data, name, y, colour, more = {}) {
  return {
    type: "scatter",
    mode: data.steps.length < 13 ? "lines+markers" : "lines",
    x: ends(data.steps),
    y,
    name: Plots.plain(name),
    line: { color: colour, width: 2 },
    marker: { color: colour, size: 5 },
    cliponaxis: false, // a point on the axis, such as one at step 0, is drawn whole
    customdata: data.steps.map(stepRange),
    hovertemplate: `%{y:.3~g} <span>%{fullData.name}</span><extra></extra>`,
    ...more,
  };
}
function overSteps(data, traces, { y = {}, ...rest } = {}) {
  const layout = Plots.layout({
    height: 200,
    y: { ...Plots.belowPoints, ...y },
    ...rest,
    x: {
      ...Plots.belowPoints,
      rangemode: "tozero",
      ...stepTicks(data),
      unifiedhovertitle: {
        text: data.steps.every(([first, last]) => first === last) ? "step %{x}" : "until step %{x}",
      },
    },
  });
  return { data: traces, layout };
}
// As the Overview's charts have them: many are written short (10k), few are whole.
function stepTicks(data) {
  const last = data.steps.at(-1)?.[1] ?? 0;
  return { tickformat: last >= 1e4 ? "~s" : ",d", ...(last < 6 ? { dtick: 1 } : {}) };
}

export function ties(data) {
  const kinds = [
    ["all_low", Plots.colour("--low")],
    ["other", Plots.colour("--ink-3")],
    ["all_high", Plots.colour("--high")],
    ["no_answer", Plots.colour("--r4")],
  ].filter(([key]) => key !== "no_answer" || data[key].some((share) => share > 0));
  // Areas without lines: that of a kind of which there is none would stand on top of the others in its colour.
  const traces = kinds.map(([key, colour]) =>
    drawLine(data, data.words[key], hundredfold(data[key]), colour, {
      stackgroup: "tied",
      fillcolor: Plots.fade(colour, 0.5),
      line: { color: colour, width: 0 },
      marker: { color: colour, size: data[key].map((share) => (share > 0 ? 5 : 0)) },
      ...shares,
    }),
  );
  const bearing = {
    ...drawLine(data, "not tied", hundredfold(data.bearing), Plots.colour("--accent")),
    line: { color: Plots.colour("--accent"), width: 2, dash: "dot" },
    ...shares,
  };
  return overSteps(data, [...traces, bearing], { y: percentAxis });
}
export function spread(data) {
  const line = { color: Plots.colour("--ink-3"), width: 1, dash: "dot" };
  const small = { type: "line", xref: "paper", x0: 0, x1: 1, y0: data.small, y1: data.small, line };
  return overSteps(data, [drawLine(data, "spread", data.spread, Plots.colour("--accent"))], {
    y: { rangemode: "tozero" },
    shapes: data.small === null ? [] : [small], // of what is not learnt from none is too small
  });
}
export function best(data) {
  const rows = [
    ["best", "--high"],
    ["mean", "--accent"],
    ["worst", "--low"],
  ];
  return overSteps(
    data,
    rows.map(([key, colour]) => drawLine(data, key, data[key], Plots.colour(colour))),
  );
}
export function pass(data) {
  const faded = (i) => Plots.fade(Plots.colour("--accent"), strength(i, data.k.length));
  const traces = data.k.map((k, i) => drawLine(data, `pass@${k}`, hundredfold(data.rates[i]), faded(i), shares));
  return overSteps(data, traces, { y: percentAxis });
}
// One hue, from full to faint: k is an amount, not a name.
export function strength(i, of) {
  return of < 2 ? 1 : 1 - 0.6 * (i / (of - 1));
}

export function correlation(data) {
  const names = (pair) => pair.map((k) => data.names[k]).join(" · ");
  const last = (values) => Math.abs(values.findLast((value) => value !== null) ?? 0);
  const rows = data.pairs
    .map((pair, i) => ({ pair, values: data.correlation[i] }))
    .sort((a, b) => last(b.values) - last(a.values))
    .slice(0, 8);
  const traces = rows.map(({ pair, values }, i) => drawLine(data, names(pair), values, Plots.colour(i)));
  return overSteps(data, traces, {
    y: { range: [-1.05, 1.05], dtick: 0.5, zeroline: true, zerolinecolor: Plots.colour("--line-strong") },
  });
}
export function share(data) {
  const traces = data.names.map((name, i) =>
    drawLine(data, name, hundredfold(data.share[i]), Plots.colour(data.colours[i]), shares),
  );
  return overSteps(data, traces, {
    y: { ticksuffix: " %", rangemode: "tozero", zeroline: true, zerolinecolor: Plots.colour("--line-strong") },
  });
}

// A heat map over the steps: each column is its own whole.
export function heat(data) {
  const words = data.counts.map((line, row) =>
    line.map((many, column) => {
      const share = data.share[row][column];
      const count = `${countWords(many, "completion")}${share === null ? "" : `, ${number(share * 100)} %`}`;
      return `${stepRange(data.steps[column])} · ${readable(data.bounds[row])}<br>${count}`;
    }),
  );
  return heatMap(
    { x: data.x, y: data.y, z: data.share.map((line) => line.map((share) => share || null)), words },
    { x: data.mode === "eval" ? evaluationTicks(data.steps) : stepTicks(data), y: binTicks(data.bounds) },
  );
}
// A column of evaluations is as wide as these lie apart, so the axis names the steps that there were, as far apart as
// can be read.
const APART = 7; // so many at most, but for the first
function evaluationTicks(steps) {
  const all = steps.map(([first]) => first);
  const least = (all.at(-1) - all[0]) / APART;
  const tickvals = [];
  for (const step of all) if (!tickvals.length || step - tickvals.at(-1) >= least) tickvals.push(step);
  return { tickvals, tickangle: 0 };
}
export function plane(data) {
  const { plane } = data;
  const words = plane.counts.map((line, row) =>
    line.map(
      (many, column) =>
        `${readable(whole(plane.across[column]))} tokens · reward ${readable(plane.up[row])}` +
        `<br>${countWords(many, "completion")}`,
    ),
  );
  return heatMap(
    { x: plane.x, y: plane.y, z: plane.counts.map((line) => line.map((many) => many || null)), words },
    { x: { title: { text: "tokens", standoff: 4 } }, y: binTicks(plane.up), margin: { ...Plots.beside, t: 6, b: 40 } },
  );
}
// Where few values have a bin each, they are what the axis names.
function binTicks(bounds) {
  return bounds.length < 7 && bounds.every(([low, high]) => low === high)
    ? { tickvals: bounds.map(([low]) => low), ticktext: axisNumbers(bounds.map(([low]) => low)) }
    : {};
}
// The whole numbers between two halves.
export function whole([low, high]) {
  return [Math.ceil(low), Math.floor(high)];
}
function heatMap({ x, y, z, words }, { x: across = {}, y: up = {}, ...rest } = {}) {
  const look = { type: "heatmap", colorscale: heatScale(), zmin: 0, showscale: false, hoverongaps: false };
  const trace = { ...look, x, y, z, text: words, hovertemplate: "%{text}<extra></extra>" };
  return {
    data: [trace],
    layout: Plots.layout({
      height: 220,
      hovermode: "closest",
      x: { tickformat: ",d", ...across },
      y: { nticks: 6, ...up },
      ...rest,
    }),
  };
}
// The faintest cell must still be told from an empty one.
function heatScale() {
  const accent = Plots.colour("--accent");
  return [
    [0, Plots.fade(accent, 0.1)],
    [1, accent],
  ];
}

export function histogram({ histogram, colour: variable }) {
  const { edges, bounds, counts, exact } = histogram;
  const colour = Plots.colour(variable);
  const all = counts.reduce((a, b) => a + b, 0);
  const words = bounds.map(
    (bound, i) => `${readable(bound)}<br>${countWords(counts[i], "completion")}, ${number((counts[i] / all) * 100)} %`,
  );
  const x = counts.map((_, i) => (exact ? bounds[i][0] : (edges[i] + edges[i + 1]) / 2));
  const width = counts.map((_, i) => (edges[i + 1] - edges[i]) * (exact ? 0.6 : 0.96));
  const ticks = binTicks(bounds);
  const marker = { color: Plots.fade(colour, 0.75) };
  const told = { text: words, textposition: "none", hovertemplate: "%{text}<extra></extra>" };
  const trace = { type: "bar", x, y: counts, width, marker, ...told };
  return {
    data: [trace],
    layout: Plots.layout({
      height: 190,
      hovermode: "closest",
      margin: { ...Plots.beside, t: 6, b: 24 },
      x: ticks,
      y: { rangemode: "tozero" },
    }),
  };
}
