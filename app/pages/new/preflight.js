// Beside the form, always current and in sight: what the run will do, what it takes, what is wrong and what to do about
// it; and the two buttons that start something.

import { el, setText, steady } from "../../ui/dom.js";
import { shortName } from "../../ui/name.js";
import { noteLaunched } from "../../ui/run_drafts.js";
import { waitWords } from "../../ui/wait_words.js";
import {
  askWorker,
  asked,
  blocking,
  find,
  isBlocked,
  isPending,
  isSaid,
  isUnsent,
  onEdited,
  onProblems,
  onView,
  page,
  pending,
  problems,
  server,
  settleIn,
  settled,
  workerSaid,
} from "./core.js";
import { showProblems } from "./fields.js";
import { bringBelowEstimates } from "./in_sight.js";
import { answer, askBeforeLeaving, forgetAnswer, note, sayBlocked } from "./launch_note.js";
import { awaitsNewData } from "./new_data.js";
import { figure, showWhetherToTry, triedWords, tryOneStep } from "./try_step.js";
import { counts, drawVerdicts } from "./verdicts.js";

const box = find(".preflight");
const inBox = (selector) => box.querySelector(selector);
const go = find("[data-do=launch]");
const state = find("[data-do=problems]");
const NONE = "Once the problems below are fixed, this says what the run will do.";
const READING = "Once the data is read, this says what the run will do.";
const UNREAD = "The YAML cannot be read: fix it first.";
const OLD = `${UNREAD} This is what the run would have done before.`;
const WAITS = "The data is being read. Launched now, the run starts once that is done.";
const STAY = "The run starts once the data is read: stay on this page until then.";
let built = null;
let buildKey = null;
const heard = {}; // kind → the key of what was asked last
let drawn = "";
let soon = null;

const isReading = () => !isSaid("preview");
let seenSource = null; // of the data that was read with all that it brought along: other settings keep nobody waiting
// Launch looks as where it is blocked until data that was not seen before is read: no run can start yet. A press is not
// lost: the run starts then. The quickstart waits for nothing.
function waitsForData({ quickstart, unreadable, keys }) {
  if (unreadable) return false;
  if (isPending("data.source")) return true;
  if (quickstart || !keys?.preview || keys.source === seenSource) return false;
  // what new data changes (the run's name, how many rows) has it read again, which is still its first reading
  if (!isReading() && !isUnsent()) seenSource = keys.source;
  return keys.source !== seenSource;
}
// In a few words, beside Launch: what there is to fix, or that all was looked at.
const cleanWords = () => {
  if (!page.reached) return "Not connected";
  if (page.late && !isPending("data.source")) return "Checking…";
  if (isReading() || isPending("data.source")) return "Reading the data…";
  if (!isSaid("build")) return "Checking the settings…";
  if (!isSaid("check_data")) return "Checking the rows…";
  if (page.view.keys?.call_rewards && !isSaid("call_rewards")) return "Checking the rewards…";
  return triedWords() || "✓ No problems found"; // the checks saw nothing, but a step did
};
// What the worker is asked also where something blocks; there may be more problems for as long as it has not answered.
const ASKED = ["build", "model", "call_rewards"];
const SLOW = 700; // ms, from which on it is said: it would only flicker where an answer takes a moment
let waitsFrom = 0;
let lookAgain = null;
function isWorkerSlow() {
  const { keys = {} } = asked() ?? {};
  clearTimeout(lookAgain);
  if (!ASKED.some((kind) => keys[kind] && !isSaid(kind))) {
    waitsFrom = 0;
    return false;
  }
  waitsFrom ||= Date.now();
  const left = waitsFrom + SLOW - Date.now();
  if (left > 0) lookAgain = setTimeout(() => drawState(problems()), left);
  return left <= 0;
}
function drawState(found) {
  const counted = counts(found);
  const clean = cleanWords();
  const known = page.reached && !page.late && (counted.length || page.view.unreadable);
  const more = isWorkerSlow() && counted.length ? [el("span.mut", "checking…")] : [];
  const words = known ? [...counted, ...more] : [el("span", clean)];
  if (words.map((one) => one.textContent).join() !== [...state.children].map((one) => one.textContent).join())
    state.replaceChildren(...words);
  state.disabled = !found.length;
}
const NAME = 40; // signs of a run's name in a sentence, which wraps; of a longer one the middle goes
// What a figure is known from, with the run that is named there.
function detailOf({ detail, run, hint }) {
  if (!run) return hint ? el("span.hinted", { title: hint, tabindex: "0" }, detail) : detail;
  const [before, after] = detail.split(`“${run}”`);
  return [before, el("span.quoted", { title: run }, "“", el("bdi", shortName(steady(run), NAME)), "”"), after];
}
// Of the text before: an estimate that was not made waited for a setting which need not be in this text at all.
const withoutOldNames = (figures = []) =>
  figures.map((one) => (one.value === "—" ? { ...one, detail: "waits until the YAML can be read" } : one));
// Whether the length of the prompts, which these figures assume, is on its way: it is being counted, or was since they
// were made. A figure by another length would only change in a moment.
const isLengthOnItsWay = ({ assumed, keys }) => {
  const isCountedSince = page.known.prompt_tokens && page.known.rows_of === keys?.rows;
  return Boolean(assumed && (isCountedSince || (keys?.check_data && !isSaid("check_data"))));
};
const onItsWay = (one) =>
  one.assumes ? { ...one, value: "…", detail: "once the prompts are counted", level: "", run: "", hint: "" } : one;
function draw() {
  const view = page.view;
  if (!view) return;
  const found = problems();
  const { unreadable } = view;
  find(".left").classList.toggle("unreadable", Boolean(unreadable));
  find(".left .view-form fieldset").disabled = Boolean(unreadable);
  find(".unreadable-note").hidden = !unreadable;
  if (unreadable)
    setText(
      find(".unreadable-note span"),
      `${unreadable.line ? `Line ${unreadable.line}: ` : ""}${unreadable.message.replace(/\.?$/, ".")} ` +
        "The form waits until it can be read.",
    );
  go.classList.toggle("blocked", isBlocked());
  go.classList.toggle("waits", waitsForData(view));
  go.title = waitsForData(view) ? WAITS : "";
  showWhetherToTry();
  drawState(found);
  for (const said of [".verdicts", ".unreadable-note"]) find(said).classList.toggle("old", page.late);
  forgetAnswer();
  const reading = !unreadable && awaitsNewData();
  const awaited = !unreadable && isLengthOnItsWay(view);
  const shown = [view.sentences, view.assumed, view.figures, found, Boolean(unreadable), reading, awaited];
  const key = JSON.stringify(shown);
  if (key === drawn) return;
  drawn = key;
  const told = unreadable && !view.figures?.length ? [] : (view.sentences ?? []);
  const said = told.filter((line) => (line === view.assumed ? !awaited : !reading));
  // where nothing is wrong, what the run will do is asked for as soon as this is in sight
  const unread = view.figures?.length ? OLD : UNREAD;
  const words = unreadable ? unread : blocking().length && !said.length ? NONE : reading ? READING : "";
  setText(inBox(".happening-note"), words);
  inBox(".happening-note").hidden = !words;
  const isOld = Boolean(unreadable) || reading;
  for (const part of [".happening", ".figures"]) inBox(part).classList.toggle("old", isOld);
  inBox(".happening").replaceChildren(...said.map((line) => el("p.s", line)));
  const figures = unreadable ? withoutOldNames(view.figures) : (view.figures ?? []);
  inBox(".figures").replaceChildren(
    ...(awaited ? figures.map(onItsWay) : figures).map((one) => figure(one.label, one.value, detailOf(one), one.level)),
  );
  drawVerdicts(inBox(".verdicts"), found);
  showProblems();
}

// TRL's own word on these settings, and what only the worker can tell of the model.
async function build() {
  const key = asked()?.keys?.build;
  if (!key || key === buildKey) return;
  buildKey = key;
  const found = await askWorker("build");
  if (!found) return;
  if (found.lost) {
    buildKey = null;
    soon = setTimeout(build, 2000);
    return;
  }
  built = found.error ? null : found.question;
  workerSaid(
    "build",
    key,
    found.error ? [{ field: "", message: found.error, level: "warning", fixes: [] }] : found.problems,
  );
}
// What blocks nothing: what could not be found out is not said.
async function hear(kind) {
  const key = asked()?.keys?.[kind];
  if (!key || key === heard[kind]) return;
  heard[kind] = key;
  const found = await askWorker(kind);
  if (found?.lost) {
    heard[kind] = null;
    setTimeout(() => hear(kind), 2000);
    return;
  }
  if (found) workerSaid(kind, key, found.error ? [] : found.problems);
}

// ---- launch: only what TRL has said yes to ----
let launching = false;
async function launch() {
  await settled();
  if (page.view?.unreadable) return sayBlocked();
  if (!find(".trouble").hidden || pending.length)
    return answer("Not everything you typed is in the settings yet. See the message at the top.");
  if (blocking().length) await refresh(); // a file may be gone since, which is said with the rest
  if (blocking().length) return sayBlocked();
  if (!page.view.quickstart) {
    await waitForData();
    await settled(); // what the new data brings along
    note("");
  }
  if (blocking().length) return sayBlocked();
  const { text } = page;
  for (let tries = 0; tries < 5; tries += 1) {
    const done = await server.launch_run({ text: page.text, built, known: page.known });
    if (done?.url) {
      noteLaunched(page.request);
      askBeforeLeaving(false);
      location.href = done.url;
      return;
    }
    if (done?.unasked) {
      askBeforeLeaving(true);
      note("Asking TRL whether it takes these settings…");
      const key = page.view?.keys?.build;
      buildKey = key; // or the page's own asking, a moment later, would withdraw this one
      const found = await askWorker("build", {}, note);
      if (!found || found.lost || found.error) buildKey = null;
      if (found?.error) return answer(found.error);
      if (page.text !== text) return answer("The settings have changed since. Launch again.");
      if (found?.lost) await new Promise((done) => setTimeout(done, 1000)); // the worker's helper is starting anew
      if (!found || found.lost) continue; // or another question about the same settings took its place
      built = found.question;
      workerSaid("build", key, found.problems);
      if (blocking().length) return sayBlocked();
      continue;
    }
    if (done?.unread) {
      await waitForData();
      await new Promise((done) => setTimeout(done, 500));
      if (blocking().length) return sayBlocked();
      continue;
    }
    await refresh();
    if (blocking().length) return sayBlocked();
    return answer(done?.sentence ?? "The server did not answer. Nothing was launched; try again.");
  }
  return answer("The worker did not confirm these settings. Launch again.");
}
// However long it takes on a busy machine: what is wrong with the data is said before a run starts, not after.
async function waitForData() {
  const began = Date.now();
  await page.previewed(() => {
    askBeforeLeaving(true);
    note(waitWords(STAY, began));
  });
}
async function refresh() {
  settleIn(0);
  await new Promise((done) => setTimeout(done, 20));
  await settled();
}
async function pressLaunch() {
  if (launching) return;
  launching = true;
  go.classList.add("busy");
  note("");
  try {
    await launch();
  } finally {
    launching = false;
    askBeforeLeaving(false);
    go.classList.remove("busy");
  }
}

export function drawPreflight() {
  new IntersectionObserver((seen) => {
    const { isIntersecting } = seen.at(-1);
    if (isIntersecting && page.preflightUnseen) settleIn(0);
    page.preflightUnseen = !isIntersecting;
  }).observe(box);
  onView(() => {
    clearTimeout(soon);
    soon = setTimeout(() => {
      build();
      hear("model");
      hear("call_rewards");
      if (page.view.unreadable) hear("check_data"); // else the preview asks, and shows what it finds
    }, 300);
  });
  onProblems(draw);
  onEdited((changes) => changes.some(({ path }) => path === "data.source") && draw());
  addEventListener("groupwise:reach", ({ detail }) => {
    page.reached = detail;
    draw();
  });
  go.addEventListener("click", pressLaunch);
  find("[data-do=try]").addEventListener("click", tryOneStep);
  state.addEventListener("click", () => bringBelowEstimates(inBox(".verdicts")));
  find(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    go.focus();
    go.scrollIntoView({ block: "nearest" });
  });
}
