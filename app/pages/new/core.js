// The one truth of the New run page: the spec's text. Every edit goes to the server, which answers with the text as it
// is then and all there is to know about it (a view); whoever shows something of it listens with onView. What the
// worker finds meanwhile knows nothing of what is being typed: it is said to those who show what is wrong (onProblems)
// or which columns the data has (onColumns), and to nobody else.

import { showText } from "../../ui/dom.js";
import { part } from "../../ui/part.js";
import { LONGEST_ANSWER, offline as sayOffline, within } from "../../ui/poll.js";
import { storeDraft } from "../../ui/run_drafts.js";
import { WorkerQuestions } from "../../ui/worker_questions.js";
import { allProblems, problemsOfUnreadable } from "./problem_list.js";
import { unsent } from "./unsent.js";

export const { root, find, server } = part("pages/new/new_run");
// `notes`: what the import said that the text is from; they go where it goes. `request`: what the address asks for
// (ui/run_drafts.js); `opened`: the text it began with; `about`: what the form stands on, {origin, arrival} as
// open_new_run says it; `given`: what the data brought (new_data.js); `early`: whether all that the address asks for
// was not possible yet, as it was not known what is installed; `handing`: the function that waits for that, or "";
// `late`: whether what is shown has been that of an older text for a while; `reached`: whether the server answers;
// `before`: what settings were before what is wrong with them was typed (values_before.js).
export const page = {
  text: "",
  notes: [],
  shownView: "form",
  view: null,
  form: null,
  known: {},
  columns: [],
  request: "",
  about: {},
  given: null,
  early: false,
  handing: "",
  late: false,
  reached: true,
  before: {},
};
const listeners = { edited: [], view: [], replaced: [], notes: [], problems: [], columns: [], preview: [] };
export const pending = [];
const undone = [];
export const asTyped = new Map(); // path → what was typed and what it is shown as: 1e-4 stays 1e-4
let sending = []; // edits that the server has and has not answered
let busy = false;
let timer = null;
let steps = 0; // what was done here, one after the other
let lastKept = 0;
let lastPlaces = ""; // the settings that were edited last: those of another are a step of their own
let era = 0;

// Whether what stands in a field is newer than what the page knows of it.
export const isTyping = (box, path) => document.activeElement === box && isPending(path);
// Whether an edit of a setting is on its way.
export const isPending = (path) => [...pending, ...sending].some((one) => one.path === path);
// Whether an edit of any is.
export const isUnsent = () => pending.length + sending.length > 0;
// What was just chosen or typed, which the server has not seen yet.
export const onEdited = (then) => listeners.edited.push(then);
export const onView = (then) => listeners.view.push(then);
// Another text took the place of the one there was.
export const onReplaced = (then) => listeners.replaced.push(then);
export const onNotes = (then) => listeners.notes.push(then);
export const onProblems = (then) => listeners.problems.push(then);
export const onColumns = (then) => listeners.columns.push(then);
// What the worker's preview answered: to {read_as, rows} or {error} of the data that is shown, with `reading`: the key
// of what it was asked about how the file is read.
export const onPreview = (then) => listeners.preview.push(then);
export function announcePreview(found) {
  for (const listener of listeners.preview) listener(found);
}
export const shownAt = (path) => page.view?.shown?.[path] ?? "";
export const plainAt = (path) => page.view?.plain?.[path] ?? null;

// Edits: {path, typed}, {path, value}, {path, remove: true} or {fix}. What is typed while the server answers goes with
// the next request. `own`: of the page's own accord, so that nobody has changed anything by them.
export function edit(changes, { own = false } = {}) {
  steps += 1;
  for (const change of changes) {
    const place = change.remove && /\.\d+$/.test(change.path); // in a list: what follows has moved there
    const same = place ? -1 : pending.findIndex((other) => other.path && other.path === change.path);
    if (same >= 0) pending.splice(same, 1);
    pending.push({ ...change, step: steps, own });
  }
  keepDraft();
  settleIn(0);
  for (const listener of listeners.edited) listener(changes);
}
// Another text took its place (a preset, an import, Undo): what was typed before belongs to the old one, and so do the
// notes.
export function replaceText(text, { keep = true, ...left } = {}) {
  era += 1;
  if (keep) keepForUndo();
  takeUp(left);
  write(text, { keep: false });
  if (keep) announce("replaced"); // an Undo stays where it is
  announce("notes");
}
// What belongs to a text beside it, as it was left.
function takeUp({ notes = [], pending: unsent = [], typed = [], before = {} }) {
  pending.splice(0, pending.length, ...unsent);
  asTyped.clear();
  for (const [path, of] of typed) asTyped.set(path, of);
  Object.assign(page, { notes, before });
}
// They were read: neither a reload nor Undo brings them back.
export function dropNotes() {
  for (const one of undone) if (one.notes === page.notes) one.notes = [];
  page.notes = [];
  keepDraft();
  announce("notes");
}
// What nobody sees is not made; it comes as soon as it is shown (settleIn).
const hidden = () => [find(".view-script").hidden && "script", page.preflightUnseen && "preflight"].filter(Boolean);
export function settleIn(ms) {
  clearTimeout(timer);
  timer = setTimeout(settle, ms);
}

// Whether hardly a setting of a text is left in another that took its place.
export function isAnotherText(text, before) {
  const lines = (all) => new Set(all.split("\n").filter((line) => /:\s*\S/.test(line)));
  const [now, then] = [lines(text), lines(before)];
  return [...then].filter((line) => now.has(line)).length < then.size / 4;
}
// The whole text was changed by hand, in the YAML: of another one the import said nothing.
// `back`: by the editor's own undo.
export function write(text, { now = true, keep = true, back = false } = {}) {
  if (back) forgetUndone(text);
  const forget = keep && page.notes.length > 0 && isAnotherText(text, page.text);
  if (keep && !back && text !== page.text) keepForUndo({ always: forget });
  // an edit that is on its way does not take back what is typed now
  if (keep) for (const one of [...sending, ...pending]) one.since ??= page.text;
  if (keep && page.given?.comment) page.given.comment = ""; // of the text as it was (new_data.js)
  page.text = text;
  if (forget) {
    page.notes = [];
    announce("notes");
  }
  keepDraft();
  settleIn(now ? 0 : 40);
}

const LATE = 500; // ms
let lateSoon = null;
function countLate() {
  lateSoon ??= setTimeout(() => {
    page.late = true;
    announce("problems");
  }, LATE);
}
function endLate() {
  clearTimeout(lateSoon);
  lateSoon = null;
  page.late = false;
}
// What was done first of what is pending: each step goes by itself, so that Undo takes back one.
function nextStep() {
  const other = pending.findIndex(({ step }) => step !== pending[0].step);
  return pending.splice(0, other < 0 ? pending.length : other);
}
async function settle() {
  timer = null;
  if (busy) return settleIn(30);
  busy = true;
  countLate();
  const text = page.text;
  const sent = nextStep();
  const of = era;
  sending = sent;
  const payload = { text, edits: sent, known: page.known, hidden: hidden() };
  const asking = unsent(payload, page.form.spec_limit) ?? server.edit_settings(payload);
  const view = await within(LONGEST_ANSWER, asking);
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
    endLate();
    announce("problems");
    // what the server cannot take is not sent for ever: the field keeps it, other edits go on
    if (!view.fault) {
      pending.unshift(...sent);
      settleIn(2000);
    }
    return undefined;
  }
  // what was cut out of the text is done, also where the rest cannot be read; and all where it is too large by that
  const isDone = view.text !== text && !sent.some((one) => one.fix?.cut);
  if (view.unreadable && !isDone) pending.unshift(...sent.filter((one) => !one.fix?.cut));
  const places = sent.map(({ path }) => path ?? "").join();
  if (view.text !== text) keepForUndo({ always: sent.some((one) => one.fix) || places !== lastPlaces });
  lastPlaces = places;
  for (const { path, typed } of sent)
    if (typed !== undefined && view.shown) asTyped.set(path, [typed, view.shown[path] ?? ""]);
  if (text === page.opened && sent.length && sent.every(({ own }) => own)) page.opened = view.text;
  page.text = view.text;
  page.view = view.unreadable ? { ...page.view, unreadable: view.unreadable } : view;
  keepDraft();
  endLate();
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
// Until every edit is in the text and the text is shown; not for ever, where one cannot be.
export async function settled() {
  while (
    (busy || timer !== null || pending.length) &&
    find(".trouble").hidden &&
    find(".away").hidden &&
    !(page.view?.unreadable && !busy)
  )
    await new Promise((done) => setTimeout(done, 20));
}

export const trouble = (words) => showText(find(".trouble"), words);
// Said here, in the bar on top, and by the buttons that need the server: all at once.
export function offline(is) {
  find(".away").hidden = !is;
  sayOffline(root, is);
}

// `always`: else what is typed within a moment is undone at once.
function keepForUndo({ always = false } = {}) {
  const now = Date.now();
  if (page.text && undone.at(-1)?.text !== page.text && (always || now - lastKept > 800 || !undone.length)) {
    undone.push({ text: page.text, notes: page.notes });
    if (undone.length > 100) undone.shift();
  }
  lastKept = now;
  find("[data-do=undo]").disabled = !undone.length;
}
// What was typed is as it was before: neither that nor what came after it is a step any more.
function forgetUndone(text) {
  const at = undone.findLastIndex((one) => one.text === text);
  if (at >= 0) undone.splice(at);
  find("[data-do=undo]").disabled = !undone.length;
}
export function undo() {
  let before = undone.pop();
  while (before?.text === page.text) before = undone.pop(); // what nobody would see is no step
  find("[data-do=undo]").disabled = !undone.length;
  if (before !== undefined) replaceText(before.text, { keep: false, notes: before.notes });
}

// ---- what is typed survives, also what the server has not taken yet ----
export const isDraftChanged = () => page.text !== page.opened || [...pending, ...sending].some(({ own }) => !own);
export function keepDraft() {
  const changed = isDraftChanged();
  const { text, notes, about, given, early, handing, shownView: view } = page;
  const unsaid = [...sending, ...pending];
  const left = { notes, pending: unsaid, typed: typedOtherwise(), before: beforeWrong(unsaid) };
  storeDraft(page.request, { text, view, ...left, about, given, early, handing, changed }, page.view?.name ?? "run");
}
// Of what was typed, what the text says otherwise: 0, where it says 0.0.
const typedOtherwise = () => [...asTyped].filter(([, [typed, shown]]) => typed !== shown);
// Of what was there before, what is not there now: all else is seen in the text.
function beforeWrong(unsaid) {
  const isSeen = ([path, values]) =>
    values.length === 1 && values[0] === shownAt(path) && !unsaid.some((one) => one.path === path);
  return Object.fromEntries(Object.entries(page.before).filter((one) => !isSeen(one)));
}
export function restoreDraft({ text, ...left }) {
  page.text = text;
  takeUp(left);
  settleIn(0);
  announce("notes");
}

// What the worker is asked about: the text, or of one that cannot be read yet what it is once its slips are put right;
// undefined where that means nothing either.
export const asked = () => (page.view?.unreadable ? page.view.unreadable.once : page.view);

// ---- asking the worker about what the page shows (page.view): resolves to the answer; {lost: true} where it could not
// be asked now; undefined where a newer question replaced it ----
const questions = new WorkerQuestions(server);
export async function askWorker(kind, more = {}, waiting = () => {}) {
  const payload = { kind, text: asked().text, ...more };
  const got = await questions.ask(kind, payload, (now) => waiting(now.waiting));
  if (!got) return undefined;
  return got.answer ? Object.assign(got.answer, { question: got.question }) : { lost: true };
}

// ---- problems: what the app found, then what the worker found about the same settings ----
const fromWorker = {}; // kind → {key, problems}
export function problems() {
  const view = page.view;
  if (!view) return [];
  const { keys, lines, answered } = asked() ?? {};
  const ofNow = Object.entries(fromWorker).flatMap(([kind, said]) => (said.key === keys?.[kind] ? [said] : []));
  if (view.unreadable) return problemsOfUnreadable(view.unreadable.problems ?? [], keys ? ofNow : [], lines, answered);
  return allProblems(view, ofNow, lines);
}
// Whether the worker has said all it can of the settings as they are now.
export const isSaid = (kind) => Boolean(fromWorker[kind]) && fromWorker[kind].key === asked()?.keys?.[kind];
export const blocking = () => problems().filter(({ level }) => level === "blocking");
// Whether nothing can be started now: neither the run nor a step of it.
export const isBlocked = () => !page.reached || blocking().length > 0;
export function workerSaid(kind, key, found) {
  fromWorker[kind] = { key, problems: found ?? [] };
  announce("problems");
}
