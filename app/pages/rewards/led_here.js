// What was wrong in the run whose verdict led here: it stands above the function that was opened for it. And the way
// back to a run that a function failed, once that is fixed.

import { params, setParams } from "../../ui/address.js";
import { el } from "../../ui/dom.js";
import { wholeNumber } from "../../ui/number.js";
import { cut } from "../../ui/text.js";
import { button, call, find, on, page } from "./core.js";
import { goToLine, showFailures } from "./editor.js";

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

// Why the run failed that this function ended, for whoever came here from there: above its text, and at its line, for
// as long as the version is open that failed.
let failure = null; // {name, hash, line, message}
export async function sayHowItFailed() {
  const run = params().get("fix") === "1" ? params().get("run") : "";
  const { name, hash } = page.open ?? {};
  const told = run && hash ? await call("failure_in_run", { run, name }, unsaid) : null;
  if (!told?.error || (told.hash && told.hash !== hash)) return;
  const { line, error } = told;
  failure = { name, hash, line, message: error };
  const shut = el("button.btn.quiet.s.shut", { type: "button", "aria-label": "Dismiss", onclick: dismiss }, "×");
  const link = el("a", { href: `/run?${new URLSearchParams({ id: run })}`, dir: "auto" }, told.run);
  const words = el(
    "span",
    ...(line ? [button(`Line ${line}`, () => goToLine(line), "link s"), ": "] : []),
    el("b", { dir: "auto" }, cut(error, 600)),
    " Run “",
    link,
    `” failed by it at step ${wholeNumber(told.step)}.`,
  );
  find(".failed-run").replaceChildren(words, shut);
  showFailure();
  find(".failed-run").scrollIntoView({ block: "nearest" });
}
const isAbout = ({ name, hash }) => page.open?.name === name && page.open.hash === hash;
function showFailure() {
  find(".failed-run").hidden = !failure || !isAbout(failure);
  markFailure();
}
// The line is known in the text that failed only; what a Try found there since is newer.
function markFailure() {
  if (failure?.line && isAbout(failure) && page.text === page.open.clean && !page.failures.length)
    showFailures([failure]);
}
function dismiss() {
  if (page.failures.includes(failure)) showFailures([]);
  failure = null;
  showFailure();
  setParams({ fix: "told" }); // also after a reload; saving still offers the new run
}
for (const what of ["open", "library"]) on(what, showFailure);
on("typed", markFailure);

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
