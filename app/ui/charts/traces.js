// The lines of one chart, as Plotly takes them. A chart gives what it draws: `names`, `curve(name)`, `label`, `colour`,
// `scale` (of a value, for “%”), and the board with the axis and what earlier attempts had trained.

import { number } from "../number.js";
import { AXES } from "./axis.js";
import { Curves } from "./curves.js";
import { Plots } from "./plots.js";

const FAINT = 3; // points, from which the line through them is fainter than the smoothed one
const SAME = 1e-9; // of a value: a mean of the same values is rounded
export const Traces = {
  base: { mode: "lines", type: "scatter", hoverinfo: "skip", showlegend: false },

  // All of it, the farthest back first.
  of(chart, names) {
    const lined = Traces.lined(chart, names);
    const stacked = names.slice(lined.length);
    return [
      ...(names.length === 1 ? Traces.spread(chart, names[0]) : []),
      ...names.flatMap((name) => Traces.past(chart, name)),
      ...stacked.map((name) => Traces.area(chart, name, names.indexOf(name))),
      ...lined.flatMap((name) => Traces.lines(chart, name, chart.colour(names.indexOf(name)))),
    ];
  },
  // Those that are lines: of what is stacked, the first alone.
  lined: (chart, names) => (chart.panel.stack ? names.slice(0, 1) : names),

  x(chart, curve, own = null) {
    const x = chart.board.axis.all(curve.x, own);
    return { x: x === curve.x ? [...x] : x, customdata: curve.x };
  },
  y(chart, values) {
    return values.map((value) => chart.scale(value));
  },

  smooth(chart, name, curve, y = curve.y) {
    return chart.board.curves.smooth(name, curve.x, y);
  },
  // A line that ends at its last value: as points without one, the rest would keep FastRedraw from moving it.
  ended({ x, customdata, ...look }, y) {
    const end = y.findLastIndex((value) => value !== null) + 1;
    return { ...look, x: x.slice(0, end), customdata: customdata.slice(0, end), y: y.slice(0, end) };
  },

  // Whether the raw line of any of these is seen beside the smoothed one, and fainter: points that are a mean by
  // themselves lie under it.
  hasFaint(chart, names) {
    return Traces.lined(chart, names).some((name) => {
      const { x, y } = chart.curve(name) ?? { x: [] };
      if (x.length < FAINT || !Traces.isSmoothed(chart, name)) return false;
      const smooth = Traces.smooth(chart, name, { x, y });
      return y.some((value, i) => value !== null && !(Math.abs(value - smooth[i]) <= SAME * Math.abs(value)));
    });
  },
  isSmoothed: (chart, name) => chart.panel.smooth !== false && !Curves.single(name),

  // Lines per metric: band (two), raw, smoothed. The raw line answers the pointer.
  lines(chart, name, colour) {
    const curve = chart.curve(name);
    const y = Traces.y(chart, curve.y);
    const count = curve.x.length;
    const smooth = Traces.isSmoothed(chart, name) ? Traces.smooth(chart, name, curve, y) : y; // it ends where “now” is
    const place = { ...Traces.base, ...Traces.x(chart, curve) };
    return [
      ...Traces.band(chart, curve, place, colour, 0.12),
      {
        ...place,
        y,
        name: chart.label(name),
        hoverinfo: undefined,
        mode: count <= 12 ? "lines+markers" : "lines",
        marker: { color: colour, size: 5 },
        cliponaxis: false, // a point on the axis, such as one at step 0, is drawn whole
        line: { color: count < FAINT ? colour : Plots.beneath(colour), width: 1 },
        hovertemplate: Traces.told(chart, name),
      },
      { ...Traces.ended(place, smooth), line: { color: colour, width: 2 } },
    ];
  },

  told(chart, name, more = "") {
    const step = chart.board.axis.plain ? "" : " · step %{customdata:,}";
    const unit = chart.panel.unit === "%" ? " %" : "";
    return `%{y:.4~g}${unit}${step}<extra>${Plots.plain(chart.label(name))}${more}</extra>`;
  },

  // The least and the greatest of what a point stands for, so that no spike is hidden.
  band(chart, curve, place, colour, alpha) {
    if (!curve.low) return [];
    // a spike is one point wide: its fill alone is hardly seen
    const line = { width: 0.6, color: Plots.fade(colour, alpha * 2) };
    return [
      { ...place, y: Traces.y(chart, curve.low), line },
      { ...place, y: Traces.y(chart, curve.high), line, fill: "tonexty", fillcolor: Plots.fade(colour, alpha) },
    ];
  },

  // What earlier attempts had trained beyond where the next one began: dashed, behind.
  past(chart, name) {
    const { axis } = chart.board;
    const of = AXES[axis.name].of;
    const colour = chart.colour(chart.names().indexOf(name));
    return chart.pastOf(name).flatMap(({ attempt, curve, curves }) => {
      const place = { ...Traces.base, ...Traces.x(chart, curve, curves[of] ?? null) };
      return [
        ...Traces.band(chart, curve, place, colour, 0.07),
        {
          ...place,
          y: Traces.y(chart, curve.y),
          hoverinfo: undefined,
          line: { color: Plots.fade(colour, 0.6), width: 1, dash: "dot" },
          hovertemplate: Traces.told(chart, name, `, attempt ${attempt}`),
        },
      ];
    });
  },

  // The smoothed line, and as much above and below it as the values within a group usually differ.
  spread(chart, name) {
    const key = chart.panel.spread.find((one) => chart.curve(one));
    const curve = chart.curve(name);
    if (!key || curve.x.length < 2) return [];
    const of = chart.curve(key);
    const wide = Traces.smooth(chart, key, of);
    const middle = Traces.smooth(chart, name, curve);
    const around = (sign) =>
      curve.x.map((step, i) => {
        const by = wide[Plots.nearest(of.x, step)];
        return middle[i] === null || by === null || by === undefined ? null : chart.scale(middle[i] + sign * by);
      });
    const place = { ...Traces.base, ...Traces.x(chart, curve), line: { width: 0 } };
    return [
      Traces.ended(place, around(-1)),
      { ...Traces.ended(place, around(1)), fill: "tonexty", fillcolor: Plots.fade(chart.colour(0), 0.09) },
    ];
  },

  // A part of a whole, smoothed, on top of the parts before it.
  area(chart, name, index) {
    const curve = chart.curve(name);
    const colour = chart.colour(index);
    const y = Traces.y(chart, curve.y);
    const drawn = Traces.ended(Traces.x(chart, curve), Traces.smooth(chart, name, curve, y));
    return {
      ...Traces.base,
      ...drawn,
      y: drawn.y.map((value) => value ?? 0),
      text: y.map((value) => number(value)),
      stackgroup: "parts",
      fillcolor: Plots.fade(colour, 0.45),
      line: { width: 0.5, color: colour },
      hoverinfo: undefined,
      hovertemplate: `%{text}${chart.panel.unit}<extra>${Plots.plain(chart.label(name))}</extra>`,
    };
  },
};
