// What was wrong in the run whose verdict led here: it stands above the function that was opened for it. And the way
// back to a run that a function failed, once that is fixed.

import { params } from "../../ui/address.js";
import { el } from "../../ui/dom.js";
import { call, find, on, page } from "./core.js";

let named = ""; // the function that was opened

const unsaid = () => {}; // a run that is gone says so where its data is chosen
export async function sayWhatLedHere() {
  const [run, verdict] = ["run", "verdict"].map((key) => params().get(key) ?? "");
  if (!run || !verdict || !page.open) return;
  named = page.open.name;
  const told = await call("verdict_of_run", { run, verdict }, unsaid);
  if (!told?.title) return;
  const back = el("a", { href: `/run?${new URLSearchParams({ id: run })}` }, told.run);
  find(".led-here").replaceChildren("From run ", back, ": ", el("b", told.title), ` ${told.words}`);
  if (page.open.builtIn) find(".led-here").append(el("span", ...whatToDo(told.without_code)));
  showBesideIt();
}
// What ships cannot be edited: what helps for all that, without code first.
function whatToDo(changes) {
  const press = (name) => {
    const { textContent } = find(`[data-do=${name}]`);
    return el("button.link", { type: "button", onclick: () => find(`[data-do=${name}]`).click() }, textContent);
  };
  const settings = changes.flatMap(({ label, go }, at) => [at ? ", " : "", el("a", { href: go }, label)]);
  return [
    ` “${named}” is built in, so its code cannot be changed here. `,
    ...(settings.length ? ["In a new run, without code: ", ...settings, ". "] : []),
    ...[press("build"), " makes a function to use in its place; ", press("own"), " makes a copy to change in code."],
  ];
}
function showBesideIt() {
  const line = find(".led-here");
  line.hidden = !line.hasChildNodes() || page.open?.name !== named;
}
on("open", showBesideIt);

// After a save: a new run like the one that this function failed, for whoever came here from there to fix it.
export async function offerCorrectedRun({ name, hash }) {
  const run = params().get("fix") ? params().get("run") : "";
  const got = run ? await call("corrected_run", { run, name, hash }, unsaid) : null;
  if (!got?.go || page.open?.hash !== hash || find(".said-saved").hidden) return;
  find(".said-saved").append(
    el(
      "div.row.tight.wrap.on-from-here",
      el("a.btn.s.pri", { href: got.go }, "New run with the fix"),
      el("span", `With the settings of ${got.run}.`),
    ),
  );
}
