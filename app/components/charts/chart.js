// One panel: title, latest values, and a Plotly chart, which is drawn while it is in view and added to where it can be.
class Chart {
  constructor(panel, board) {
    const { el } = window.groupwise;
    this.panel = panel; this.board = board; this.series = []; this.dirty = null; this.inView = false; this.flat = null;
    this.plot = el("div", { class: "plot" });
    this.cross = el("div", { class: "cross", hidden: true });
    this.wait = el("p", { class: "wait s mut" });
    this.values = el("span", { class: "values s" });
    this.told = el("span", { class: "xs warn told" });
    this.area = el("div", { class: "area" }, this.plot, this.cross);
    this.node = el("figure", { class: "panel chart", "data-chart": panel.title, "data-metrics": panel.pattern || panel.keys.join(" ") },
      el("figcaption", {}, el("span", { class: "about" }, el("h3", {}, panel.title),
        panel.note ? el("span", { class: "xs mut" }, panel.note) : null, this.told), this.values),
      this.wait, this.area);
    this.say(panel.instead || "");
    Chart.watch.observe(this.node);
    Chart.all.set(this.node, this);
  }

  say(words) {
    window.groupwise.say(this.wait, words);
    this.wait.hidden = !words;
    this.plot.hidden = !!words;
  }

  // The metric names that this panel draws, of those that exist; of several names for one thing, the first that does.
  names() {
    const { curves } = this.board;
    if (!this.panel.pattern) return this.panel.keys.map((either) => either.find((key) => curves.get(key))).filter((key) => key);
    const [before, after] = this.panel.pattern.split("*");
    return curves.names.filter((name) => name.startsWith(before) && name.endsWith(after));
  }
  place(name) { return this.panel.keys.findIndex((either) => either.includes(name)); }
  label(name) {
    if (!this.panel.pattern) return this.panel.labels[this.place(name)] ?? name;
    const [before, after] = this.panel.pattern.split("*");
    return name.slice(before.length, name.length - after.length);
  }
  curve(name) { return this.board.curve(name); }
  scale(value) { return value === null ? null : this.panel.unit === "%" ? value * 100 : value; }
  // The n-th metric's CSS variable and its colour.
  variable(index) { return this.panel.colours[index] ?? `--r${(index % 8) + 1}`; }
  colour(index) { return Plots.colour(this.variable(index)); }
  pastOf(name) {
    return this.board.past.filter(({ curves }) => (curves[name]?.x.length ?? 0) > 1)
      .map(({ attempt, curves }) => ({ attempt, curve: curves[name], curves }));
  }

  // Something new: `changed` maps metric names to "whole" or how many points came.
  update(changed, waiting) {
    if (this.panel.instead) return;
    const names = this.names();
    if (!names.length) { this.values.replaceChildren(); this.say(this.empty(waiting)); return; }
    this.say("");
    this.head(this.board.pointed);
    this.note(names);
    const sameLines = names.length === this.drawn?.length && names.every((name, i) => this.drawn[i] === name);
    const all = [...names, ...(this.panel.spread ?? [])];
    const whole = !sameLines || all.some((name) => changed.get(name) === "whole");
    const must = this.panel.stack || this.panel.spread || !this.board.axis.plain || this.board.zoom;
    if (whole || (must && all.some((name) => changed.get(name)))) this.dirty = "whole";
    else if (names.some((name) => changed.get(name))) this.dirty ??= "more";
    if (this.inView) this.draw();
  }
  empty(waiting) {
    const { curves } = this.board;
    if (!curves.names.length) return waiting;
    const ours = this.panel.keys.flat().some((key) => Curves.ours(key));
    if (!curves.logged && !ours) return waiting;
    return (!curves.names.some((name) => name.startsWith("eval_")) && this.panel.wait) || "Nothing of this has been logged so far.";
  }

  // The latest values, or those at the step that the pointer is over in any chart.
  head(step = null) {
    const { el, number } = window.groupwise, names = this.names();
    const unit = this.panel.unit.trim() ? `\u202f${this.panel.unit.trim()}` : "";
    this.values.replaceChildren(...names.map((name, i) => {
      const known = step === null ? this.board.curves.last(name) : this.near(name, step);
      const value = number(this.scale(known ?? null)) + unit;
      if (names.length === 1) return el("b", {}, value);
      const square = el("i", { style: `background:var(${this.variable(i)})` });
      return el("span", { class: "key" }, square, `${this.label(name)} `, el("b", {}, value));
    }));
  }
  // The steps in sight of its longest line.
  steps() {
    const { zoom } = this.board, lines = this.wait.hidden ? this.names().map((name) => this.curve(name)?.x ?? []) : [];
    const longest = lines.reduce((a, b) => (b.length > a.length ? b : a), []);
    return zoom ? longest.filter((step) => step >= zoom[0] && step <= zoom[1]) : longest;
  }
  // Whose groups a step of it leads to.
  mode() { return this.names().every((name) => name.startsWith("eval_")) ? "eval" : null; }
  near(name, step) {
    const curve = this.curve(name), at = curve ? Plots.nearest(curve.x, step) : -1;
    return at < 0 ? undefined : curve.y[at];
  }

  // What a reader must know of what is drawn: values that are no numbers, a scale that does not fit.
  note(names) {
    const count = names.reduce((sum, name) => sum + this.board.curves.notFinite(name), 0);
    const odd = count ? `${count.toLocaleString("en")} value${count === 1 ? " was" : "s were"} not finite` : "";
    const linear = this.board.log ? this.offLog(names) : "";
    window.groupwise.say(this.told, [odd, linear].filter((words) => words).join(" · "));
  }
  // What a log scale does not show.
  offLog(names) {
    if (!this.fitsLog(names)) return this.panel.stack && names.length > 1 ? "parts of a whole: not on a log scale" : "0 or below: not on a log scale";
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
    if (!this.dirty || typeof Plotly === "undefined" || !this.plot.clientWidth) return;
    this.dirty === "whole" ? this.drawWhole() : this.drawMore();
    this.dirty = null;
  }
  redraw() { if (this.drawn || this.dirty) { this.dirty = "whole"; this.note(this.names()); if (this.inView) this.draw(); } }

  drawWhole() {
    this.drawn = this.names();
    this.log = this.board.log && this.fitsLog(this.drawn);
    const data = Traces.of(this, this.drawn);
    Plotly.react(this.plot, data, this.layout(data), { ...Plots.config, doubleClick: false });
    if (!this.wired) { this.wired = true; this.board.listen(this); }
  }

  drawMore() {
    const x = [], y = [], customdata = [], which = [];
    // More points are smoothed more strongly, from the first one on.
    const grown = ({ name, drawn }) => [3, 12, 30, 200].some((edge) => drawn < edge && this.curve(name).x.length >= edge);
    const differs = (value) => !Chart.same(this.scale(value), this.flat);
    const moved = ({ name, drawn }) => this.flat !== null && this.curve(name).y.slice(drawn).some(differs);
    if (this.series.some(grown) || this.series.some(moved)) return this.drawWhole();
    for (const line of this.series) {
      const curve = this.curve(line.name), from = line.drawn, steps = curve.x.slice(from);
      let trace = line.at;
      const add = (values) => { x.push(steps); customdata.push(steps); y.push(values); which.push(trace++); };
      const raw = Traces.y(this, curve.y.slice(from));
      add(raw);
      add(raw.map((value) => line.smoother.next(value)));
      line.drawn = curve.x.length;
    }
    Plotly.extendTraces(this.plot, { x, y, customdata }, which);
  }

  layout(data) {
    const { axis, zoom } = this.board;
    const range = zoom?.map((step) => axis.at(step));
    const [lowest, highest] = this.reach(data, range);
    // What never changed so far is drawn over a ground line at 0, not in a made-up range around it.
    this.flat = Chart.same(lowest, highest) ? lowest : null;
    const few = axis.plain && this.drawn.every((name) => (this.curve(name)?.x.at(-1) ?? 0) < 5);
    return Plots.layout({
      uirevision: null, margin: { l: 44, r: 8, t: 8, b: 20 }, ...this.board.marked(),
      x: { rangemode: "tozero", ...(few ? { dtick: 1 } : {}), ...axis.layout, ...(range ? { range, autorange: false } : { autorange: true }) },
      y: { ...this.upright(lowest, highest, !!range), fixedrange: true, tickformat: Chart.format(Math.max(Math.abs(lowest), Math.abs(highest))), type: this.log ? "log" : "linear", ticksuffix: this.panel.unit === "%" ? "\u202f%" : "" },
    });
  }
  // Alike but for rounding.
  static same(a, b) { return Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b)); }
  static format(size) { return size >= 1e4 ? "~s" : size > 0 && size < 1e-3 ? "~e" : "~g"; }
  // The least and the greatest value in sight. Parts that are stacked are no more than their whole.
  reach(data, range) {
    let low = Infinity, high = -Infinity;
    for (const trace of data) {
      if (trace.stackgroup) { low = Math.min(low, 0); }
      trace.y.forEach((value, i) => {
        if (value === null || (this.log && value <= 0) || (range && (trace.x[i] < range[0] || trace.x[i] > range[1]))) return;
        if (!trace.stackgroup) low = Math.min(low, value);
        high = Math.max(high, value);
      });
    }
    return [low, high];
  }
  upright(lowest, highest, zoomed) {
    if (!Number.isFinite(highest)) return { autorange: true };
    if (this.flat !== null) {
      if (this.log) return { range: [Math.log10(lowest) - 0.5, Math.log10(lowest) + 0.5] };
      const edge = lowest * 1.5 || 1;
      return { range: [Math.min(0, edge), Math.max(0, edge)] };
    }
    if (!zoomed) return { autorange: true };
    const [a, b] = this.log ? [Math.log10(lowest), Math.log10(highest)] : [lowest, highest];
    return { range: [a - (b - a) * 0.06, b + (b - a) * 0.06] };
  }

  // The line that stands in all charts where the pointer is in one of them.
  point(step, own) {
    this.cross.hidden = true;
    if (this.wait.hidden === false || !this.drawn?.length) return;
    this.head(step);
    const axis = this.plot._fullLayout?.xaxis;
    if (step === null || own || !axis || !this.inView) return;
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
  gone() { Chart.all.delete(this.node); Chart.watch.unobserve(this.node); if (typeof Plotly !== "undefined") Plotly.purge(this.plot); this.node.remove(); }
}
Chart.all = new Map();
Plots.ready.then(() => { for (const chart of Chart.all.values()) if (chart.inView) chart.draw(); });
Chart.watch = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const chart = Chart.all.get(entry.target);
    if (!chart) continue;
    chart.inView = entry.isIntersecting;
    if (chart.inView) chart.draw();
  }
}, { rootMargin: "300px" });
