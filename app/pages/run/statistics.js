// The Statistics: each panel is asked for when it comes into view, one after the other, and again when there is more.

import { onAddress, params, setParams, without } from "../../ui/address.js";
import { FigureKeyboardNav } from "../../ui/charts/figure_keyboard_nav.js";
import { Plots } from "../../ui/charts/plots.js";
import { Taps } from "../../ui/charts/taps.js";
import * as Figures from "./statistics_figures.js";
import { el, press, setText, showText } from "../../ui/dom.js";
import { part } from "../../ui/part.js";
import { poll } from "../../ui/poll.js";
import { drawPromptTable } from "./prompt_table.js";
import { RightIs } from "./right_is.js";
import { whyNothing } from "./why_nothing.js";

const { root: view, find, server } = part("pages/run/statistics");
const { exactly } = Figures;
const run = params().get("id") ?? "";
const OFTEN = 4000; // ms between two fillings of a panel that is in view of a live run
const byRight = new Set(["pass", "prompts"]);
let mark = "";
let filling = false;

const asked = () => ({
  mode: params().get("mode") === "eval" ? "eval" : "train",
  solved: params().get("solved") ?? "",
  order: params().get("order") ?? "hardest",
});
const panels = [...view.querySelectorAll("[data-panel]")].map((node) => ({
  node,
  name: node.dataset.panel,
  settings: null,
  mode: null, // of what is drawn
  mark: null,
  at: 0,
  inView: false,
}));
// What a person chose that a panel depends on.
const settingsOf = ({ name }) => {
  const { mode, solved, order } = asked();
  return [mode, byRight.has(name) ? solved : "", name === "prompts" ? order : ""].join(" ");
};
// What a person chose is shown at once, what training brought every few seconds.
const due = (panel) =>
  panel.inView && (panel.settings !== settingsOf(panel) || (panel.mark !== mark && Date.now() - panel.at > OFTEN));

const looking = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries)
      panels.find(({ node }) => node === target).inView = isIntersecting;
    fill();
  },
  { rootMargin: "300px" },
);
panels.forEach(({ node }) => looking.observe(node));

async function fill() {
  if (filling || !mark) return;
  filling = true;
  try {
    for (let panel = panels.find(due); panel && mark; panel = panels.find(due)) {
      const settings = settingsOf(panel);
      const { mode } = asked();
      const known = mark;
      panel.node.setAttribute("aria-busy", "true");
      const data = await server.draw_panel({ run, panel: panel.name, ...asked() });
      panel.node.removeAttribute("aria-busy");
      if (!data) break;
      if (settings !== settingsOf(panel)) continue; // one chose otherwise meanwhile
      Object.assign(panel, { settings, mark: known, at: Date.now() });
      show(panel, { ...data, mode });
    }
  } catch (problem) {
    console.warn(problem);
  } finally {
    filling = false;
  }
}

// ---- drawing ----
function show(panel, data) {
  const { node, name, mark, settings } = panel;
  const wait = whyNothing(data) ?? data.wait ?? "";
  panel.mode = data.mode;
  showText(node.querySelector(".wait"), wait);
  setText(node.querySelector(".says"), wait ? "" : (data.says ?? ""));
  node.querySelector(".drawn").hidden = !!wait;
  node.dataset.key = `${mark} ${settings}`;
  if (!wait) DRAW[name](node.querySelector(".drawn"), data);
}

// What is said under a title is of the other mode by now: what was drawn of the former goes.
function blank(panel) {
  setText(panel.node.querySelector(".says"), "");
  showText(panel.node.querySelector(".wait"), "Counting…");
  panel.node.querySelector(".drawn").hidden = true;
  [panel.mode, panel.settings] = [null, null];
}

// The node inside a panel that Plotly draws into.
function plot(box, name, figure, then) {
  let node = box.querySelector(`[data-plot="${CSS.escape(name)}"]`);
  if (!node) {
    box.append((node = el("div.plot", { "data-plot": name })));
    node.gwKeyboardNav = new FigureKeyboardNav(node, titleOf(box), (point) => node.gwOpen(point));
  }
  const drawing = () => {
    const made = figure();
    node.style.height = `${made.layout.height}px`;
    node.gwOpen = then; // what a point leads to, of what is drawn
    return made;
  };
  Plots.draw(node, drawing, (drawn) =>
    drawn.on("plotly_click", (click) => {
      const point = Taps.leadsOn(node, click);
      if (point) node.gwOpen(point);
    }),
  );
  node.gwKeyboardNav.again();
}
// What a figure is called: its panel's title, and the reward function's name where each has one.
const titleOf = (box) =>
  [box.closest("[data-panel]").querySelector("h3"), box.querySelector(".about")]
    .map((node) => node?.textContent)
    .filter(Boolean)
    .join(": ");
function key(box, entries) {
  let list = box.querySelector(".keys");
  if (!list) box.prepend((list = el("div.keys.xs")));
  list.replaceChildren(
    ...entries.map(([name, colour, dash, value]) =>
      el(
        "span.key",
        el("i", {
          style: dash
            ? `border-top:2px dotted ${colour};border-radius:0;height:0;vertical-align:middle`
            : `background:${colour}`,
        }),
        name,
        value ? el("b", ` ${value}`) : null,
      ),
    ),
  );
}
// `mode`: of what is drawn; another may be chosen, and on its way.
const toCompletions = ({ mode }, found) => {
  const none = without("q regex function reward length truncated starred page step group");
  setParams({ ...none, tab: "completions", mode: mode === "eval" ? "eval" : null, ...found }, { push: true });
};
const toStep = ({ pointIndex }, data) => toCompletions(data, { steps: exactly(data.steps[pointIndex]) });
// Row and column of a heat map's cell.
const cell = ({ pointIndex, pointNumber }) => (Array.isArray(pointIndex) ? pointIndex : pointNumber);
// Draws a panel's one figure; `open(point, data)`: what a click on a point of it leads to.
const whole = (figure, open) => (box, data) =>
  plot(
    box,
    "all",
    () => figure(data),
    (point) => open(point, data),
  );
const lines = (figure, entries) => (box, data) => {
  key(box, entries(data));
  whole(figure, toStep)(box, data);
};

const DRAW = {
  ties: lines(Figures.ties, (data) => [
    [data.words.all_low, "var(--low)", false, data.now.all_low],
    [data.words.other, "var(--ink-3)", false, data.now.other],
    [data.words.all_high, "var(--high)", false, data.now.all_high],
    ...(data.no_answer.some((share) => share > 0)
      ? [[data.words.no_answer, "var(--r4)", false, data.now.no_answer]]
      : []),
    [data.mode === "eval" ? "not tied" : "have a learning signal", "var(--accent)", true, data.now.bearing],
  ]),
  spread: lines(Figures.spread, () => []),
  best: lines(Figures.best, () => [
    ["best", "var(--high)"],
    ["mean", "var(--accent)"],
    ["worst", "var(--low)"],
  ]),
  pass: lines(Figures.pass, (data) =>
    data.k.map((k, i) => [
      `k = ${k}`,
      `color-mix(in srgb, var(--accent) ${100 * Figures.strength(i, data.k.length)}%, transparent)`,
    ]),
  ),
  correlation: lines(Figures.correlation, (data) =>
    Figures.correlation(data).data.map(({ name }, i) => [name, `var(--r${(i % 8) + 1})`]),
  ),
  share: lines(Figures.share, (data) => data.names.map((name, i) => [name, `var(${data.colours[i]})`])),
  prompts: drawPrompts,
  reward: whole(Figures.heat, (point, data) => {
    const [row, column] = cell(point);
    toCompletions(data, { reward: exactly(data.bounds[row]), steps: exactly(data.steps[column]) });
  }),
  advantage: whole(Figures.heat, (point, data) => toCompletions(data, { steps: exactly(data.steps[cell(point)[1]]) })),
  lengths: whole(Figures.plane, (point, data) => {
    const [row, column] = cell(point);
    const length = exactly(Figures.whole(data.plane.across[column]));
    toCompletions(data, { length, reward: exactly(data.plane.up[row]), steps: exactly(data.steps) });
  }),
  scores: drawScores,
};

function drawScores(box, data) {
  const names = data.functions.map((one) => one.asked).join("\n");
  if (box.dataset.names !== names) {
    box.querySelectorAll(".plot").forEach(Plots.drop);
    box.replaceChildren();
    box.dataset.names = names;
  }
  data.functions.forEach((one, place) => {
    let part = box.children[place];
    if (!part) box.append((part = el("div.function", el("span.xs.about"))));
    setText(
      part.querySelector(".about"),
      one.name + (one.none ? ` · ${one.none.toLocaleString("en")} not scored` : ""),
    );
    if (!one.histogram) {
      part.querySelectorAll(".plot").forEach((node) => {
        Plots.drop(node);
        node.remove();
      });
      return;
    }
    plot(
      part,
      one.asked,
      () => Figures.histogram(one),
      ({ pointIndex }) =>
        toCompletions(data, {
          function: `${one.asked}:${exactly(one.histogram.bounds[pointIndex])}`,
          steps: exactly(data.steps),
        }),
    );
  });
}

function drawPrompts(box, data) {
  press(view.querySelectorAll("[data-order]"), (button) => button.dataset.order === asked().order);
  drawPromptTable(box, data, run);
}

// ---- what is asked for lives in the address ----
for (const button of view.querySelectorAll("[data-mode]")) {
  button.addEventListener("click", () => setParams({ mode: button.dataset.mode === "eval" ? "eval" : null }));
}
for (const button of view.querySelectorAll("[data-order]")) {
  button.addEventListener("click", () =>
    setParams({ order: button.dataset.order === "hardest" ? null : button.dataset.order }),
  );
}
const right = new RightIs(find(".solved"));

function showTools(now) {
  press(view.querySelectorAll("[data-mode]"), (button) => button.dataset.mode === asked().mode);
  for (const words of view.querySelectorAll("[data-of]")) words.hidden = words.dataset.of !== asked().mode;
  panels.filter(({ mode }) => mode && mode !== asked().mode).forEach(blank);
  right.node.hidden = !now.functions?.length;
  if (now.functions?.length) right.update(now.functions, now.solved);
}

const wake = poll(view, async () => {
  const { mode } = asked();
  const now = await server.statistics_summary({ run, mode });
  if (!now) return undefined;
  if (mode !== asked().mode) return 0;
  const words = whyNothing(now) ?? now.wait;
  showText(find(".nothing"), words);
  find(".sections").hidden = !!words;
  showTools(now);
  mark = now.mark ?? "";
  fill();
  return now.sentence ? 2000 : now.poll;
});
let lookedAt = asked().mode;
onAddress(() => {
  const { mode } = asked();
  if (mode !== lookedAt) [lookedAt, mark] = [mode, ""]; // how much there is of the other is asked first
  if (params().get("tab") === "statistics") wake();
});
