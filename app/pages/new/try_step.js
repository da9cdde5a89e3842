// “Try one step”: the button that asks for it and stops it, and what came of it.

import { tryStore } from "../../ui/browser_store.js";
import { el } from "../../ui/dom.js";
import { countWords, number, seconds as secondsInWords } from "../../ui/number.js";
import { sentence } from "../../ui/text.js";
import { waitWords } from "../../ui/wait_words.js";
import { announceView, blocking, find, isBlocked, onView, page, server, settled } from "./core.js";
import { goTo } from "./go_to.js";
import { bringBelowEstimates } from "./in_sight.js";
import { answer as sayBesideLaunch, note, sayBlocked } from "./launch_note.js";

const SHOWN = 16; // completions of a step, of which some stand there at once
const AT_ONCE = 4;
const attempt = find("[data-do=try]");
const result = find(".tried");
let trying = null;
let tried = null; // the text that what is shown came of
let wrong = ""; // what to say beside Launch for as long as that text stands
onView(() => result.classList.toggle("old", tried !== null && tried !== page.text));

const UNIT = /(?<=\d) (?=\p{L})/gu; // a number and its unit stay on one line
export const figure = (label, value, detail = "", level = "") =>
  el(
    "div",
    { class: `figure ${level}` },
    el("span.xs.mut", label),
    el("b", value.replace(UNIT, "\u00a0")),
    el("span.xs.mut", ...[detail].flat()),
  );

// What cannot be launched cannot be tried; what is being tried can be stopped.
export const showWhetherToTry = () => attempt.classList.toggle("blocked", trying === null && isBlocked());

export const triedWords = () => (tried === page.text ? wrong : "");

export async function tryOneStep() {
  if (trying !== null) {
    await server.cancel_question({ question: trying });
    return;
  }
  await settled();
  if (blocking().length) return sayBlocked();
  tried = page.text;
  wrong = "";
  const asked = await server.try_step({ text: tried });
  result.classList.remove("old");
  result.hidden = false;
  note("");
  if (!asked || asked.sentence) {
    const why = asked?.sentence ?? "The server did not answer. Nothing was tried; try again.";
    sayBesideLaunch(why); // in sight also where what comes of it is not
    result.replaceChildren(el("p.s", why));
    return;
  }
  trying = asked.question;
  attempt.textContent = "Stop trying";
  showWhetherToTry();
  await bringIntoView();
  await follow(trying);
  trying = null;
  attempt.textContent = "Try one step";
  announceView();
}
// A page that is left leaves word of what it was trying: nobody would hear of what comes of it.
const LEFT = "groupwise:left-trying";
addEventListener("pagehide", () => {
  if (trying === null) return;
  tryStore(() => sessionStorage.setItem(LEFT, JSON.stringify({ question: trying, request: page.request })));
});
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) tryStore(() => sessionStorage.removeItem(LEFT)); // it goes on being followed
});
// Once, where the same settings are there again.
export async function tellDropped() {
  const left = tryStore(() => JSON.parse(sessionStorage.getItem(LEFT)));
  if (!left) return;
  tryStore(() => sessionStorage.removeItem(LEFT));
  if (left.request === page.request) note("The try was dropped as the page was left. Try again.");
  await server.cancel_question({ question: left.question });
}
// Where the window is low, what came of it stands below its edge, or behind Launch.
const bringIntoView = () => {
  result.style.scrollMarginTop = `${find(".launch-bar").offsetHeight}px`;
  return bringBelowEstimates(result);
};
async function follow(question) {
  const began = Date.now();
  for (;;) {
    const now = await server.read_answer({ question });
    if (now?.answer) {
      showTried(now.answer);
      return bringIntoView();
    }
    // beside Launch, which is in sight wherever one has scrolled to
    const waited = Math.floor((Date.now() - began) / 1000); // whole seconds: “3 s”, not “3.0 s”
    note(now?.gone ? "" : `Trying one step… ${waited < 60 ? `${waited} s` : secondsInWords(waited)}`);
    if (now?.gone) return result.replaceChildren(el("p.s.mut", "Stopped; it left nothing behind."));
    if (now?.waiting) result.replaceChildren(el("p.s.mut", { role: "status" }, waitWords(now.waiting, began)));
    await new Promise((done) => setTimeout(done, 300));
  }
}

function failedStep(answer) {
  const problem = { field: answer.field ?? "", message: answer.error, level: "blocking", fixes: [] };
  const where = el("button.link.s", { type: "button", onclick: () => goTo(problem) }, "Show the field");
  return el(
    "div.verdict.blocking",
    el("p.s", el("b", "One step failed. "), sentence(answer.error)),
    answer.field ? where : "",
  );
}
const notTried = (answer) =>
  el("div.verdict.warning", el("p.s", el("b", "One step was not tried. "), sentence(answer.error)));

// What the reward functions did not score: on all completions it ends a run, on some it makes their groups smaller.
function failedRewards(failures) {
  const level = failures.some(({ failed, completions }) => failed === completions) ? "blocking" : "warning";
  const names = [...new Set(failures.map((one) => one.function))];
  const title = names.length > 1 ? `${names.length} reward functions failed.` : "A reward function failed.";
  const edits = names.map((name) => el("a.s", { href: `/rewards?name=${encodeURIComponent(name)}` }, `Edit ${name}`));
  return el(
    `div.verdict.${level}`,
    el("p.s", el("b", title)),
    ...failures.map((one) => el("p.s", one.sentence)), // a name is written as it is
    el("p.s", ...edits.flatMap((one, n) => (n ? [" · ", one] : [one]))),
  );
}
function completion(one, n) {
  const said = (name, score) => (one.failed?.includes(name) ? "failed" : score === null ? "–" : number(score));
  const scores = Object.entries(one.rewards).map(([name, score]) => `${name} ${said(name, score)}`);
  const facts = `${scores.join(" · ")} · ${countWords(one.tokens, "token")}${one.truncated ? ", cut off" : ""}`;
  const reward = el("b", `Reward ${one.reward === null ? "none" : number(one.reward)}`);
  return el(
    "details.tried-one",
    { open: n < 2 },
    el("summary.s", reward, " ", el("span.mut", facts)),
    el("pre.mono.prompt-text", one.prompt),
    el("pre.mono", one.text || "(empty)"),
  );
}
// A step whose completions all scored the same has taught nothing, and the whole run may go like that.
function alike(scored) {
  const scores = scored.map(({ reward }) => reward);
  if (scores.length < 2 || scores[0] === null || scores.some((score) => score !== scores[0])) return "";
  return el(
    "p.s.verdict-at.warning",
    `All ${countWords(scores.length, "completion")} earned ${number(scores[0])}, and where all earn the same there ` +
      "is no learning signal. Read them below: the reward functions may miss what is right, or the model may " +
      "not be able to do this yet.",
  );
}
function listCompletions(all) {
  const shown = all.slice(0, SHOWN).map(completion);
  const more = shown.slice(AT_ONCE);
  const title = `Show ${countWords(more.length, "more completion")}`;
  const rest = el("details.tried-more", el("summary.s", title), ...more);
  return el("div.completions", ...shown.slice(0, AT_ONCE), more.length ? rest : "");
}
function showTried(answer) {
  if (answer.untried) {
    sayBesideLaunch("One step was not tried: see below.");
    return result.replaceChildren(notTried(answer));
  }
  if (answer.error) {
    wrong = "One step failed";
    sayBesideLaunch("One step failed: see below.");
    return result.replaceChildren(failedStep(answer));
  }
  const failures = answer.failures ?? [];
  if (failures.length) wrong = "A reward function failed";
  sayBesideLaunch(failures.length ? `${wrong}: see below.` : "One step works: see below.");
  const gb = (bytes) => (bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.round(bytes / 1e6)} MB`);
  return result.replaceChildren(
    failures.length ? failedRewards(failures) : "",
    el("p.s", el("b", failures.length ? "One step was made. " : "One step works. "), answer.sentence ?? ""),
    el("p.xs.mut.outdated", "The settings have changed since: try again to see their result."),
    failures.length ? "" : alike(answer.completions),
    el(
      "div.figures",
      figure("A step took", secondsInWords(answer.seconds.step), "one generation, one update"),
      figure("Loading took", secondsInWords(answer.seconds.load)),
      figure("Memory at its peak", gb(answer.memory.peak), answer.memory.device),
    ),
    listCompletions(answer.completions),
  );
}
