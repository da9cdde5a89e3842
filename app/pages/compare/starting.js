// What Compare says while no run is chosen: what it is for, and the newest runs to choose from.

import { el, showText } from "../../ui/dom.js";
import { nameOf } from "../../ui/name.js";
import { find, server, setIds, state } from "./core.js";
import { pill } from "./tables.js";

const box = find(".choose");
const go = box.querySelector(".go");
const ticked = new Set();
let asked = false;

const drawGo = () => {
  const n = ticked.size;
  go.textContent = n < 2 ? "Compare" : `Compare ${n} runs`;
  go.setAttribute("aria-disabled", `${n < 2}`);
  if (n < 2) go.removeAttribute("href");
  else go.href = `/compare?${new URLSearchParams({ ids: [...ticked].join(",") })}`;
};
go.addEventListener("click", (event) => {
  event.preventDefault();
  if (ticked.size > 1) setIds([...ticked]);
});

const offer = (run) => {
  const tick = el("input", { type: "checkbox", checked: ticked.has(run.id) });
  tick.addEventListener("change", () => {
    if (tick.checked) ticked.add(run.id);
    else ticked.delete(run.id);
    drawGo();
  });
  return el(
    "label.offer",
    tick,
    el("span.dot", { style: `background:var(${run.colour})` }),
    nameOf(run.name),
    pill(run),
    el("span.n.s", el("span.unseen", "reward "), run.reward),
    el("span.n.s.mut", run.age),
  );
};
// Over the columns of `offer`: what a figure is of is not seen otherwise.
const heads = () =>
  el(
    "div.offer.heads.xs.mut",
    { "aria-hidden": "true" },
    ...["", "", "run", "state"].map((words) => el("span", words)),
    ...["reward", "launched"].map((words) => el("span.n", words)),
  );
// Shows it while the address names no run. The runs are asked for once: those that are newer can be searched for.
export async function offerRuns() {
  box.hidden = state.ids.length > 0;
  if (box.hidden || asked) return;
  asked = true;
  drawGo();
  const reply = await server.search_runs({ many: true });
  asked = !!reply?.runs;
  const runs = (reply?.runs ?? []).map(offer);
  box.querySelector(".offers").replaceChildren(...(runs.length ? [heads(), ...runs] : []));
  const said = box.querySelector(".said");
  if (reply?.sentence) showText(said, reply.sentence);
  if (reply?.empty) {
    said.hidden = false;
    said.replaceChildren(
      "There is no run yet. ",
      el("a", { href: "/new" }, "Start one"),
      ", and another with a setting changed, and compare them here.",
    );
  }
  go.hidden = !!reply?.empty;
}
