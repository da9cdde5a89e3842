// The runs that are compared, as chips: shown or hidden, opened, removed; under their group where they are grouped.

import { setParams } from "../../ui/address.js";
import { el } from "../../ui/dom.js";
import { nameOf, shortName } from "../../ui/name.js";
import { countWords } from "../../ui/number.js";
import { besideChosen, find, grouped, looksOf, order, page, sameAs, setIds, state } from "./core.js";
import { verdictsAlone } from "./measure.js";
import { pill, swatch } from "./tables.js";

const clickWords = ({ id }) =>
  state.hidden.has(id) ? "shows its curves again" : "hides its curves; tables and text keep it";

const colourWords = ({ other_colour }) => (other_colour ? "; its colour on Runs is another run's here" : "");

const openWords = ({ name, label }) => ({ title: `Open ${name}: ${label}`, "aria-label": `Open ${name}: ${label}` });
const FEW = 4; // runs that have room for the words of their states

// `beside`: the ids of the runs that are in no chosen stretch; `same`: the run that this one's curves lie over;
// `words`: those of its state.
const runChip = (run, look, beside, same, words) =>
  el(
    "div",
    {
      class: `chosen${state.hidden.has(run.id) ? " off" : ""}${beside.has(run.id) ? " beside" : ""}`,
      "data-run": run.id,
    },
    el(
      "button.toggle",
      {
        "aria-label": run.name,
        "aria-pressed": `${!state.hidden.has(run.id)}`,
        title: `${run.name}: ${clickWords(run)}${colourWords(run)}`,
        onclick: () => toggle(run.id),
      },
      swatch(look),
      nameOf(run.name),
    ),
    run.there
      ? el("a.open", { href: `/run?id=${encodeURIComponent(run.id)}`, ...openWords(run) }, pill(run, words))
      : null,
    run.problem ? el("span.s.warn", run.problem) : null,
    same
      ? el("span.xs.mut.same", { title: `Its curves are those of ${same.name}` }, `same as ${shortName(same.name, 28)}`)
      : null,
    el(
      "button.away",
      {
        "aria-label": `Remove ${run.name}`,
        title: "Remove",
        onclick: () => setIds(state.ids.filter((id) => id !== run.id)),
      },
      "×",
    ),
  );

export function drawLegend() {
  const look = looksOf();
  const beside = besideChosen();
  const key = JSON.stringify([
    [...beside],
    [...look.values()].map(({ id, name, colour, dash, label, problem }) => [id, name, colour, dash, label, problem]),
    [...state.hidden],
    order.map((run) => [sameAs(run)?.name, run.label]),
    state.by && grouped().map(({ label }) => label),
  ]);
  if (page.dataset.legend === key) return;
  page.dataset.legend = key;
  const focused = document.activeElement?.closest?.(".chosen")?.dataset.run;
  const which = document.activeElement?.className;
  const said = verdictsAlone(order.filter(({ there }) => there));
  const chip = (run) => runChip(run, look.get(run.id), beside, sameAs(run), said(run));
  const groups = grouped();
  find(".legend").classList.toggle("many", order.length > FEW);
  find(".legend").replaceChildren(
    ...(groups.length
      ? groups
          .map((group) =>
            el(
              "div.together",
              el(
                "span.s.label",
                swatch(group),
                el("b", { dir: "auto", title: group.label }, group.label),
                el("span.mut", ` ${countWords(group.ids.length, "run")}`),
              ),
              ...group.ids.map((id) => chip(order.find((run) => run.id === id))),
            ),
          )
          .concat(order.filter((run) => !run.there).map(chip))
      : order.map(chip)),
  );
  if (focused)
    [...page.querySelectorAll(".chosen")]
      .find((one) => one.dataset.run === focused)
      ?.querySelector(`.${which || "toggle"}`)
      ?.focus();
}
// What stays on top below the legend lies where it ends.
const legendEnd = () => page.style.setProperty("--legend", `${find(".legend").offsetHeight}px`);
new ResizeObserver(legendEnd).observe(find(".legend"));
function toggle(id) {
  const next = new Set(state.hidden);
  if (!next.delete(id)) next.add(id);
  setParams({ hide: [...next].filter((one) => state.ids.includes(one)).join(",") });
}
