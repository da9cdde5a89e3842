// A chart of Compare by keyboard: ← and → along a line (a tenth of it with Shift), ↑ and ↓ to the line above or below
// it there, + looks closer and − back. To a screen reader it is a slider, whose value names the line and what it has
// there.

import { Plots } from "../../ui/charts/plots.js";
import { countWords, number, wholeNumber } from "../../ui/number.js";

export class LineKeyboardNav {
  constructor(chart) {
    // `meta`: the line, by what it is of, as its number changes with the lines about it
    Object.assign(this, { chart, plot: chart.plot, meta: null, x: null });
    Plots.slider(this.plot, `${chart.about.title} of the runs`, this);
  }

  // The lines that a pointer would find, each with its points in sight that have a value.
  lines() {
    const [by] = this.chart.unit ?? [1];
    const [from, to] = (this.chart.view?.zoom ?? [-Infinity, Infinity]).map((end) => end / by);
    const inSight = (x) => x >= from && x <= to;
    return (this.plot.data ?? [])
      .map(({ name, meta, x, y, customdata, hovertemplate }, curve) => {
        const known = hovertemplate ? [...y.keys()].filter((i) => y[i] !== null && inSight(x[i])) : [];
        return {
          name,
          meta,
          curve,
          known,
          x: known.map((i) => x[i]),
          y: known.map((i) => y[i]),
          logged: known.map((i) => [customdata[i]].flat()[0]),
        };
      })
      .filter(({ known }) => known.length);
  }
  here(lines) {
    return lines.find(({ meta }) => meta === this.meta) ?? lines[0];
  }
  static at(line, x) {
    return x === null ? line.x.length - 1 : Plots.nearest(line.x, x);
  }

  press(event) {
    const lines = this.lines();
    const line = this.here(lines);
    if (!line || !Plots.ours(event)) return;
    const at = LineKeyboardNav.at(line, this.x);
    const along = Plots.along(event, at, line.x.length);
    const [by] = this.chart.unit;
    const { end } = this.chart.view;
    const zoom = Plots.closer(event, this.chart.view.zoom ?? [0, end], line.x[at] * by, end); // hours are drawn
    const does = {
      ArrowUp: () => this.next(lines, line, 1),
      ArrowDown: () => this.next(lines, line, -1),
      Escape: () => this.leave(),
    }[event.key];
    if (along === undefined && zoom === undefined && !does) return;
    event.preventDefault();
    if (does) return does();
    this.x = line.x[along ?? at];
    if (along === undefined) this.chart.zoom(zoom);
    else this.show(line);
  }
  next(lines, line, by) {
    const height = (one) => one.y[LineKeyboardNav.at(one, this.x)];
    const order = [...lines].sort((a, b) => height(a) - height(b));
    const to = order[order.indexOf(line) + by];
    if (to) this.show(to);
  }

  show(line) {
    const at = LineKeyboardNav.at(line, this.x);
    const { x: over } = this.chart.view;
    [this.meta, this.x] = [line.meta, line.x[at]];
    const where = {
      step: `step ${wholeNumber(this.x)}`,
      tokens: countWords(Math.round(this.x), "token"),
      time: `${number(this.x)} ${this.chart.unit[1]}`,
      attempt: `${countWords(Math.round(this.x), "step")} in`,
    }[over];
    Plots.tell(this.plot, {
      min: line.x[0],
      max: line.x.at(-1),
      now: this.x,
      text: `${line.name}, ${where}: ${number(line.logged[at])}`,
    });
    Plotly.Fx.hover(this.plot, [{ curveNumber: line.curve, pointNumber: line.known[at] }], ["xy"]);
  }
  leave() {
    if (this.plot._fullLayout) Plotly.Fx.unhover(this.plot);
  }
  again() {
    const line = this.here(this.lines());
    if (line && this.plot.matches(":focus-visible")) this.show(line);
  }
}
