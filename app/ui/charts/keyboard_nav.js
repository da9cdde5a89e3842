// The charts of a board by keyboard. They are one stop of the Tab key: ↑ and ↓ lead from chart to chart, ← and → along
// the steps in sight (a tenth of them with Shift), Enter to a step's groups, + looks closer and − back. To a screen
// reader each is a slider, whose value is the step and what was logged there.

import { Plots } from "./plots.js";

export class KeyboardNav {
  constructor(board) {
    Object.assign(this, { board, here: null, step: null });
  }

  add(chart) {
    const again = () => {
      this.here = chart;
      this.again();
    };
    const leave = () => {
      this.leave(chart);
      this.settle();
    };
    const press = (event) => this.press(event, chart);
    Plots.slider(chart.area, `${chart.panel.title} by step`, { press, again, leave });
    Plots.tell(chart.area, { min: 0, max: 0, now: 0 });
    chart.area.tabIndex = -1;
  }

  // One of those that are drawn is where the Tab key stops.
  settle() {
    const { charts } = this.board;
    const known = charts.map((chart) => chart.steps());
    if (!known[charts.indexOf(this.here)]?.length) this.here = charts.find((_, n) => known[n].length) ?? null;
    charts.forEach((chart, n) => {
      chart.area.tabIndex = chart === this.here ? 0 : -1;
      if (known[n].length) Plots.tell(chart.area, { min: known[n][0], max: known[n].at(-1) });
    });
  }

  press(event, chart) {
    const steps = chart.steps();
    const { board } = this;
    if (!steps.length || !Plots.ours(event)) return;
    const at = Plots.nearest(steps, this.step ?? steps.at(-1));
    const along = Plots.along(event, at, steps.length);
    const zoom = Plots.closer(event, board.zoom ?? [0, board.curves.lastStep], steps[at], board.curves.lastStep);
    const does = {
      ArrowUp: () => this.next(chart, -1),
      ArrowDown: () => this.next(chart, 1),
      Enter: () => board.open(steps[at], chart.mode()),
      Escape: () => this.leave(chart),
    }[event.key];
    if (along === undefined && zoom === undefined && !does) return;
    event.preventDefault();
    if (does) return does();
    this.step = steps[along ?? at];
    if (along === undefined) board.zoomTo(zoom);
    else this.show(chart);
  }
  next(chart, by) {
    const drawn = this.board.charts.filter((one) => one.steps().length);
    const to = drawn[drawn.indexOf(chart) + by];
    if (!to) return;
    to.area.focus({ preventScroll: true });
    to.node.scrollIntoView({ block: "nearest" });
  }

  // The step in all charts, and the chart's own words on it. A mouse shows it where it points.
  show(chart) {
    const steps = chart.steps();
    if (!steps.length) return;
    this.step = steps[Plots.nearest(steps, this.step ?? steps.at(-1))];
    this.board.point(this.step, chart);
    const figures = [...chart.values.children].filter((one) => !one.matches(".at")).map((one) => one.textContent);
    const text = `step ${this.step.toLocaleString("en")}: ${figures.join("")}`;
    Plots.tell(chart.area, { now: this.step, text });
    chart.hover(this.step);
  }
  leave(chart) {
    this.board.point(null, null);
    chart.hover(null);
  }
  again() {
    if (this.here?.area.matches(":focus-visible")) this.show(this.here);
  }
}
