// “Settings vs. final metrics”: draws it, takes the stretches of axes that are chosen on it, and offers other axes.

import { setParams } from "../../ui/address.js";
import { Plots } from "../../ui/charts/plots.js";
import { el, show, showText } from "../../ui/dom.js";
import { countWords } from "../../ui/number.js";
import { listed } from "../../ui/text.js";
import { offered } from "./axes.js";
import { AxisKeyboardNav } from "./axis_keyboard_nav.js";
import {
  axesNow,
  besideChosen,
  fields,
  find,
  nothingToSet,
  ofAxes,
  order,
  page,
  runsDrawn,
  runsHere,
  runsOnAxes,
  state,
} from "./core.js";
import { apartReasonOf } from "./measure.js";
import * as Parallel from "./parallel.js";
import { withNames } from "./tables.js";

const plot = find(".sweep .plot");
const menu = find(".sweep .axes");

export function drawSweep() {
  const axes = axesNow();
  const why = nothingToSet(axes);
  showText(find(".sweep .why"), why);
  find(".sweep > .panel").hidden = !!why; // another is in the menu of axes
  const chosen = !why && state.chosen.size;
  show(find(".kept"), chosen, find(".smooth"));
  show(find(".sweep .every"), chosen, plot);
  drawMenu(axes);
  const words = why ? "" : asideWords();
  if (find(".sweep .aside").textContent !== words) find(".sweep .aside").replaceChildren(...withNames(words, order));
  find(".sweep .aside").hidden = !words;
  if (why) return;
  const passing = runsOnAxes().length - besideChosen().size;
  showText(
    find(".kept span"),
    `${passing} of ${countWords(runsOnAxes().length, "run")} ${passing === 1 ? "passes" : "pass"} through ` +
      "what is chosen under “Settings vs. final metrics”; the others are faint, and in no curve.",
  );
  find(".sweep .lay").style.minWidth = `${Parallel.narrowest(axes)}px`;
  const drawn = () =>
    runsDrawn()
      .map((run, index) => ({ ...run, index }))
      .filter((run) => run.there && !state.hidden.has(run.id));
  const figure = () => Parallel.figure(drawn(), axes, state.chosen, besideChosen(), plot);
  Plots.draw(plot, figure, (node) => Parallel.listen(node, axesNow, pick));
  keys.again();
}
// What is drawn otherwise than the other runs' lines.
function asideWords() {
  const here = runsOnAxes();
  const named = (some) => listed(some.map(({ name }) => `“${name}”`));
  const going = here.filter(({ live }) => live);
  const apart = here.map((run) => [run, apartReasonOf(runsHere(), run)]).filter(([, reason]) => reason);
  return [
    going.length ? `□ still training: ${named(going)}.` : "",
    ...apart.map(([{ name }, reason]) => `“${name}” is not compared (${reason}): it ends below those axes.`),
  ]
    .filter(Boolean)
    .join(" ");
}
new ResizeObserver(() => order.length && drawSweep()).observe(find(".sweep .lay"));
const keys = new AxisKeyboardNav(plot, () => ({ axes: axesNow(), runs: order, chosen: state.chosen }), pick);
function pick(full, ends) {
  const next = new Map(state.chosen);
  if (ends) next.set(full, ends);
  else next.delete(full);
  setParams({ pick: Parallel.write(next) });
}
for (const button of page.querySelectorAll(".every")) button.addEventListener("click", () => setParams({ pick: null }));

// ---- which settings are axes ----
function drawMenu(axes) {
  const known = offered(ofAxes(), fields);
  menu.hidden = !known.length || runsOnAxes().length < 3;
  if (menu.hidden || !menu.open) return;
  const drawn = new Set(axes.map(({ full }) => full));
  const key = JSON.stringify([known.map(({ name }) => name), [...drawn], state.axes]);
  if (menu.dataset.key === key) return;
  menu.dataset.key = key;
  const focused = menu.contains(document.activeElement) ? document.activeElement.name : "";
  const box = ({ name, label }) =>
    el(
      "label.check",
      { title: name },
      el("input", { type: "checkbox", name, checked: drawn.has(name) }),
      el("bdi", label),
    );
  menu.querySelector(".boxes").replaceChildren(...known.map(box));
  if (focused) menu.querySelector(`[name="${CSS.escape(focused)}"]`)?.focus();
  show(menu.querySelector(".link"), state.axes.length, menu.querySelector("summary"));
}
menu.addEventListener("toggle", drawSweep);
menu.addEventListener("change", () =>
  setParams({ axes: [...menu.querySelectorAll("input:checked")].map(({ name }) => name).join(",") }),
);
menu.querySelector(".link").addEventListener("click", () => setParams({ axes: null }));
document.addEventListener("pointerdown", (event) => {
  if (!menu.contains(event.target)) menu.open = false;
});
menu.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  menu.open = false;
  menu.querySelector("summary").focus();
});
