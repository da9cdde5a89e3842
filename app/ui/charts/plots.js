// What every Plotly figure shares: the quiet look, the theme's colours, and that it is only drawn while it is in view.

import { el } from "../dom.js";
import { load } from "../libraries.js";
import { neighbours } from "../number.js";
import { colour } from "../theme.js";

const SEEN = 3; // the contrast at which a thin line is seen
const BENEATH = [0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7]; // how strong a line may be that another lies on
const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
// The contrast of two colours, as WCAG reckons it.
function contrast(...colours) {
  const linear = (one) => (one / 255 <= 0.04045 ? one / 255 / 12.92 : ((one / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const [low, high] = colours.map(light).sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

export class Plots {
  // Pixels left and right of the axes: half of a number has room beyond their end, where Plotly leaves out one that
  // would be cut.
  static beside = { l: 48, r: 18 };
  // Layout in the house's look. `x` and `y` are added to the axes, the rest to the layout.
  static layout({ x = {}, y = {}, ...rest } = {}) {
    const ink = colour("--ink-3");
    const line = colour("--line");
    const axis = {
      gridcolor: line,
      zeroline: false,
      linecolor: line,
      tickfont: { size: 12, color: ink },
      title: { font: { size: 12, color: ink } },
      automargin: false,
    };
    const merged = (more) => ({ ...axis, ...more, title: { ...axis.title, ...(more.title ?? {}) } });
    return {
      height: 150,
      margin: { ...Plots.beside, t: 6, b: 24 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: colour("--font"), size: 12, color: colour("--ink") },
      showlegend: false,
      hovermode: "x unified",
      dragmode: "zoom",
      uirevision: "kept",
      hoverlabel: {
        bgcolor: colour("--panel"),
        bordercolor: colour("--line-strong"),
        font: { size: 12, color: colour("--ink") },
      },
      ...rest,
      xaxis: merged({ showgrid: false, nticks: 6, ...x }),
      yaxis: merged({ nticks: 5, exponentformat: "e", ...y }),
    };
  }

  // For an axis on which points may stand, such as one at step 0: it would be drawn across them.
  static belowPoints = { layer: "below traces" };
  static config = { displayModeBar: false, responsive: true, doubleClick: "reset", showTips: false };

  // One colour of the eight for runs and functions, by its place or by the name of its variable (“--r3”).
  static colour(which) {
    return colour(typeof which === "number" ? `--r${(which % 8) + 1}` : which);
  }
  static fade(hex, alpha) {
    const n = parseInt(hex.slice(1), 16);
    return `rgba(${n >> 16},${(n >> 8) & 255},${n & 255},${alpha})`;
  }
  // The colour of what was logged, beneath its smoothed line: it is what happened, and so stands out from the panel as
  // WCAG asks of drawings, as far as it leaves the smoothed line the stronger one.
  static beneath(hex, panel = colour("--panel")) {
    const under = channels(panel);
    const mixed = (alpha) => channels(hex).map((one, i) => alpha * one + (1 - alpha) * under[i]);
    const alpha = BENEATH.find((one) => contrast(mixed(one), under) >= SEEN);
    return Plots.fade(hex, alpha ?? BENEATH.at(-1));
  }
  // Plotly reads a small HTML of its own in names and hover texts; a metric's or a function's name must not be any.
  static plain(words) {
    return String(words).replace(/[<>&%{}]/g, " ");
  }

  // A zoom as the address has it: “20..60” → [20, 60]; null for what is none.
  static zoomOf(words) {
    const [low, high] = (words ?? "").split("..").map(Number);
    return high > low ? [low, high] : null;
  }
  // Which of the steps is nearest to this one.
  static nearest(steps, step) {
    const [low, high] = neighbours(steps, step);
    return high < 0 ? -1 : Math.abs(steps[low] - step) <= Math.abs(steps[high] - step) ? low : high;
  }
  // ---- keys on a chart that has the focus ----
  // Where ← → (a tenth of all with Shift), Home and End lead from the point `at` of so many; undefined for other keys.
  static along(event, at, count) {
    const by = event.shiftKey ? Math.max(1, Math.round(count / 10)) : 1;
    const to = { ArrowLeft: at - by, ArrowRight: at + by, Home: 0, End: count - 1 }[event.key];
    return to === undefined ? to : Math.max(0, Math.min(count - 1, to));
  }
  // The zoom that + and − lead to, around a place between 0 and the last; null for all of it, undefined for other keys.
  static closer(event, [low, high], place, last) {
    const times = { "+": 0.5, "=": 0.5, "-": 2 }[event.key];
    if (!times) return undefined;
    const width = Math.max(4, (high - low) * times);
    const from = Math.max(0, Math.min(last - width, place - width / 2));
    return width >= last ? null : [from, from + width];
  }
  // A figure with keys of its own is a slider to a screen reader: `keys` has press(event), again() and leave().
  static slider(plot, label, keys) {
    const look = {
      role: "slider",
      tabindex: "0",
      "aria-label": label,
      "aria-valuemin": 1,
      "aria-valuemax": 1,
      "aria-valuenow": 1,
    };
    for (const [name, value] of Object.entries(look)) plot.setAttribute(name, value);
    plot.addEventListener("keydown", (event) => keys.press(event));
    plot.addEventListener("focus", () => keys.again());
    plot.addEventListener("blur", () => keys.leave());
  }
  // What a slider says now: {min, max, now, text}, or some of them.
  static tell(plot, said) {
    for (const [name, value] of Object.entries(said)) plot.setAttribute(`aria-value${name}`, value);
  }
  // A frame around a part of a figure, from one place on its axes to another, `more` pixels wider on both sides.
  static frame(plot, [left, right], [low, high], more = 0) {
    const { xaxis, yaxis } = plot._fullLayout;
    const [x, y] = [xaxis._offset + xaxis.l2p(left) - more, yaxis._offset + yaxis.l2p(high)];
    const node = plot.querySelector(".frame") ?? plot.appendChild(el("div.frame"));
    const box = {
      left: x,
      top: y,
      width: xaxis.l2p(right) - xaxis.l2p(left) + 2 * more,
      height: yaxis.l2p(low) - yaxis.l2p(high),
    };
    for (const [side, pixels] of Object.entries(box)) node.style[side] = `${pixels}px`;
    node.hidden = false;
  }
  static unframe(plot) {
    const node = plot.querySelector(".frame");
    if (node) node.hidden = true;
  }
  static ours(event) {
    return !(event.ctrlKey || event.altKey || event.metaKey);
  }

  // The whole steps of a zoom and a little more, so that lines reach its edges.
  static around([low, high]) {
    const more = (high - low) * 0.02 + 1;
    return [Math.max(0, Math.floor(low - more)), Math.ceil(high + more)];
  }

  // Someone is dragging over it: drawn anew under their hand, it would have them choose another stretch than they see.
  static dragged(node) {
    return node._dragging === true;
  }
  static afterDrag(then) {
    addEventListener("mouseup", () => setTimeout(then), { capture: true });
  }
  // [from, to] on the x axis that a drag chose; null where that is not what changed.
  static chosen(change) {
    const range = change["xaxis.range"] ?? [change["xaxis.range[0]"], change["xaxis.range[1]"]];
    return range.every((place) => Number.isFinite(place)) ? range : null;
  }

  // Draws into `node` now if it is in view, else when it comes there; `figure()` returns {data, layout}, and is asked
  // again when the theme changes. `then(node)` is called once, to listen to clicks.
  static draw(node, figure, then = null) {
    const known = Plots.all.get(node);
    Plots.all.set(node, {
      figure,
      then: known ? known.then : then,
      wired: known?.wired ?? false,
      dirty: true,
      inView: known?.inView ?? false,
    });
    if (!known) Plots.watch.observe(node);
    else if (known.inView) Plots.drawNow(node);
  }
  static drop(node) {
    Plots.all.delete(node);
    Plots.watch.unobserve(node);
    if (typeof Plotly !== "undefined") Plotly.purge(node);
  }

  static drawNow(node) {
    const one = Plots.all.get(node);
    if (!one?.dirty || !node.clientWidth || Plots.dragged(node)) return;
    if (typeof Plotly === "undefined") return; // it is still loading
    const { data, layout, config } = one.figure();
    Plotly.react(node, data, layout, { ...Plots.config, ...config });
    one.dirty = false;
    if (!one.wired && one.then) one.then(node);
    one.wired = true;
  }
}
// A finger scrolls over a chart, and a tap is a click: Plotly would take every touch for the beginning of a drag.
document.addEventListener(
  "touchstart",
  (event) => {
    if (event.target.closest?.(".js-plotly-plot")) event.stopPropagation();
  },
  { capture: true, passive: true },
);
Plots.all = new Map();
Plots.ready = load("plotly");
Plots.drawInView = () => {
  for (const [node, { inView }] of Plots.all) if (inView) Plots.drawNow(node);
};
Plots.ready.then(Plots.drawInView);
Plots.afterDrag(Plots.drawInView);
Plots.watch = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      const one = Plots.all.get(entry.target);
      if (!one) continue;
      one.inView = entry.isIntersecting;
      if (one.inView) Plots.drawNow(entry.target);
    }
  },
  { rootMargin: "400px" },
);
addEventListener("groupwise:theme", () => {
  for (const one of Plots.all.values()) one.dirty = true;
  Plots.drawInView();
});
