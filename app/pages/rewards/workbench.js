// The workbench: completions are fetched once and tried on again and again, until where they come from changes.

import { params, setParams } from "../../ui/address.js";
import { el, setText } from "../../ui/dom.js";
import { listenToTabs, markTab } from "../../ui/tabs.js";
import { NO_ANSWER, action, askWorker, button, find, on, page, setOff, stopAsking } from "./core.js";
import { NOT_TAKEN, settle } from "./builder.js";
import { NO_BLOCK, looked, noFunction, notBuilt, showFailures, unfinished } from "./editor.js";
import { chosenFunctions, drawFunctions, editedName, faultOfChosen, nameSettings } from "./functions.js";
import { tagsLookedFor } from "./looked_for.js";
import { sayWhose, settingsOfScores } from "./outdated.js";
import { drawResults } from "./results.js";
import { choose, from, sourceAsked, sourceWords } from "./source.js";
import { many, plain, plural } from "./text.js";

let have = null; // {key, question}: the completions that are there
let trying = false;
const go = () => find(".view-try .go");
const waitWords = (words) => setText(go().querySelector(".wait"), words);

on("try", tryNow);
for (const what of ["typed", "scoring"]) on(what, sayOutdated);
for (const what of ["source", "data"]) on(what, sayChosen);

export function drawWorkbench() {
  action("try", () => tryNow());
  action("anew", () => {
    have = null;
    tryNow();
  });
  action("stop", () => {
    stopTrying();
    waitWords("Cancelled.");
    find("[data-do=try]").focus();
  });
  const views = ["try", "rescore"];
  const tabs = views.map((name) => find(`[data-view=${name}]`));
  const show = (name) => {
    for (const view of views) find(`.view-${view}`).hidden = view !== name;
    markTab(tabs, tabs[views.indexOf(name)]);
    nameSettings();
    drawFunctions(); // a weight is as the run's where a run is scored anew
  };
  listenToTabs(tabs, ({ dataset: { view } }) => {
    show(view);
    setParams({ view: view === "try" ? null : view });
  });
  show(params().get("view") === "rescore" ? "rescore" : "try");
  find(".view-try").addEventListener("input", sayChosen);
  on("open", () => {
    tried = null;
    find(".view-try .results").replaceChildren();
    find(".loopholes").hidden = true;
    sayOutdated();
  });
}
let tried = null; // {text, which, set: how, asked: on which completions, passed: a later try brought no scores}
export function sayOutdated() {
  sayWhose(".view-try", tried, trying, {
    again: "Try again",
    before: "the try before",
    of: triedOn(),
    set: tried && setNow(),
  });
}
const setNow = () => settingsOfScores(chosenFunctions(), find("select.scale").value);
const keyOf = (asked) => JSON.stringify(asked);
// Where other completions are chosen than those that were tried: both, in words.
function triedOn() {
  const now = tried && sourceAsked();
  if (!tried || keyOf(tried.asked) === keyOf(now)) return null;
  const [before, words] = [tried.asked, now].map(sourceWords);
  return before === words
    ? { words: "the completions that were chosen before", now: "those that are chosen now" }
    : { words: before, now: words };
}
function sayChosen() {
  sayOutdated();
  drawGo();
}
function drawGo() {
  const same = have?.key === keyOf(sourceAsked());
  find("[data-do=anew]").hidden = trying || !same || from !== "model";
  find("[data-do=stop]").hidden = !trying;
  setOff("try", trying);
}
export function stopTrying() {
  for (const lane of ["completions", "score", "probes", "probed"]) stopAsking(lane);
  trying = false;
  waitWords("");
  sayOutdated();
  drawGo();
}

function scoredWords({ scored, completions, sentence }) {
  const all = plural(completions, "completion");
  // a sentence that begins with how many there are goes on in this one
  if (scored === completions && sentence?.startsWith(`${all} of `))
    return `${all} scored, ${sentence.slice(all.length + 1)}`;
  const part = scored < completions ? `${many(scored)} of ` : "";
  return `${part}${all} scored${sentence ? `. ${sentence}` : ""}`;
}

// A try is of what is chosen as it begins: its completions, functions and text stay its own, whatever is chosen or
// typed until they are scored.
export async function tryNow() {
  if (trying || !page.open) return;
  trying = true;
  const asked = sourceAsked();
  for (const lane of ["probes", "probed"]) stopAsking(lane); // those of the try before
  go().classList.remove("failed"); // that was the try before
  find(".loopholes").hidden = true;
  sayOutdated();
  drawGo();
  bringIntoView(go());
  const done = await tryOnce(asked);
  if (done === undefined) return; // cancelled, or something else was opened
  trying = false;
  if (tried && typeof done === "string") tried.passed = true;
  sayOutdated();
  waitWords(typeof done === "string" ? done : scoredWords(done));
  go().classList.toggle("failed", typeof done === "string");
  drawGo();
  if (typeof done !== "string" && asked.from !== "probes") probe(tried, done.scoring);
}
// From the editor's Ctrl+Enter the results may lie below what is seen.
function bringIntoView(node) {
  const { top, bottom } = node.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight - 80) node.scrollIntoView({ block: "center" });
}
// What completions are scored with, as it stands now.
const scoringNow = () => ({ functions: chosenFunctions(), scale_rewards: find("select.scale").value });
// What went wrong, in words; {completions, scored, sentence, scoring} where all is drawn; undefined where nobody waits
// any more.
async function tryOnce(asked) {
  waitWords("");
  if (!(await settle())) return NOT_TAKEN;
  const isSeen = await looked();
  if (!trying) return undefined;
  if (!isSeen) return NO_ANSWER;
  const missing = page.unfinished ? unfinished() : notBuilt();
  if (missing) return missing === NO_BLOCK ? `${NO_BLOCK} Choose one under “Add a block”.` : missing;
  if (!editedName()) return noFunction("try");
  const fault = faultOfChosen();
  if (fault) return fault;
  if (asked.sentence) return asked.sentence;
  const [now, scoring] = [{ text: page.text, which: page.which, set: setNow(), asked, passed: false }, scoringNow()];
  for (let times = 0; times < 2; times += 1) {
    if (have?.key !== keyOf(asked)) {
      const got = await askWorker("completions", asked, waitWords);
      if (!got) return undefined;
      if (!got.answer) return got.sentence;
      have = { key: keyOf(asked), question: got.question, sentence: got.answer.sentence ?? "" };
    }
    const scored = await askWorker("score", { completions: have.question, ...scoring }, waitWords);
    if (!scored) return undefined;
    if (scored.answer) {
      drawResults(find(".view-try .results"), scored.answer, asked.from === "typed");
      placeLoopholes(asked.from === "typed");
      tried = now;
      if (isOpenStill(tried)) markFailures(scored.answer);
      if (asked.from === "probes") drawLoopholes(scored.answer, false);
      const [completions, known] = [countOf(scored.answer), countOf(scored.answer, scoredAtAll)];
      return { completions, scored: known, sentence: have.sentence, scoring };
    }
    if (!/no longer kept/.test(scored.sentence)) return scored.sentence;
    have = null;
  }
  return "The completions were not kept. Try again.";
}
const isOpenStill = ({ text, which }) => text === page.text && which === page.which;
const scoredAtAll = (one) => one.total !== null && one.total !== undefined;
const countOf = (answer, which = () => true) =>
  answer.groups.reduce((n, group) => n + group.completions.filter(which).length, 0);
// Lines of the edited function at which it failed, into the editor.
function markFailures(answer) {
  const mine = answer.functions.find((one) => one.name === editedName());
  showFailures(page.open.builtIn ? [] : (mine?.failures ?? []).filter((one) => one.line));
}

// After every try the probes are tried, too, quietly: what a model would find, it will find.
async function probe(of, scoring) {
  const asked = { from: "probes", data: of.asked.data, rows: 1, tags: tagsLookedFor() };
  const got = await askWorker("completions", asked, () => {}, "probes");
  if (!got?.answer || !isOpenStill(of)) return;
  const scored = await askWorker("score", { completions: got.question, ...scoring }, () => {}, "probed");
  if (scored?.answer && isOpenStill(of)) drawLoopholes(scored.answer, true);
}
// Whoever typed completions sees their scores first.
function placeLoopholes(isLast) {
  find(".view-try .results")[isLast ? "after" : "before"](find(".loopholes"));
}
const headOf = (kinds) =>
  kinds.includes("blind")
    ? "Right and wrong score the same"
    : kinds.includes("loophole")
      ? "Loopholes"
      : "No loophole found";
function drawLoopholes(answer, offer) {
  const box = find(".loopholes");
  const found = answer.loopholes ?? [];
  const item = (one) =>
    el("li", { class: `verdict-at ${one.kind === "missed" ? "advice" : "warning"}` }, plain(one.sentence));
  const probes = countOf(answer);
  const judged = countOf(answer, scoredAtAll);
  const who =
    judged < probes ? `${many(judged)} of ${plural(probes, "probe")} got a score, and` : plural(probes, "probe");
  box.hidden = !judged; // nothing can be said of probes that it failed on, least of all that they found nothing
  if (!judged) return;
  box.classList.toggle("none", !found.length);
  const show = () => {
    choose("probes", { keepsData: true }); // they are told of the data that was tried
    tryNow();
  };
  box.replaceChildren(
    el("h3", headOf(found.map(({ kind }) => kind))),
    found.length ? el("ul", ...found.map(item)) : el("p.s.mut", `${who} earned no more than they should.`),
    offer ? button("Show the probes", show, "link s") : "",
  );
}
