// What the parts of the Rewards page share: what is open, text made harmless to read, asking the worker.

import { el, showText } from "../../ui/dom.js";
import { part } from "../../ui/part.js";
import { wakeAll } from "../../ui/poll.js";
import { sentence } from "../../ui/text.js";
import { WorkerQuestions } from "../../ui/worker_questions.js";

export const { root, find, server } = part("pages/rewards/rewards_page");
// open: the function in the editor: {name, hash, newest, builtIn, clean (its text as saved), network, draft, versions,
// users, blocks: as `reading` of its text as saved, begun: blocks of a draft, `fresh` where nobody typed any}. reading:
// the blocks that make the text, {blocks, sentence}, or {line} where it was edited by hand, null where it never was of
// blocks. unfinished: blocks that make no code yet, {name, blocks, sentence}. given: what the data gives (columns.js),
// notGiven: why that is not known, slip: what is wrong with how its file is read, {message, fixes: [{label, take}]}.
export const page = {
  about: null,
  open: null,
  text: "",
  which: "",
  functions: [],
  problems: [],
  columns: null,
  given: null,
  notGiven: "",
  slip: null,
  reading: null,
  unfinished: null,
  toBuild: false, // whether something is typed in the blocks that is not in the code yet
  failures: [],
};
// What one part tells and others hear: a function was opened (“open”), its text was “typed” or “looked” at; where the
// completions come from (“source”), with what functions and weights they are scored (“scoring”), the “data” or its
// “columns” changed, the list of “runs” or the “library” did, or the “way” to write it; blocks were “built”; what the
// address names is “missing”; and what is asked for from elsewhere (“try”, “save”, “build”: another function of
// blocks).
const listeners = {};
export const on = (what, then) => (listeners[what] ??= []).push(then);
export const tell = (what) => {
  for (const then of listeners[what] ?? []) then();
};

export const action = (name, then) => {
  find(`[data-do=${name}]`).addEventListener("click", ({ currentTarget }) => {
    if (currentTarget.getAttribute("aria-disabled") !== "true") then();
  });
};
// Off, but still in its place for the keyboard: a button that is “disabled” under the focus loses it.
export const setOff = (name, off) => find(`[data-do=${name}]`).setAttribute("aria-disabled", String(off));
export const button = (words, onclick, kind = "btn s") => el("button", { class: kind, type: "button", onclick }, words);
let ofAnAnswer = false;
export function trouble(words) {
  ofAnAnswer = false;
  showText(find(".trouble"), words);
}
// An answer takes back what an earlier one said, and nothing else: what was refused stays to be read.
function ofAnswer(words) {
  if (!words && !ofAnAnswer) return;
  trouble(words);
  ofAnAnswer = Boolean(words);
}
export const NO_ANSWER = "The server did not answer. Try again.";
// Calls a function of the server: its answer; undefined (and a sentence on top) where there is none.
export async function call(name, payload = {}, speak = ofAnswer) {
  let got;
  try {
    got = await server[name](payload);
  } catch (problem) {
    console.warn(problem);
  }
  find(".away").hidden = Boolean(got);
  if (!got) wakeAll(); // the bar on top asks at once, and says the same
  speak(got?.sentence ?? (got ? "" : NO_ANSWER));
  return got && !got.sentence ? got : undefined;
}
addEventListener("groupwise:reach", ({ detail }) => {
  if (detail) find(".away").hidden = true;
});

// ---- asking the worker ----
const questions = new WorkerQuestions(server);
// Resolves to {answer, question}; {sentence} where there is none, and whether the server was `lost`; undefined
// where a newer one took its place.
export async function askWorker(kind, more = {}, waiting = () => {}, lane = kind) {
  const got = await questions.ask(lane, { ...more, kind }, (now) => waiting(now.waiting, now.done, now.total));
  if (got?.lost) return { sentence: NO_ANSWER, lost: true };
  return got?.answer?.error ? { sentence: sentence(got.answer.error) } : got;
}
export const stopAsking = (lane) => questions.stop(lane);

// ---- dialogs: a click beside one closes it ----
for (const dialog of root.querySelectorAll("dialog")) {
  dialog.querySelector(".close, .cancel").addEventListener("click", () => dialog.close());
  dialog.addEventListener("mousedown", (event) => {
    if (event.target === dialog) dialog.close();
  });
}
