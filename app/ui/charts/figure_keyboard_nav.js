// A figure of the Statistics by keyboard: ← and → along its steps, columns or bars (a tenth of them with Shift), ↑ and
// ↓ along the rows of a heat map, Enter to the completions there. To a screen reader it is a slider, whose value is
// what is counted there.

import { number } from "../number.js";
import { Plots } from "./plots.js";

export class FigureKeyboardNav {
  // `open(point)` is what a click on a point does; `point` as Plotly gives it.
  constructor(plot, name, open) {
    Object.assign(this, { plot, open, column: null, row: null });
    Plots.slider(plot, name, this);
  }

  get traces() {
    return this.plot.data ?? [];
  }
  get map() {
    return this.traces[0]?.type === "heatmap";
  }
  // A heat map's x and y are the edges of its cells.
  get columns() {
    return (this.map ? this.traces[0].z[0] : this.traces[0]?.x)?.length ?? 0;
  }
  get rows() {
    return this.traces[0].z.length;
  }
  // The row of a column's cell with the most in it.
  fullest(column) {
    return this.traces[0].z.reduce((best, line, row, all) => (line[column] > (all[best][column] ?? 0) ? row : best), 0);
  }

  press(event) {
    if (!this.columns || !Plots.ours(event)) return;
    const column = Math.min(this.column ?? this.columns - 1, this.columns - 1);
    const along = Plots.along(event, column, this.columns);
    const up = this.map ? { ArrowUp: 1, ArrowDown: -1 }[event.key] : undefined;
    if (along === undefined && up === undefined && !["Enter", "Escape"].includes(event.key)) return;
    event.preventDefault();
    if (event.key === "Escape") return this.leave();
    if (event.key === "Enter") return this.enter();
    if (up) this.row = Math.max(0, Math.min(this.rows - 1, this.row + up));
    else this.column = along;
    this.show();
  }
  // A cell that is empty leads nowhere, as it does under a pointer.
  enter() {
    const { row, column } = this;
    if (!this.map) this.open({ pointIndex: column });
    else if (this.traces[0].z[row][column] !== null) this.open({ pointIndex: [row, column] });
  }

  show() {
    const { plot, traces } = this;
    this.column = Math.min(this.column ?? this.columns - 1, this.columns - 1);
    if (this.map) this.row = Math.min(this.row ?? this.fullest(this.column), this.rows - 1);
    Plots.tell(plot, { max: this.columns, now: this.column + 1, text: this.words() });
    const [{ x, y, type }] = traces;
    const { yaxis } = plot._fullLayout;
    const { column, row } = this;
    // of an empty cell Plotly shows nothing
    if (this.map) Plots.frame(plot, [x[column], x[column + 1]], [y[row], y[row + 1]]);
    if (type === "bar") Plotly.Fx.hover(plot, [{ curveNumber: 0, pointNumber: column }], ["xy"]);
    else if (this.map)
      Plotly.Fx.hover(plot, { xval: (x[column] + x[column + 1]) / 2, yval: (y[row] + y[row + 1]) / 2 }, ["xy"]);
    else Plotly.Fx.hover(plot, { xval: x[column], yval: yaxis.p2c(yaxis._length / 2) }, ["xy"]);
  }
  words() {
    const { traces, column, row } = this;
    const [{ text, customdata }] = traces;
    if (text) return (this.map ? text[row] : text)[column].replaceAll("<br>", ", ");
    const unit = traces[0].hovertemplate.includes("%{y:.3~g} %") ? " %" : "";
    const values = traces
      .filter(({ y }) => y[column] !== null)
      .map(({ name, y }) => `${name} ${number(y[column])}${unit}`);
    return `${customdata[column]}: ${values.join(", ")}`;
  }
  leave() {
    Plots.unframe(this.plot);
    if (this.plot._fullLayout) Plotly.Fx.unhover(this.plot);
  }
  // It has the focus, or was drawn anew while it has it.
  again() {
    if (this.columns && this.plot.matches(":focus-visible")) this.show();
  }
}
