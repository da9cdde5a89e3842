// This prompt over time: a chart of its times, two of them to choose, and what was written at both.

import { openGroup, setParams, without } from "../../ui/address.js";
import { Plots } from "../../ui/charts/plots.js";
import { el, option, setHtml, setText } from "../../ui/dom.js";
import { colour } from "../../ui/theme.js";

const x = (times) => times.map((time) => time.step);
const y = (times, name) => times.map((time) => time[name]);
// What is read under a pointer, and which time a click chooses.
const pointed = (times) => ({
  customdata: times.map((time) => time.id),
  text: times.map((time) => Plots.plain(time.label)),
  hovertemplate: "%{text}<extra></extra>",
  hoverinfo: undefined,
  showlegend: true,
});
// Times beside the line, none or one trace of them.
function points(base, times, name, symbol) {
  const look = { mode: "markers", marker: { size: 7, color: colour("--r1"), symbol } };
  return times.length ? [{ ...base, ...look, x: x(times), y: y(times, "mean"), name, ...pointed(times) }] : [];
}

export class SamePrompt {
  constructor(box, run, ask) {
    Object.assign(this, { box, run, ask, mark: null, drawn: null, times: [] });
    const choice = (name, words) => {
      const list = el("select.input.s", { name });
      list.addEventListener("change", () => setParams({ [name]: list.value }));
      return [list, el("label.s.row.tight", words, list)];
    };
    const [then, thenLabel] = choice("then", "then");
    const [now, nowLabel] = choice("now", "now");
    this.each = el("input", { type: "checkbox" });
    this.each.addEventListener("change", () => setParams({ each: this.each.checked ? "1" : null }));
    Object.assign(this, { then, now });
    this.asked = el("section.panel.prompt");
    this.told = el("p.s.mut");
    this.plot = el("div.plot", { role: "img", "aria-label": "Mean reward and solve rate each time this prompt came" });
    this.pair = el("div");
    const hint = el("p.xs.mut.hint", "Click a time to see its completions as now; with Shift, as then.");
    this.several = [thenLabel, nowLabel, this.plot, hint];
    const back = el("button.btn.s", { title: "Back (o)", onclick: () => this.back() }, "← Back to the groups");
    box.append(
      el("div.row.between", el("h2", "This prompt over time"), back),
      this.asked,
      el("section.panel", this.told, this.plot, hint),
      el("div.row.picker", thenLabel, nowLabel, el("label.s.row.tight", this.each, "each completion")),
      this.pair,
    );
    box.addEventListener("click", ({ target }) => {
      const open = target.closest("[data-open]");
      if (open) this.open(Number(open.dataset.open));
    });
  }

  open(id) {
    const time = this.times.find((one) => one.id === id);
    if (!time) return;
    const mode = time.mode === "eval" ? "eval" : null;
    openGroup({ step: time.step, group: id, mode });
  }
  back() {
    setParams(without("prompt then now each"), { push: true });
  }

  // Asks for what the address names and draws it: ms to wait, or undefined where nothing came back.
  async draw(address) {
    const number = (name) => Number.parseInt(address.get(name), 10) || 0;
    const prompt = number("prompt");
    if (prompt !== this.drawn) {
      this.mark = null;
      setHtml(this.pair, "");
    }
    const asked = { prompt, then: number("then"), now: number("now"), each: address.get("each") === "1" };
    const found = await this.ask({ run: this.run, ...asked, mark: this.mark });
    if (!found) return undefined;
    if (prompt === this.drawn && this.box.querySelector(".said textarea")) return 700; // a note was begun meanwhile
    this.box.classList.toggle("nothing", !!found.sentence);
    if (found.sentence) {
      setText(this.told, found.sentence);
      this.mark = null;
      return 3000;
    }
    this.each.checked = asked.each;
    if (found.html !== undefined) this.take(found, prompt);
    this.then.value = found.then;
    this.now.value = found.now;
    return found.live ? 2000 : 8000;
  }

  take(found, prompt) {
    this.mark = found.mark;
    this.drawn = prompt;
    this.times = found.times;
    this.chosen = [found.then, found.now];
    setHtml(this.asked, found.prompt);
    setText(this.told, found.told);
    for (const list of [this.then, this.now])
      list.replaceChildren(...found.times.map((time) => option(time.id, time.label)));
    setHtml(this.pair, found.html);
    for (const part of this.several) part.hidden = found.times.length < 2; // of one time there is none to choose
    Plots.draw(
      this.plot,
      () => this.figure(),
      (node) =>
        node.on("plotly_click", ({ points, event }) => {
          const id = points[0].customdata;
          if (id) setParams({ [event.shiftKey ? "then" : "now"]: id });
        }),
    );
  }

  figure() {
    const line = colour("--r1");
    const main = (this.times.find((time) => time.counts) ?? this.times[0]).mode;
    const over = this.times.filter((time) => !time.counts);
    const counting = this.times.filter((time) => time.counts && time.mode === main);
    const others = this.times.filter((time) => time.counts && time.mode !== main);
    const base = { type: "scatter", x: x(counting), mode: "lines", hoverinfo: "skip", showlegend: false };
    const chosen = this.times.filter((time) => this.chosen.includes(time.id));
    const data = [
      { ...base, y: y(counting, "low"), line: { width: 0 } },
      {
        ...base,
        y: y(counting, "high"),
        line: { width: 0 },
        fill: "tonexty",
        fillcolor: Plots.fade(line, 0.12),
        name: "worst to best",
        showlegend: true,
      },
      {
        ...base,
        y: y(counting, "mean"),
        mode: "lines+markers",
        name: "mean reward",
        line: { color: line, width: 1.5 },
        marker: { size: 7, color: line },
        hoverinfo: undefined,
        showlegend: true,
        ...pointed(counting),
      },
      ...points(base, over, "trained again later", "circle-open"),
      ...points(base, others, main === "eval" ? "training" : "held-out", "diamond"),
      {
        ...base,
        x: x(chosen),
        y: y(chosen, "mean"),
        mode: "markers",
        marker: { size: 14, color: colour("--ink"), symbol: "circle-open", line: { width: 2 } },
      },
    ];
    if (counting.some((time) => time.solved !== null))
      data.push({
        ...base,
        y: y(counting, "solved"),
        yaxis: "y2",
        name: "solved",
        line: { color: colour("--high"), width: 1.5, dash: "dot" },
        showlegend: true,
      });
    return { data, layout: this.layout() };
  }

  // Rewards to the left, the share that was solved to the right.
  layout() {
    const few = this.times.at(-1).step - this.times[0].step < 8; // ticks are whole steps
    const layout = Plots.layout({
      x: few ? { dtick: 1 } : { nticks: 8 },
      height: 190,
      hovermode: "closest",
      dragmode: false,
      showlegend: this.plot.clientWidth > 480,
      margin: { l: 48, r: 48, t: 6, b: 40 },
      legend: { traceorder: "normal", orientation: "h", y: -0.16, x: 0, font: { size: 12, color: colour("--ink-2") } },
    });
    layout.xaxis.title = { ...layout.xaxis.title, text: "" };
    layout.yaxis2 = {
      ...layout.yaxis,
      overlaying: "y",
      side: "right",
      range: [-0.05, 1.05],
      showgrid: false,
      tickformat: ".0%",
      tickvals: [0, 0.5, 1],
    };
    return layout;
  }
}
