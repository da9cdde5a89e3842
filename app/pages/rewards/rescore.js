// Re-scoring: a run's stored completions under these functions; asked, followed, cancelled.

import { setParams } from "../../ui/address.js";
import { option, setText } from "../../ui/dom.js";
import { action, askWorker, call, find, NO_ANSWER, on, page, setOff, stopAsking } from "./core.js";
import { looked, noFunction, notBuilt, showFailures } from "./editor.js";
import {
  chosenFunctions,
  drawFunctions,
  editedName,
  faultOfChosen,
  nameSettings,
  settingsOf,
  takeWeightsOfRun,
} from "./functions.js";
import { sayWhose, settingsOfScores } from "./outdated.js";
import { drawRescored } from "./rescored.js";
import { sourceWords } from "./source.js";
import { plural, seconds } from "./text.js";

let scoring = false;
let rescored = null; // {text, which, run, set, passed}: whose scores are shown, as sayWhose takes them
function sayRescored() {
  const now = find("select.history").value;
  const of =
    rescored && rescored.run !== now ? { words: sourceWords(ofRun(rescored.run)), now: sourceWords(ofRun(now)) } : null;
  sayWhose(".view-rescore", rescored, scoring, {
    again: "Re-score again",
    before: "the re-scoring before",
    of,
    set: rescored && setNow(),
  });
}
// A weight that nobody typed is the run's.
const setNow = () =>
  settingsOfScores(
    historyFunctions().map((one, n) => ({ ...one, weight: one.weight ?? weightInRun(one.name, n) })),
    find("select.scale").value,
    find("select.instead").value,
  );
const ofRun = (run) => ({ from: "run", run });
export function drawRescore() {
  action("rescore", rescore);
  action("halt", () => {
    stopAsking("rescore");
    endRescore("Cancelled. Nothing was changed.");
    find("[data-do=rescore]").focus();
  });
  find("select.history").addEventListener("change", ({ target }) => {
    setParams({ run: target.value, verdict: null });
    drawHistory();
    sayRescored();
  });
  // Whoever chooses a run's data means that run.
  find("select.data").addEventListener("change", ({ target }) => {
    const history = find("select.history");
    const run = target.value.startsWith("run:") ? target.value.slice("run:".length) : "";
    if (!run || scoring || ![...history.options].some(({ value }) => value === run)) return;
    history.value = run;
    history.dispatchEvent(new Event("change"));
  });
  find("select.instead").addEventListener("change", ({ target }) => {
    target.dataset.chosen = "yes";
    drawFunctions();
  });
  takeWeightsOfRun(weightInRun);
  on("looked", chooseInstead);
  for (const what of ["typed", "open", "scoring"]) on(what, sayRescored);
}
// Which of the run's own functions the edited one takes the place of.
let ran = [];
export async function drawHistory() {
  const run = find("select.history").value;
  const select = find("select.instead");
  const found = run ? ((await call("run_rewards", { data: `run:${run}` }))?.rewards ?? []) : [];
  if (run !== find("select.history").value) return; // another one was chosen meanwhile
  ran = found;
  nameSettings();
  select.replaceChildren(option("", "none: it is added"), ...ran.map((one) => option(one.name)));
  delete select.dataset.chosen;
  chooseInstead();
  drawFunctions();
  setOff("rescore", !run);
}
// What a function weighs that nobody set: as in the run, or as the one there whose place it takes.
function weightInRun(name, n) {
  if (find(".view-rescore").hidden) return null;
  const as = (n === 0 && find("select.instead").value) || name;
  return ran.find((one) => one.name === as)?.weight ?? null;
}
function chooseInstead() {
  const select = find("select.instead");
  const name = editedName();
  if (select.dataset.chosen) return;
  const names = ran.map((one) => one.name);
  select.value = names.includes(name)
    ? name
    : (names.find((one) => name === `my_${one}` || name.startsWith(`my_${one}_`)) ?? "");
  sayRescored();
}

function followProgress(done, total) {
  const bar = find(".view-rescore .progress");
  bar.hidden = !total;
  if (!total) return;
  bar.firstElementChild.style.width = `${(100 * done) / total}%`;
  bar.setAttribute("aria-valuenow", String(Math.round((100 * done) / total)));
}
// `brought`: whether it brought new scores, in place of those that are shown.
function endRescore(words, wrong = false, brought = false) {
  scoring = false;
  if (rescored) rescored.passed = !brought;
  sayRescored();
  find("[data-do=halt]").hidden = true;
  setOff("rescore", false);
  find(".view-rescore .progress").hidden = true;
  find(".view-rescore .go").classList.toggle("failed", wrong);
  setText(find(".view-rescore .wait"), words);
}
// Where the weight was not touched, it stays as the run has it, at each step.
const historyFunctions = () =>
  chosenFunctions().map((one) => (settingsOf(one.name).touched ? one : { ...one, weight: null }));
async function rescore() {
  if (scoring) return;
  scoring = true;
  setOff("rescore", true);
  find("[data-do=halt]").hidden = false;
  find(".view-rescore .go").classList.remove("failed");
  setText(find(".view-rescore .wait"), "");
  sayRescored();
  const run = find("select.history").value;
  if (!(await looked())) {
    endRescore(NO_ANSWER, true);
    return;
  }
  const fault = notBuilt() || (editedName() ? faultOfChosen() : noFunction("score with"));
  if (fault) {
    endRescore(fault, true);
    return;
  }
  const instead = find("select.instead").value || null;
  const asked = { text: page.text, which: page.which, run, set: setNow() };
  const got = await askWorker(
    "rescore",
    { run, functions: historyFunctions(), instead, scale_rewards: find("select.scale").value },
    (words, done, total) => {
      setText(find(".view-rescore .wait"), words);
      followProgress(done ?? 0, total ?? 0);
    },
  );
  if (!got) return;
  if (!got.answer) {
    endRescore(got.sentence, true);
    return;
  }
  rescored = { ...asked, passed: false };
  endRescore(`${plural(got.answer.completions, "completion")} in ${seconds(got.answer.seconds)}.`, false, true);
  drawRescored(find(".view-rescore .results"), got.answer);
  if (page.text !== asked.text || page.which !== asked.which) return; // its lines are no longer these
  const mine = got.answer.functions.find((one) => one.name === editedName());
  showFailures(page.open.builtIn ? [] : (mine?.failures ?? []).filter((one) => one.line).slice(0, 5));
}
