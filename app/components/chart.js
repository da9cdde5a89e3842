// One panel: title, latest values, and a Plotly chart that is made once and then only added to, so that zoom stays.
class Chart {
  constructor(panel, curves) {
    const { el } = window.groupwise;
    this.panel = panel; this.curves = curves; this.series = []; this.dirty = null; this.inView = false;
    this.plot = el("div", { class: "plot" });
    this.wait = el("p", { class: "wait s mut" });
    this.values = el("span", { class: "values s" });
    this.node = el("figure", { class: "panel chart", "data-chart": panel.title },
      el("figcaption", {}, el("span", { class: "about" }, el("h3", {}, panel.title),
        panel.note ? el("span", { class: "xs mut" }, panel.note) : null), this.values), this.wait, this.plot);
    this.say(panel.instead || "");
    Chart.watch.observe(this.node);
    Chart.all.set(this.node, this);
  }

  say(words) {
    window.groupwise.say(this.wait, words);
    this.wait.hidden = !words;
    this.plot.hidden = !!words;
  }

  // The metric names that this panel draws, of those that exist.
  names() {
    if (!this.panel.pattern) return this.panel.keys.filter((key) => this.curves.get(key));
    const [before, after] = this.panel.pattern.split("*");
    return this.curves.names.filter((name) => name.startsWith(before) && name.endsWith(after) && !name.startsWith("eval_"));
  }
  label(name) {
    if (!this.panel.pattern) return this.panel.labels[this.panel.keys.indexOf(name)] ?? name;
    const [before, after] = this.panel.pattern.split("*");
    return name.slice(before.length, name.length - after.length);
  }
  scale(value) { return value === null ? null : this.panel.unit === "%" ? value * 100 : value; }
  colour(index) { return window.groupwise.colour(`--r${(index % 8) + 1}`); }

  // Something new: `changed` maps metric names to "whole" or how many points came.
  update(changed, waiting) {
    if (this.panel.instead) return;
    const names = this.names();
    if (!names.length) { this.say(this.curves.names.length ? this.panel.wait || "TRL has not logged this so far." : waiting); return; }
    this.say("");
    this.head(names);
    const sameLines = names.length === this.series.length && names.every((name, i) => this.series[i].name === name);
    if (!sameLines || names.some((name) => changed.get(name) === "whole")) this.dirty = "whole";
    else if (names.some((name) => changed.get(name))) this.dirty ??= "more";
    if (this.inView) this.draw();
  }

  head(names) {
    const { el, number } = window.groupwise;
    const unit = this.panel.unit.trim() ? `\u202f${this.panel.unit.trim()}` : "";
    this.values.replaceChildren(...names.map((name, i) => {
      const value = number(this.scale(this.curves.last(name) ?? null)) + unit;
      if (names.length === 1) return el("b", {}, value);
      const square = el("i", { style: `background:var(--r${(i % 8) + 1})` });
      return el("span", { class: "key" }, square, `${this.label(name)} `, el("b", {}, value));
    }));
  }

  draw() {
    if (!this.dirty || typeof Plotly === "undefined" || !this.plot.clientWidth) return;
    this.dirty === "whole" ? this.drawWhole() : this.drawMore();
    this.dirty = null;
  }

  // Lines per metric: band (two), raw, smoothed. The raw line answers the pointer.
  lines(name, index) {
    const curve = this.curves.get(name), colour = this.colour(index), y = curve.y.map((value) => this.scale(value));
    const smoother = new Smoother(this.panel.smooth === false ? 0 : curve.x.length), smooth = y.map((value) => smoother.next(value));
    this.series.push({ name, smoother, drawn: curve.x.length, banded: !!curve.low });
    const base = { x: curve.x, mode: "lines", type: "scatter", hoverinfo: "skip", showlegend: false };
    const few = curve.x.length < 3;
    const band = curve.low ? [
      { ...base, y: curve.low.map((v) => this.scale(v)), line: { width: 0 } },
      { ...base, y: curve.high.map((v) => this.scale(v)), line: { width: 0 }, fill: "tonexty", fillcolor: Chart.fade(colour, 0.13) },
    ] : [];
    return [...band,
      { ...base, y, name: this.label(name), hoverinfo: undefined, mode: curve.x.length <= 12 ? "lines+markers" : "lines",
        marker: { color: colour, size: 5 }, line: { color: Chart.fade(colour, few ? 1 : 0.32), width: 1 },
        hovertemplate: `%{y:.4~g}<extra>${Chart.plain(this.label(name))}</extra>` },
      { ...base, y: smooth, line: { color: colour, width: 2 } }].map((line) => ({ ...line, x: [...curve.x] }));
  }

  drawWhole() {
    this.series = [];
    const data = this.names().flatMap((name, index) => this.lines(name, index));
    Plotly.react(this.plot, data, this.layout(), { displayModeBar: false, responsive: true, doubleClick: "reset" });
    if (!this.wired) {
      this.wired = true;
      this.plot.on("plotly_click", ({ points }) => this.clicked(points[0].x));
      this.plot.on("plotly_doubleclick", () => { this.doubled = Date.now(); });
    }
  }

  // A click leads to the step's groups, unless it is one of the two that reset the zoom.
  clicked(step) {
    clearTimeout(this.click);
    this.click = setTimeout(() => {
      if (Date.now() - (this.doubled ?? 0) > 900) dispatchEvent(new CustomEvent("groupwise:step", { detail: step }));
    }, 400);
  }

  drawMore() {
    const x = [], y = [], which = [];
    let trace = 0;
    // More points are smoothed more strongly, from the first one on.
    const grown = ({ name, drawn }) => [3, 12, 30, 200].some((edge) => drawn < edge && this.curves.get(name).x.length >= edge);
    const differs = (value) => this.scale(value) !== this.flat;
    const moved = ({ name, drawn }) => this.flat !== null && this.curves.get(name).y.slice(drawn).some(differs);
    if (this.series.some(grown) || this.series.some(moved)) return this.drawWhole();
    for (const line of this.series) {
      const curve = this.curves.get(line.name), from = line.drawn, steps = curve.x.slice(from);
      const add = (values) => { x.push(steps); y.push(values); which.push(trace++); };
      const raw = curve.y.slice(from).map((value) => this.scale(value));
      if (line.banded) { add(curve.low.slice(from).map((v) => this.scale(v))); add(curve.high.slice(from).map((v) => this.scale(v))); }
      add(raw);
      add(raw.map((value) => line.smoother.next(value)));
      line.drawn = curve.x.length;
    }
    Plotly.extendTraces(this.plot, { x, y }, which);
  }

  layout() {
    const { colour } = window.groupwise, ink = colour("--ink-3"), line = colour("--line");
    const axis = { gridcolor: line, zeroline: false, linecolor: line, tickfont: { size: 10, color: ink }, automargin: false };
    const known = this.series.flatMap(({ name }) => this.curves.get(name)?.y ?? []).filter((value) => value !== null);
    const values = known.map((value) => this.scale(value));
    const lowest = values.reduce((a, b) => Math.min(a, b), Infinity);
    const highest = values.reduce((a, b) => Math.max(a, b), -Infinity);
    // What never changed so far is drawn over a ground line at 0, not in a made-up range around it.
    this.flat = lowest === highest ? lowest : null;
    const edge = lowest * 1.5 || 1;
    const ground = this.flat === null ? { autorange: true } : { range: [Math.min(0, edge), Math.max(0, edge)] };
    const whole = this.series.every(({ name }) => (this.curves.get(name)?.x.at(-1) ?? 0) >= 5);
    return {
      height: 150, margin: { l: 44, r: 6, t: 6, b: 20 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: colour("--font"), size: 11, color: colour("--ink") },
      hovermode: "x unified", dragmode: "zoom", uirevision: "kept",
      hoverlabel: { bgcolor: colour("--panel"), bordercolor: colour("--line-strong"), font: { size: 11, color: colour("--ink") } },
      xaxis: { ...axis, showgrid: false, nticks: 6, ...(whole ? {} : { dtick: 1 }), rangemode: "tozero",
        unifiedhovertitle: { text: "step %{x}" } },
      yaxis: { ...axis, nticks: 4, ...ground, tickformat: highest >= 1e4 ? "~s" : "~g", exponentformat: "e" },
    };
  }

  // New colours: lines and layout again, the zoom stays (uirevision).
  repaint() { if (this.series.length) { this.dirty = "whole"; if (this.inView) this.draw(); } }

  static fade(hex, alpha) {
    const n = parseInt(hex.slice(1), 16);
    return `rgba(${n >> 16},${(n >> 8) & 255},${n & 255},${alpha})`;
  }
  // Plotly reads a small HTML of its own in hover texts; a metric's name must not be any.
  static plain(words) { return words.replace(/[<>&%{}]/g, " "); }
}
Chart.all = new Map();
Chart.watch = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const chart = Chart.all.get(entry.target);
    chart.inView = entry.isIntersecting;
    if (chart.inView) chart.draw();
  }
}, { rootMargin: "600px" });
