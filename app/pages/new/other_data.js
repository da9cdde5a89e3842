// A function comes from Rewards, where it had other data than the draft that it is added to: said beside what came of
// it, with a button that takes that data, until the draft has it.

import { el } from "../../ui/dom.js";
import { takeDataOf } from "../../ui/run_drafts.js";
import { edit, find, onView, shownAt } from "./core.js";
import { dataWords, isDataChosen } from "./data_names.js";

let had = null; // {source, taking}
const line = el("div.row.tight.wrap.other-data", { hidden: true });
const take = el("button.btn.s", { type: "button", onclick: () => edit([{ fix: had.taking }]) });

export function noteDataOf(reward) {
  had = takeDataOf(reward);
  drawOtherData();
}
// The line, as it is now.
export function drawOtherData() {
  const now = shownAt("data.source") || "task:arithmetic";
  line.hidden = !had || had.source === now;
  if (line.hidden) return line;
  const has = isDataChosen(now) ? `has ${dataWords(now)}` : "has no data yet";
  take.textContent = `Use ${dataWords(had.source)}`;
  const words = `On the Rewards page, the data was ${dataWords(had.source)}; this draft ${has}.`;
  line.replaceChildren(el("span", words), take);
  return line;
}
onView(() => !find(".handed").hidden && drawOtherData());
