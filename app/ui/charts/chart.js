// One panel: title, latest values, and a Plotly chart, which is drawn before it comes into view and follows while it
// is.

import { el, setText, showText } from "../dom.js";
import { number, percent, percentParts, seconds } from "../number.js";
import { dotted } from "../text.js";
import { Curves } from "./curves.js";
import { FastRedraw } from "./fast_redraw.js";
import { Plots } from "./plots.js";
import { showPointedStep } from "./pointed_words.js";
import { whyNotTold } from "./right_told.js";
import { Span } from "./span.js";
import { Traces } from "./traces.js";

const { l: LEFT, r: RIGHT } = Plots.beside;

export class Chart {
  constructor(panel, board) {
    Object.assign(this, { panel, board, dirty: false, moved: false, inView: false, nearby: false, reach: {} });
    this.plot = el("div.plot");
    this.cross = el("div.cross", { hidden: true });
    this.wait = el("p.wait.s.mut");
    this.values = el("span.values.s");
    this.told = el("span.xs.warn.told");
    this.area = el("div.area", this.plot, this.cross);
    const metrics = panel.pattern || panel.keys.join(" "); // by TRL's names
    const title = el("h3", { title: metrics }, panel.title);
    this.caption = panel.note ? el("span.xs.mut", this.captionWords()) : null;
    this.node = el(
      "figure.panel.chart",
      { "data-chart": panel.title, "data-metrics": metrics },
      el("figcaption", el("span.about", title, this.caption, this.told), this.values),
      this.wait,
      this.area,
    );
    this.showInstead(panel.instead || "Loading…");
    Chart.all.set(this.node, this);
    for (const watch of Chart.watches) watch.observe(this.node);
  }

  // What it shows, and where `span` says so of how many steps a point is the mean.
  captionWords() {
    const { note, span } = this.panel;
    if (this.notToldRight()) return ""; // it would name a function that tells nothing
    return span ? `each point: mean of ${this.board.curves.spanWords(span)}; ${note}` : note;
  }
  // Words in the place of a chart; "" for the chart.
  showInstead(words) {
    showText(this.wait, words);
    this.plot.hidden = !!words;
  }

  // The metric names that this panel draws, of those that exist; of several names for one thing, the first that does.
  names() {
    if (!this.panel.pattern) return this.notToldRight() ? [] : this.logged();
    const [before, after] = this.panel.pattern.split("*");
    return this.board.curves.names.filter((name) => name.startsWith(before) && name.endsWith(after));
  }
  notToldRight() {
    return this.panel.teller ? whyNotTold(this.panel.teller, this.board, this.logged().length > 0) : "";
  }
  logged() {
    const there = (key) => this.board.curves.get(key)?.y;
    const drawn = (key) => (this.panel.rare?.includes(key) ? there(key)?.some((value) => value > 0) : there(key));
    return this.panel.keys.map((either) => either.find(drawn)).filter((key) => key);
  }
  place(name) {
    return this.panel.keys.findIndex((either) => either.includes(name));
  }
  label(name) {
    if (!this.panel.pattern) return this.panel.labels[this.place(name)] ?? name;
    const [before, after] = this.panel.pattern.split("*");
    return name.slice(before.length, name.length - after.length);
  }
  curve(name) {
    return this.board.curve(name);
  }
  scale(value) {
    return value === null ? null : this.panel.unit === "%" ? value * 100 : value;
  }
  // The n-th metric's CSS variable and its colour.
  variable(index) {
    const name = this.names()[index];
    const scored = Curves.functionOf(name) ?? this.panel.functions[this.place(name)];
    return this.panel.colours[index] ?? this.board.colours.get(scored) ?? `--r${(index % 8) + 1}`;
  }
  colour(index) {
    return Plots.colour(this.variable(index));
  }
  pastOf(name) {
    return this.board.past
      .filter(({ curves }) => (curves[name]?.x.length ?? 0) > 1)
      .map(({ attempt, curves }) => ({ attempt, curve: curves[name], curves }));
  }

  // Something new: `changed` has the names of the metrics that have other points.
  update(changed) {
    if (this.panel.instead) return;
    if (this.caption) setText(this.caption, this.captionWords());
    const names = this.names();
    if (!names.some((name) => this.board.curves.hasNumbers(name))) {
      this.head();
      this.showInstead(this.empty());
      return;
    }
    this.showInstead("");
    this.head(this.board.pointed);
    this.note(names);
    const sameLines = names.length === this.drawn?.length && names.every((name, i) => this.drawn[i] === name);
    this.dirty ||= !sameLines || [...names, ...this.panel.spread].some((name) => changed.has(name));
    if (this.inView || (this.nearby && !this.drawn)) this.draw();
  }
  // Why nothing at all is logged yet stands above the charts, once.
  empty() {
    const { curves, live } = this.board;
    const { wait, missed } = this.panel; // which of them holds changes while one looks: it ends, and is resumed
    if (!curves.names.length) return "–";
    return (
      Curves.lackWords(this.names()) ||
      this.notToldRight() ||
      (!curves.names.some((name) => name.startsWith("eval_")) && (live ? wait : missed)) ||
      (live ? "Not logged yet." : curves.unloggedWords(this.panel.log_every))
    );
  }

  // The latest values, or those at the step that the pointer is over in any chart.
  head(step = null) {
    const names = this.names();
    const key = names.join("\n");
    if (this.values.dataset.key !== key) {
      this.values.dataset.key = key;
      this.values.replaceChildren(
        ...names.map((name, i) =>
          names.length === 1 && !this.panel.pattern // of a function one wants to know which
            ? el("b")
            : el(
                "span.key",
                el("i", { style: `background:var(${this.variable(i)})` }),
                `${this.label(name)} `,
                el("b"),
              ),
        ),
      );
    }
    const figure = (name) => (step === null ? this.board.curves.now(name) : this.near(name, step)) ?? null;
    const known = names.map((name) => (this.board.curves.hasNumbers(name) ? figure(name) : null));
    const said = known.map((value) => this.words(value));
    if (this.panel.stack && this.panel.unit === "%" && known.every(Number.isFinite))
      said.splice(1, Infinity, ...percentParts(known[0], known.slice(1)));
    const earlier = (name, i) => (step === null && known[i] !== null ? this.board.curves.earlierWords(name) : "");
    this.values.querySelectorAll("b").forEach((value, i) => setText(value, said[i] + earlier(names[i], i)));
    const curves = names.map((name) => this.curve(name));
    showPointedStep(this.values, curves, step);
  }
  // A value as it stands beside the title: as the box of now, Runs and Compare write it.
  words(value) {
    const unit = this.panel.unit.trim();
    if (value === null || Number.isNaN(value)) return "–";
    if (unit === "%") return percent(value);
    if (unit === "s") return seconds(value);
    return unit ? `${number(value)}\u202f${unit}` : number(value);
  }
  // The steps in sight of its longest line.
  steps() {
    const { zoom } = this.board;
    const lines = this.wait.hidden ? this.names().map((name) => this.curve(name)?.x ?? []) : [];
    const longest = lines.reduce((a, b) => (b.length > a.length ? b : a), []);
    return zoom ? longest.filter((step) => step >= zoom[0] && step <= zoom[1]) : longest;
  }
  // Whose groups a step of it leads to.
  mode() {
    return this.names().every((name) => name.startsWith("eval_")) ? "eval" : null;
  }
  near(name, step) {
    const curve = this.curve(name);
    const at = curve ? Plots.nearest(curve.x, step) : -1;
    return at < 0 ? undefined : curve.y[at];
  }

  // What a reader must know of what is drawn: where there is no number, and why; a scale that does not fit.
  note(names) {
    setText(this.told, dotted(this.board.curves.gapWords(names), this.board.log ? this.offLog(names) : ""));
  }
  // What a log scale does not show.
  offLog(names) {
    if (!this.fitsLog(names))
      return this.panel.stack && names.length > 1
        ? "parts of a whole: not on a log scale"
        : "0 or below: not on a log scale";
    const gone = names.filter((name) => !this.curve(name)?.y.some((value) => value > 0));
    return gone.length ? `${gone.map((name) => this.label(name)).join(", ")}: 0 or below, not on a log scale` : "";
  }
  // A log scale has no place for 0 and below: it is used where most values are above.
  fitsLog(names) {
    if (this.panel.stack && names.length > 1) return false;
    const known = names.flatMap((name) => this.curve(name)?.y ?? []).filter((value) => value !== null);
    return known.filter((value) => value > 0).length > known.length / 2;
  }

  draw() {
    if (!this.dirty || typeof Plotly === "undefined" || !this.plot.clientWidth || Plots.dragged(this.plot)) return;
    this.dirty = false;
    this.drawn = this.names();
    this.log = this.board.log && this.fitsLog(this.drawn);
    const data = Traces.of(this, this.drawn);
    const layout = this.layout(data);
    const look = Chart.look(data, layout);
    this.moved = look === this.look && !this.held() && FastRedraw.move(this.plot, data);
    if (this.moved) return;
    this.look = look;
    this.over = this.board.axis.key;
    Plotly.react(this.plot, data, layout, { ...Plots.config, doubleClick: false });
    if (!this.wired) this.listen();
  }
  redraw() {
    if (!this.drawn && !this.dirty) return;
    this.note(this.names());
    this.reach = {};
    this.anew();
  }
  anew() {
    this.dirty = true;
    this.look = null; // that of no drawing
    if (this.nearby) this.draw();
  }
  // All of a drawing but where its points are.
  static look(data, layout) {
    const points = { x: null, y: null, customdata: null, text: null };
    return JSON.stringify([layout, data.map((trace) => ({ ...trace, ...points }))]);
  }

  // Whoever points at it reads what Plotly knows of its points.
  held() {
    return this.area.matches(":hover, :focus");
  }
  settle() {
    if (this.moved) this.anew();
  }
  listen() {
    this.wired = true;
    this.board.listen(this);
    for (const comes of ["pointerenter", "focus"]) this.area.addEventListener(comes, () => this.settle());
    this.plot.on("plotly_afterplot", () => {
      if (this.moved) FastRedraw.move(this.plot, this.plot.data);
    }); // at another size
  }

  layout(data) {
    const { axis, zoom } = this.board;
    const range = zoom?.map((step) => axis.at(step));
    const seen = Span.of(data, range, this.log);
    const few = axis.plain && this.drawn.every((name) => (this.curve(name)?.x.at(-1) ?? 0) < 5);
    const grows = this.board.live && data.every((trace) => trace.mode === "lines");
    const reach = range ?? this.board.reach();
    const along = { range: reach, autorange: !reach };
    const wide = this.plot.clientWidth - LEFT - RIGHT;
    const marked = this.board.marked(reach ?? [0, seen.x[1]], wide, RIGHT);
    const unit = this.panel.unit === "%" ? "\u202f%" : "";
    return Plots.layout({
      uirevision: null,
      margin: { ...Plots.beside, t: marked.annotations.length ? 20 : 8, b: 24 },
      ...marked,
      x: { rangemode: "tozero", ...(few ? { dtick: 1 } : {}), ...axis.layout, ...along },
      y: {
        ...this.upright(seen.y, data, range || grows),
        fixedrange: true,
        tickformat: Chart.format(Math.max(...seen.y.map(Math.abs))),
        type: this.log ? "log" : "linear",
        ...(this.log ? Span.logTicks(seen.y, unit) : {}),
        ticksuffix: unit,
      },
    });
  }
  static format(size) {
    return size >= 1e4 ? "~s" : size > 0 && size < 1e-3 ? "" : ".4~g"; // not as many digits as a third has
  }
  upright([low, high], data, ours) {
    if (!Number.isFinite(high)) return { autorange: true };
    if (Span.same(low, high)) {
      // What never changed so far is drawn over a ground line at 0, not in a made-up range around it.
      const edge = this.panel.unit === "%" && low <= 100 ? Math.min(105, low * 1.5) || 1 : low * 1.5 || 1;
      return {
        range: this.log ? [Math.log10(low) - 0.5, Math.log10(low) + 0.5] : [Math.min(0, edge), Math.max(0, edge)],
      };
    }
    if (!ours) return { autorange: true };
    const values = this.log ? [Math.log10(low), Math.log10(high)] : [low, high];
    this.reach.y = Span.upright(this.reach.y, values, !this.log && data.some((trace) => trace.stackgroup));
    return { range: this.reach.y };
  }

  // The line that stands in all charts where the pointer is in one of them.
  point(step, own) {
    this.cross.hidden = true;
    if (this.wait.hidden === false || !this.drawn?.length) return;
    this.head(step);
    const axis = this.plot._fullLayout?.xaxis;
    if (step === null || own || !axis) return;
    const left = axis.l2p(this.board.axis.at(step));
    if (!(left >= 0 && left <= axis._length)) return;
    this.cross.style.left = `${axis._offset + left}px`;
    this.cross.hidden = false;
  }
  // What Plotly shows under a pointer there; null: nothing.
  hover(step) {
    const { xaxis, yaxis } = this.plot._fullLayout ?? {};
    if (!xaxis) return;
    if (step === null) Plotly.Fx.unhover(this.plot);
    else Plotly.Fx.hover(this.plot, { xval: this.board.axis.at(step), yval: yaxis.p2c(yaxis._length / 2) }, ["xy"]);
  }
  gone() {
    Chart.all.delete(this.node);
    for (const watch of Chart.watches) watch.unobserve(this.node);
    if (typeof Plotly !== "undefined") Plotly.purge(this.plot);
    this.node.remove();
  }
}
Chart.all = new Map();
Plots.ready.then(() => {
  for (const chart of Chart.all.values()) if (chart.nearby) chart.draw();
});
Plots.afterDrag(() => {
  for (const chart of Chart.all.values()) if (chart.inView) chart.draw();
});
// Whether it is in view, or will be if one scrolls on a little.
Chart.watches = [
  ["inView", "0px"],
  ["nearby", "300px"],
].map(
  ([which, rootMargin]) =>
    new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          const chart = Chart.all.get(entry.target);
          if (!chart) continue;
          chart[which] = entry.isIntersecting;
          if (chart[which]) chart.draw();
        }
      },
      { rootMargin },
    ),
);
