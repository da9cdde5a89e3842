// What all charts of a board share: the curves, what they are drawn along, the zoom and where the pointer is.

import { onAddress, params, setParams } from "../address.js";
import { setText, show } from "../dom.js";
import { countWords, number } from "../number.js";
import { colour } from "../theme.js";
import { AXES, Axis } from "./axis.js";
import { Curves } from "./curves.js";
import { KeyboardNav } from "./keyboard_nav.js";
import { Logged } from "./logged.js";
import { anchorLabels } from "./mark_labels.js";
import { Plots } from "./plots.js";
import { Smoother } from "./smoother.js";
import { Span } from "./span.js";
import { Taps } from "./taps.js";
import { Traces } from "./traces.js";

const aside = (words) => (words ? ` (${words})` : "");
const DOTTED = " Dotted: from before a resume.";
export class Board {
  // `ask({names, first, last})` brings a closer look at some steps; `root` has the controls.
  constructor(root, ask) {
    // `zoom`: the [first, last] step in sight, or null for all
    Object.assign(this, { root, ask, close: null, charts: [], asked: 0, live: false, zoom: null });
    this.known = false; // whether it is known which score the function that says what is right gives what is
    this.colours = new Map(); // function → CSS variable (app/ui/function_colours.py)
    this.curves = new Curves();
    this.keyboardNav = new KeyboardNav(this);
    this.read();
    this.controls();
    onAddress(() => this.readdress());
  }

  // ---- the address: x, log and zoom ----
  read() {
    const now = params();
    this.wish = now.get("x") in AXES ? now.get("x") : "step";
    this.log = now.get("log") === "1";
    this.zoom = Plots.zoomOf(now.get("zoom"));
    this.axis = new Axis(Axis.has(this.wish, this.curves) ? this.wish : "step", this.curves);
  }
  readdress() {
    clearTimeout(this.click); // one went elsewhere meanwhile
    const before = JSON.stringify([this.wish, this.log, this.zoom]);
    this.read();
    if (JSON.stringify([this.wish, this.log, this.zoom]) !== before) this.moved();
  }
  set(changes) {
    setParams(changes);
  }

  controls() {
    const find = (selector) => this.root.querySelector(selector);
    for (const button of this.root.querySelectorAll(".axes button")) {
      button.addEventListener("click", () => this.set({ x: button.dataset.x === "step" ? null : button.dataset.x }));
    }
    find(".log input").addEventListener("change", (event) => this.set({ log: event.target.checked ? "1" : null }));
    find(".whole").addEventListener("click", () => this.zoomTo(null));
  }
  // Which choices there are, what is chosen, and how much of the record is drawn.
  tell() {
    const find = (selector) => this.root.querySelector(selector);
    for (const button of this.root.querySelectorAll(".axes button")) {
      const can = Axis.has(button.dataset.x, this.curves);
      button.disabled = !can;
      button.title = can ? "" : AXES[button.dataset.x].missing;
      button.setAttribute("aria-pressed", `${button.dataset.x === this.axis.name}`);
    }
    find(".log input").checked = this.log;
    show(find(".whole"), this.zoom, find(".log input"));
    setText(find(".shown"), this.amount(number));
    setText(find(".smoothed"), this.smoothing());
  }
  // What the two lines of a chart are: that of the reward, which all that is logged with it shares; and of how many
  // steps the bold one is the mean: of as many as “now” is, or where not all points are drawn, of as many of these.
  smoothing() {
    const { x, of } = this.curve("reward") ?? { x: [] };
    const { interval, logs } = this.curves;
    const reach = Smoother.reach(x.length);
    const dotted = this.past.length ? DOTTED : "";
    const example = this.withFaint();
    const told = (mean, faint, where = "") => (example ? `Bold: ${mean}. Faint${where}: ${faint}.` : `Lines: ${mean}.`);
    if (!reach)
      return interval > 1 && x.length
        ? told(`the mean of each log${aside(Logged.sizeWords(logs))}`, "each step", `, as in “${example?.panel.title}”`)
        : "";
    if (!(of > x.length)) {
      const now = logs.length ? Logged.closing(logs, this.curves.window) : null;
      const last = now?.count ?? this.curves.recent("reward")?.n ?? reach;
      if (last === 1 && interval === 1) return ""; // one line lies on the other
      const steps = now ? now.until - now.after : last * interval;
      const of =
        interval > 1 ? `${countWords(last, "log")} (${countWords(steps, "step")})` : countWords(last, "logged step");
      return `${told(`the mean of the last ${of}`, "as logged")}${dotted}`;
    }
    const last = countWords(Math.round((reach * of) / x.length), interval > 1 ? "logged step" : "step");
    return `${told(`the mean of the last about ${last}`, "as logged")}${dotted}`;
  }
  // The first chart that shows a fainter line beside the bold one; where a point is a log by itself, few do.
  withFaint() {
    return this.charts.find((chart) => Traces.hasFaint(chart, chart.names()));
  }
  amount(number) {
    const from = this.close && this.zoom ? this.close : this.curves;
    const longest = from.names.map((name) => from.get(name)).reduce((a, b) => (b.of > (a?.of ?? 0) ? b : a), null);
    const steps = this.zoom
      ? `Steps ${this.zoom.map((step) => Math.max(0, Math.round(step)).toLocaleString("en")).join("–")}`
      : "";
    if (!longest?.low) return this.close && steps ? `${steps}: every point` : steps;
    const of = `${number(longest.x.length)} of ${number(longest.of)}`;
    const count = `${of} points, with the least and greatest between them`;
    return [steps, steps ? count : `${count}; drag across a chart to look closer`].filter((words) => words).join(": ");
  }

  // ---- the curves ----
  curve(name) {
    return (this.zoom && this.close?.get(name)) || this.curves.get(name);
  }
  get past() {
    return this.zoom && this.close ? this.close.past : this.curves.past;
  }

  // Takes an answer of the server; gives the names of the metrics that changed.
  take(answer) {
    const marks = JSON.stringify(this.curves.marks);
    const changed = this.curves.take(answer);
    const ended = this.live && !answer.live;
    this.live = answer.live;
    if (answer.reset) this.look();
    else if (this.close?.live)
      this.close.take({
        ...answer,
        curves: Object.fromEntries(Object.entries(answer.curves).filter(([name]) => this.close.get(name))),
      });
    const { name, key } = this.axis;
    if (this.wish !== name && Axis.has(this.wish, this.curves)) this.axis = new Axis(this.wish, this.curves);
    else this.axis.refresh();
    if (ended || this.axis.key !== key || JSON.stringify(this.curves.marks) !== marks)
      for (const chart of this.charts) chart.redraw();
    return changed;
  }
  update(changed) {
    const before = this.room?.range ?? null;
    if (this.reach() !== before) for (const chart of this.charts) if (chart.drawn) chart.anew();
    for (const chart of this.charts) chart.update(changed);
    this.keyboardNav.settle();
    this.keyboardNav.again();
    this.tell();
  }
  add(chart) {
    this.charts.push(chart);
    this.keyboardNav.add(chart);
  }
  drop(chart) {
    this.charts = this.charts.filter((one) => one !== chart);
    chart.gone();
    this.keyboardNav.settle();
  }

  // ---- zoom: of one chart, and so of all; what is in sight is asked for as finely as it can be drawn ----
  zoomTo(range) {
    const digits = range && range[1] - range[0] < 50 ? 2 : 0;
    this.set({ zoom: range ? range.map((step) => +step.toFixed(digits)).join("..") : null });
  }
  moved() {
    this.look();
    this.redraw();
    this.tell();
  }
  redraw() {
    for (const chart of this.charts) chart.redraw();
    this.keyboardNav.settle();
    this.keyboardNav.again();
  }
  async look() {
    const asked = ++this.asked;
    this.close = null;
    const coarse = this.curves.names.some((name) => this.curves.get(name).low);
    if (!this.zoom || !coarse) return;
    const [first, last] = Plots.around(this.zoom);
    const live = this.zoom[1] >= this.curves.lastStep;
    const names = [...new Set(this.charts.flatMap((chart) => [...chart.names(), ...(chart.panel.spread ?? [])]))];
    const found = await this.ask({ names, first, last });
    if (asked !== this.asked || !found?.curves) return;
    this.close = new Curves();
    this.close.take({ ...found, reset: true });
    this.close.live = live;
    this.redraw();
    this.tell();
    this.root.dataset.close = found.bucket;
  }

  // From where to where the axis of each chart goes, so that a step stands at one place in all: to the newest step, or
  // where an earlier attempt had come, and beyond that while it trains; null before the first step.
  reach() {
    const end = this.end();
    if (!(end > 0)) return null;
    const before = this.room?.key === this.axis.key ? this.room.range : null;
    const range = this.live ? Span.along(before, end, this.curves.lastStep) : [0, end];
    const stands = before && range[1] === before[1] ? before : range;
    this.room = { key: this.axis.key, range: stands };
    return stands;
  }
  end() {
    const { axis, curves } = this;
    const past = curves.past.flatMap(({ curves: of }) => {
      const own = of[AXES[axis.name].of] ?? null;
      return Object.values(of).map(({ x }) => axis.at(x.at(-1) ?? 0, own));
    });
    return Math.max(axis.at(curves.lastStep), ...past);
  }

  // ---- the pointer ----
  listen(chart) {
    const { plot } = chart;
    plot.on("plotly_click", (click) => {
      const point = Taps.leadsOn(plot, click);
      if (point) this.clicked(point.customdata ?? point.x, chart.mode());
    });
    plot.on("plotly_doubleclick", () => {
      if (Taps.finger) return; // two taps are a look and a click
      this.doubled = Date.now();
      this.zoomTo(null);
    });
    plot.on("plotly_hover", ({ points }) => this.point(points[0].customdata ?? points[0].x, chart));
    plot.on("plotly_unhover", () => this.point(null, chart));
    plot.on("plotly_relayout", (change) => {
      const range = Plots.chosen(change);
      if (change["xaxis.autorange"]) this.zoomTo(null);
      else if (range && chart.over === this.axis.key) this.zoomTo(range.map((place) => this.axis.step(place)));
    });
  }
  point(step, own) {
    this.pointed = step;
    for (const chart of this.charts) {
      if (chart.inView) chart.point(step, chart === own);
      else chart.cross.hidden = true; // it may have scrolled away with it
    }
  }
  // A click leads to the step's groups, unless it is one of the two that reset the zoom.
  clicked(step, mode) {
    clearTimeout(this.click);
    this.click = setTimeout(() => {
      if (Date.now() - (this.doubled ?? 0) > 900) this.open(step, mode);
    }, 400);
  }
  open(step, mode) {
    this.point(null, null);
    dispatchEvent(new CustomEvent("groupwise:step", { detail: { step, mode } }));
  }

  // Where attempts and stages began, as a chart's layout has it. Of its axis: from and to where it goes in sight, how
  // many px wide it is, and how many are free beside it.
  marked([from, to], wide, beside) {
    const line = { color: colour("--ink-3"), width: 1, dash: "dot" };
    const upright = { type: "line", xref: "x", yref: "paper", y0: 0, y1: 1, line, layer: "below" };
    // Above the curves, never over them.
    const top = { y: 1, xref: "x", yref: "paper", yanchor: "bottom" };
    const look = { ...top, showarrow: false, font: { size: 12, color: colour("--ink-3") } };
    const place = this.curves.marks.map(({ step, kind, attempt, stage }) => {
      const x = this.axis.at(step);
      const text = kind === "stage" ? `stage ${Number(stage)}` : `attempt ${Number(attempt)}`;
      return { x, text, at: ((x - from) / (to - from)) * wide };
    });
    const anchors = place.length <= 6 ? anchorLabels(place, wide + beside) : [];
    const label = (xanchor, n) => {
      const { x, text } = place[n];
      return xanchor ? [{ ...look, x, text, xanchor, xshift: xanchor === "left" ? -2 : 2 }] : [];
    };
    return { shapes: place.map(({ x }) => ({ ...upright, x0: x, x1: x })), annotations: anchors.flatMap(label) };
  }
}
