// One metric of all compared runs: a line a run (its points faint under it), or a mean and a band a group of runs.

import { Curves } from "../../ui/charts/curves.js";
import { Plots } from "../../ui/charts/plots.js";
import { Span } from "../../ui/charts/span.js";
import { el, setText, showText } from "../../ui/dom.js";
import { hoverRoom, shortName } from "../../ui/name.js";
import { dotted } from "../../ui/text.js";
import { dashOf, places } from "./coinciding.js";
import { LineKeyboardNav } from "./line_keyboard_nav.js";
import { Lines } from "./lines.js";

const MANY = 6; // lines in a chart; of more, what was logged is drawn fainter, or they would hide one another

export class CompareChart {
  // `zoomed(range, x)` is told of the stretch of an axis that was chosen on it; null: all of it.
  constructor(about, zoomed) {
    this.about = about;
    this.dashes = new Map();
    this.zoomed = zoomed;
    this.plot = el("div.plot");
    this.note = el("span.xs.mut");
    this.wait = el("p.wait.s.mut");
    this.keyboardNav = new LineKeyboardNav(this);
    this.node = el(
      "figure.panel.chart",
      { "data-chart": about.name },
      el("figcaption", el("span.about", el("h3", { dir: "auto" }, about.title), this.note)),
      this.wait,
      this.plot,
    );
  }

  // `series`: what is shown (series.js), its lines as [{x, y, per, of, attempt}]; `view`: x, band,
  // smooth, log, zoom, end (of the axis that all charts share), of (what there is to say of what is measured).
  show(series, view) {
    const inSight = (line) => ({ ...Lines.cut(line, view.zoom), whole: line }); // which is smoothed once it is drawn
    const some = series
      .map((one) => ({ ...one, many: one.lines.filter(({ x }) => x.length).length, lines: one.lines.map(inSight) }))
      .map((one) => ({ ...one, lines: one.lines.filter(({ x }) => x.length) }))
      .filter(({ lines }) => lines.length);
    this.series = some;
    this.view = view;
    this.dashes = this.dashesOfCoinciding();
    const missing = series.length - some.length;
    const per = Math.max(1, ...some.flatMap(({ lines }) => lines.map((line) => line.per)));
    const none = view.zoom ? "None of these runs has logged this here." : "None of these runs has logged this.";
    showText(this.wait, some.length ? "" : series.length ? none : "Every run is hidden.");
    this.plot.hidden = !some.length;
    this.log = view.log && this.canBeLog();
    setText(
      this.note,
      dotted(
        this.about.note,
        view.of,
        some.some((one) => this.endsApart(one)) ? "dotted: the mean of the runs that go on" : "",
        some.some(({ alone }) => alone) ? "no mean of runs that are not comparable: each has its own line" : "",
        this.log ? "log scale" : "",
        per > 1 ? `a point is the mean of up to ${per}` : "",
        this.dashes.size ? "dashed: identical lines" : "",
        missing && some.length ? `${missing} of ${series.length} ${missing === 1 ? "has" : "have"} none` : "",
      ),
    );
    if (some.length)
      Plots.draw(
        this.plot,
        () => this.figure(),
        (node) => this.wire(node),
      );
    this.keyboardNav.again();
  }

  // Whether a mean in sight goes on with fewer lines than it has: `many`, wherever they are.
  endsApart({ group, many, lines }) {
    const drawn = ({ whole }) => Lines.cut({ ...whole, y: Lines.ended(whole, whole.y) }, this.view.zoom);
    const ended = group && this.isSmoothed ? lines.map(drawn) : lines;
    return group && Lines.reached(Lines.band(ended, "range"), many).some.length > 0;
  }

  values() {
    return this.series.flatMap(({ lines }) => lines.flatMap(({ y }) => y)).filter((value) => value !== null);
  }
  // Shares are not: their ends are 0 and 100 %.
  canBeLog() {
    const values = this.values();
    return this.about.unit !== "%" && values.every((value) => value >= 0) && values.some((value) => value > 0);
  }

  // Not where “now” is of a line's last value: it would end elsewhere.
  get isSmoothed() {
    return this.view.smooth && !Curves.single(this.about.name);
  }

  figure() {
    const farthest = this.view.zoom?.[1] ?? this.view.end;
    this.over = this.view.x;
    const [by, unit] = (this.unit = this.view.x === "time" ? Lines.unit(farthest) : [1, ""]);
    const scale = this.about.unit === "%" ? 100 : 1;
    const scaledBy = (y) => (y === null ? null : y * scale);
    const { zoom } = this.view;
    const smooth = this.isSmoothed;
    const scaled = (line) => ({
      ...line,
      x: line.x.map((x) => x / by),
      y: line.y.map(scaledBy),
      smooth: (smooth ? Lines.cut(Lines.smoothed(line.whole), zoom).smooth : line.y).map(scaledBy),
    });
    this.few = this.series.every(({ lines }) => lines.every(({ x }) => x.length < 12));
    const data = this.series.flatMap((one) => {
      const lines = one.lines.map(scaled);
      return one.group ? this.banded(one, lines) : lines.flatMap((line) => this.line(one, line));
    });
    return { data, layout: this.layout(data, by, unit), config: { doubleClick: false } };
  }

  // By line, how those are drawn that lie on another's; none where it is dashes that tell runs of one colour apart.
  dashesOfCoinciding() {
    const alone = this.series.filter(({ group }) => !group);
    if (new Set(alone.map(({ colour }) => colour)).size < alone.length) return new Map();
    const lines = alone.flatMap((one) => one.lines);
    return new Map(places(lines).flatMap((place, i) => (place.of > 1 ? [[lines[i].whole, dashOf(place)]] : [])));
  }

  // A name as a hover label has room for it: a group's with a line for each of its settings.
  hoverName({ group, label }) {
    const most = hoverRoom(this.plot);
    const said = group ? label.split(", ") : [label];
    return said.map((words) => Plots.plain(shortName(words, most))).join("<br>");
  }

  // `label`: as hoverName has it. `value`: what was logged, which a smoothed line does not go through.
  hover(label, value, more = "", smooth = this.isSmoothed) {
    const where = {
      step: "step %{x:,.0f}",
      tokens: "%{x:.3s} tokens",
      time: "%{x:.3~g}",
      attempt: "%{x:,.0f} steps in",
    }[this.view.x];
    const smoothed = smooth ? "<br>smoothed %{y:.4~g}" : "";
    return `<b>${label}</b>${more}<br>${value} · ${where}${smoothed}<extra></extra>`;
  }

  line(one, line) {
    const colour = Plots.colour(one.colour);
    const later = line.attempt > 1 && this.view.x === "attempt";
    const resumed = later ? `, resume ${line.attempt - 1}` : "";
    const width = later ? 1.1 : 1.8;
    // of one style in a chart; a line of one point would not be seen without its mark
    const marked = this.few || line.x.length === 1;
    const base = {
      x: line.x,
      type: "scatter",
      mode: marked ? "lines+markers" : "lines",
      marker: { color: colour, size: 4 },
      cliponaxis: false, // a point on the axis, such as one at step 0, is drawn whole
    };
    // which line it is, wherever it is drawn
    const meta = `${one.key} ${this.view.x === "attempt" ? line.attempt : ""}`;
    const alone = one.alone && `<br>${this.hoverName({ group: true, label: one.alone })}`;
    const calm = this.isSmoothed && Lines.reach(line) > 0;
    const main = {
      ...base,
      y: line.smooth,
      customdata: line.y,
      meta,
      name: Plots.plain(one.label + resumed),
      line: { color: colour, width, dash: this.dashes.get(line.whole) ?? one.dash },
      hovertemplate: this.hover(this.hoverName(one) + resumed, "%{customdata:.4~g}", alone, calm),
    };
    if (!calm && line.smooth.every((value, i) => value === line.y[i])) return [main];
    const faint = { color: this.series.length > MANY ? Plots.fade(colour, 0.42) : Plots.beneath(colour), width: 1 };
    const end = line.smooth.findLastIndex((value) => value !== null) + 1;
    const logged = {
      ...base,
      x: line.x.slice(0, end + 1),
      y: line.y.slice(0, end + 1),
      hoverinfo: "skip",
      line: faint,
    };
    if (end === line.x.length) return [logged, main];
    // behind the last log there is no smoothed line to answer the pointer
    const [x, y] = [line.x.slice(end), line.y.slice(end)];
    const hovertemplate = this.hover(this.hoverName(one) + resumed, "%{customdata:.4~g}", alone, false);
    return [logged, main, { ...main, x, y, customdata: y, meta: `${meta} not logged yet`, line: faint, hovertemplate }];
  }

  banded(one, lines) {
    const colour = Plots.colour(one.colour);
    const { band: how } = this.view;
    const smooth = this.isSmoothed;
    const logged = Lines.band(lines, how);
    const smoothed = () => lines.map((line) => ({ ...line, y: line.smooth }));
    const drawn = smooth ? Lines.band(smoothed(), how) : logged;
    const least = Math.min(...drawn.y.filter((y) => y > 0)); // a band that falls to 0 has no end on a log scale
    const low = this.log ? drawn.low.map((y) => (y > 0 ? y : least)) : drawn.low;
    const { all, some } = Lines.reached(drawn, one.many);
    const at = (values, places) => places.map((i) => (i === null ? null : values[i]));
    const of = one.many > 1 ? `<br>mean of %{customdata[1]} of ${one.many}` : "";
    const loggedAt = new Map(logged.x.map((x, i) => [x, [logged.y[i], logged.n[i]]]));
    const told = drawn.x.map((x) => loggedAt.get(x)); // smoothed, the lines may end before
    const mean = (places, meta, line) => ({
      x: at(drawn.x, places),
      y: at(drawn.y, places),
      type: "scatter",
      mode: drawn.x.length < 3 ? "lines+markers" : "lines",
      cliponaxis: false,
      customdata: at(told, places),
      meta,
      name: Plots.plain(one.label),
      marker: { color: colour, size: 5 },
      line: { color: colour, ...line },
      hovertemplate: this.hover(this.hoverName(one), "%{customdata[0]:.4~g}", of),
    });
    const edge = { type: "scatter", mode: "lines", hoverinfo: "skip", line: { width: 0 } };
    return [
      { ...edge, ...Lines.outline({ ...drawn, low }), fill: "toself", fillcolor: Plots.fade(colour, 0.16) },
      mean(all, one.key, { width: 2, dash: one.dash }),
      ...(some.length ? [mean(some, `${one.key} of some`, { width: 1.5, dash: "dot" })] : []),
    ];
  }

  layout(data, by, unit) {
    const tokens = this.view.x === "tokens";
    const { zoom } = this.view;
    const own = this.about.unit ? `\u202f${this.about.unit}` : "";
    // a little more, so that neither a mark at the end nor the figure under it is cut off
    const [from, to] = zoom ?? [0, 1.01 * this.view.end || 1];
    return Plots.layout({
      height: 220,
      hovermode: "closest",
      hoverdistance: 30,
      uirevision: `${this.view.x} ${zoom}`,
      margin: { l: 48, r: 20, t: 6, b: 24 },
      x: {
        ...Plots.belowPoints,
        tickformat: tokens ? "~s" : ",~g",
        ticksuffix: unit ? `\u202f${unit}` : "",
        range: [from / by, to / by],
        autorange: false,
      },
      y: {
        ...Plots.belowPoints,
        fixedrange: true,
        type: this.log ? "log" : "linear",
        ...(this.log ? Span.logTicks(Span.of(data, zoom && [from / by, to / by], true).y, own) : {}),
        // around a curve that is 0 throughout the axis would begin at −1
        rangemode: this.values().every((value) => value >= 0) ? "nonnegative" : "normal",
        ticksuffix: own,
      },
    });
  }

  // Zooming along x does so in all charts: the address holds it.
  wire(node) {
    node.on("plotly_doubleclick", () => this.zoom(null));
    node.on("plotly_relayout", (change) => {
      const range = Plots.chosen(change);
      if (range) this.zoom(range.map((place) => Math.max(0, place * this.unit[0])));
    });
  }
  zoom(range) {
    this.zoomed(range, this.over);
  }
}
