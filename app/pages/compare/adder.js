// Adding a run to those compared: a field that lists what it finds.

import { el } from "../../ui/dom.js";
import { nameOf } from "../../ui/name.js";
import { MOST, find, server, setIds, state } from "./core.js";

const adder = find(".adder input");
const foundBox = find(".adder .found");
let waiting = null;
let offers = 0;
// Whether it lists what was found: not where it was closed, or asked for something else, before the answer came.
async function offer() {
  const mine = ++offers;
  const reply = await server.search_runs({ words: adder.value, ids: state.ids });
  if (mine !== offers) return false;
  const full = state.ids.length >= MOST;
  const line = (run) =>
    el(
      "button.option",
      {
        onclick: () => {
          adder.value = "";
          close();
          setIds([...state.ids, run.id]);
          rest();
        },
      },
      el("span.dot", { style: `background:var(${run.colour})` }),
      nameOf(run.name),
      el("span.s.mut", run.about),
    );
  foundBox.replaceChildren(...(full ? [] : (reply?.runs ?? []).map(line)));
  if (!foundBox.children.length)
    foundBox.append(
      el(
        "p.s.mut",
        full
          ? `At most ${MOST} runs can be compared at once. Remove one first.`
          : reply
            ? (reply.sentence ??
              (adder.value ? "No other run has this in its name, state, model or data." : "There is no other run."))
            : "The dashboard did not answer.",
      ),
    );
  foundBox.hidden = false;
  return true;
}
// Back in the field, with its list closed: open it would lie over the run that was just added.
let resting = false;
function rest() {
  resting = true;
  adder.focus();
  resting = false;
}
const close = () => {
  clearTimeout(waiting);
  offers += 1;
  foundBox.hidden = true;
};
adder.addEventListener("focus", () => resting || offer());
adder.addEventListener("click", () => foundBox.hidden && offer());
adder.addEventListener("input", () => {
  clearTimeout(waiting);
  offers += 1;
  waiting = setTimeout(offer, 120);
});
find(".adder").addEventListener("keydown", (event) => {
  const all = [adder, ...foundBox.querySelectorAll("button")];
  const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === "Escape") {
    rest();
    close();
  }
  if (event.key === "Enter" && event.target === adder) {
    clearTimeout(waiting);
    offer().then((listed) => listed && foundBox.querySelector("button")?.click());
  }
  if (!move) return;
  event.preventDefault();
  if (foundBox.hidden) {
    offer();
    return;
  }
  all[Math.max(0, Math.min(all.length - 1, all.indexOf(document.activeElement) + move))].focus();
});
document.addEventListener("pointerdown", (event) => {
  if (!find(".adder").contains(event.target)) close();
});
find(".adder").addEventListener("focusout", (event) => {
  if (event.relatedTarget && !find(".adder").contains(event.relatedTarget)) close();
});
