// The one truth of the New run page: the spec's text. Every edit goes to the server, which answers with the text as it
// is then and all there is to know about it (a view); whoever shows something of it listens with onView. What the
// worker finds meanwhile knows nothing of what is being typed: it is said to those who show what is wrong (onProblems)
// or which columns the data has (onColumns), and to nobody else.

import { params } from "../../ui/address.js";
import { tryStore } from "../../ui/browser_store.js";
import { showText } from "../../ui/dom.js";
import { part } from "../../ui/part.js";
import { WorkerQuestions } from "../../ui/worker_questions.js";

export const { root, find, server } = part("pages/new/new_run");
const topic = Math.random().toString(36).slice(2);
export const page = { text: "", view: null, form: null, known: {}, columns: [] };
const listeners = { view: [], problems: [], columns: [] };
export const pending = [];
const undone = [];
export const asTyped = new Map(); // path → what was typed and what it is shown as: 1e-4 stays 1e-4
let sending = []; // edits that the server has and has not answered
let busy = false;
let timer = null;
let lastKept = 0;
let era = 0;

// Whether what stands in a field is newer than what the page knows of it.
export const isTyping = (box, path) =>
  document.activeElement === box && [...pending, ...sending].some((one) => one.path === path);
export const onView = (then) => listeners.view.push(then);
export const onProblems = (then) => listeners.problems.push(then);
export const onColumns = (then) => listeners.columns.push(then);
export const shownAt = (path) => page.view?.shown?.[path] ?? "";
export const plainAt = (path) => page.view?.plain?.[path] ?? null;

// Edits: {path, typed}, {path, value}, {path, remove: true} or {fix}. What is typed while the server answers goes with
// the next request.
export function edit(changes) {
  for (const change of changes) {
    const same = pending.findIndex((other) => other.path && other.path === change.path);
    if (same >= 0) pending.splice(same, 1);
    pending.push(change);
  }
  settleIn(0);
}
// Another text took its place (a preset, an import, Undo): what was typed before belongs to the old one.
export function replaceText(text, { keep = true } = {}) {
  era += 1;
  pending.length = 0;
  asTyped.clear();
  write(text, { keep });
}
// What nobody sees is not made; it comes as soon as it is shown (settleIn).
const hidden = () => [find(".view-script").hidden && "script", page.preflightUnseen && "preflight"].filter(Boolean);
export function settleIn(ms) {
  clearTimeout(timer);
  timer = setTimeout(settle, ms);
}

// The whole text was changed by hand, in the YAML.
export function write(text, { now = true, keep = true } = {}) {
  if (keep) keepForUndo();
  page.text = text;
  settleIn(now ? 0 : 40);
}

async function settle() {
  if (busy) return settleIn(30);
  busy = true;
  const text = page.text;
  const sent = pending.splice(0);
  const of = era;
  sending = sent;
  const view = await within(15_000, server.edit_settings({ text, edits: sent, known: page.known, hidden: hidden() }));
  busy = false;
  sending = [];
  if (of !== era) return settleIn(0);
  offline(!view);
  if (!view) {
    pending.unshift(...sent);
    return settleIn(1000);
  }
  if (page.text !== text) {
    pending.unshift(...sent);
    return settleIn(0);
  } // typed in the YAML meanwhile
  trouble(view.sentence ?? "");
  if (view.sentence) {
    // what the server cannot take is not sent for ever: the field keeps it, other edits go on
    if (!view.fault) {
      pending.unshift(...sent);
      settleIn(2000);
    }
    return undefined;
  }
  if (view.unreadable && sent.length) pending.unshift(...sent);
  if (view.text !== text) keepForUndo();
  for (const { path, typed } of sent)
    if (typed !== undefined && view.shown) asTyped.set(path, [typed, view.shown[path] ?? ""]);
  page.text = view.text;
  page.view = view.unreadable ? { ...page.view, unreadable: view.unreadable } : view;
  keepDraft();
  // it knows nothing of what was done meanwhile: a box just ticked would jump back
  if (pending.length && !view.unreadable) return settleIn(0);
  announceView();
  return undefined;
}
function announce(what) {
  for (const listener of listeners[what]) listener(page.view);
}
export function announceView() {
  for (const what of ["view", "columns", "problems"]) announce(what);
}
// Not while something is typed: what was chosen a moment ago would jump back, and the view to come tells them anyway.
export function announceColumns() {
  if (!pending.length && !sending.length) announce("columns");
}
const within = (ms, promise) => Promise.race([promise, new Promise((done) => setTimeout(done, ms))]);
// Until every edit is in the text; not for ever, where one cannot be.
export async function settled() {
  while (
    (busy || pending.length) &&
    find(".trouble").hidden &&
    find(".away").hidden &&
    !(page.view?.unreadable && !busy)
  )
    await new Promise((done) => setTimeout(done, 20));
}

export const trouble = (words) => showText(find(".trouble"), words);
export function offline(is) {
  find(".away").hidden = !is;
}

function keepForUndo() {
  const now = Date.now();
  if (page.text && undone.at(-1) !== page.text && (now - lastKept > 800 || !undone.length)) {
    undone.push(page.text);
    if (undone.length > 100) undone.shift();
  }
  lastKept = now;
  find("[data-do=undo]").disabled = !undone.length;
}
export function undo() {
  const before = undone.pop();
  find("[data-do=undo]").disabled = !undone.length;
  if (before !== undefined) replaceText(before, { keep: false });
}

// ---- what is typed survives a reload ----
const draftKey = () =>
  [
    "groupwise:new",
    params().get("from") ?? "",
    params().get("preset") ?? "",
    ...(params().get("reward") ? [params().get("reward")] : []),
    ...params().getAll("set"),
  ].join(":");
export const keepDraft = () => tryStore(() => sessionStorage.setItem(draftKey(), page.text));
export const draft = () => tryStore(() => sessionStorage.getItem(draftKey()));
export const dropDraft = () => tryStore(() => sessionStorage.removeItem(draftKey()));

// ---- asking the worker about what the page shows (page.view): resolves to the answer; {lost: true} where it could not
// be asked now; undefined where a newer question replaced it ----
const questions = new WorkerQuestions(server);
export async function askWorker(kind, more = {}, waiting = () => {}) {
  const payload = { kind, text: page.view.text, topic, ...more };
  const got = await questions.ask(kind, payload, (now) => waiting(now.waiting));
  if (!got) return undefined;
  return got.answer ? Object.assign(got.answer, { question: got.question }) : { lost: true };
}

// ---- problems: what the app found, then what the worker found about the same settings ----
const fromWorker = {}; // kind → {key, problems}
const GRAVE = ["blocking", "warning", "advice"];
export function problems() {
  const view = page.view;
  if (!view || view.unreadable) return [];
  const more = Object.entries(fromWorker).flatMap(([kind, said]) =>
    said.key === view.keys?.[kind] ? said.problems : [],
  );
  const grave = ({ level }) => GRAVE.indexOf(level);
  const said = (problem) =>
    view.problems.some((other) => other.field === problem.field && problem.field && grave(other) <= grave(problem));
  const all = [...view.problems, ...more.filter((problem) => !said(problem))];
  return all.sort((a, b) => GRAVE.indexOf(a.level) - GRAVE.indexOf(b.level));
}
export function workerSaid(kind, key, found) {
  fromWorker[kind] = { key, problems: found ?? [] };
  announce("problems");
}
// A sentence begins with a capital, but a name (broken.jsonl, gpt2) stays as it is.
export const sentence = (words) =>
  /^[a-z]+(?=[\s,:;’'])/.test(words) ? words.charAt(0).toUpperCase() + words.slice(1) : words;
