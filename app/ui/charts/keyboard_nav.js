// The charts of a board by keyboard. They are one stop of the Tab key: ↑ and ↓ lead from chart to chart, ← and → along
// the steps in sight (a tenth of them with Shift), Enter to a step's groups, + looks closer and − back. To a screen
// reader each is a slider, whose value is the step and what was logged there.

import { Plots } from "./plots.js";

export class KeyboardNav {
  constructor(board) {
    this.board = board;
    this.here = null;
    this.step = null;
  }

  add(chart) {
    const { area, panel } = chart;
    const look = {
      role: "slider",
      tabindex: "-1",
      "aria-label": `${panel.title} by step`,
      "aria-valuemin": 0,
      "aria-valuemax": 0,
      "aria-valuenow": 0,
    };
    for (const [name, value] of Object.entries(look)) area.setAttribute(name, value);
    area.addEventListener("keydown", (event) => this.press(event, chart));
    area.addEventListener("focus", () => {
      this.here = chart;
      this.again();
    });
    area.addEventListener("blur", () => {
      this.leave(chart);
      this.settle();
    });
  }

  // One of those that are drawn is where the Tab key stops.
  settle() {
    const { charts } = this.board;
    const known = charts.map((chart) => chart.steps());
    if (!known[charts.indexOf(this.here)]?.length) this.here = charts.find((_, n) => known[n].length) ?? null;
    charts.forEach((chart, n) => {
      chart.area.tabIndex = chart === this.here ? 0 : -1;
      if (!known[n].length) return;
      chart.area.setAttribute("aria-valuemin", known[n][0]);
      chart.area.setAttribute("aria-valuemax", known[n].at(-1));
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
    const { area } = chart;
    area.setAttribute("aria-valuenow", this.step);
    area.setAttribute("aria-valuetext", `step ${this.step.toLocaleString("en")}: ${chart.values.textContent}`);
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
