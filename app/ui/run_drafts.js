// The drafts of new runs: of this tab one for each address of New run, and which of them it is at; and the last few of
// this browser, which a tab that begins anew offers. A draft is {text, view, notes, pending, typed, before, about,
// given, early, handing, changed}: the spec's text, in which view it was left, what its import said, the edits that are
// not in it yet, what was typed where the text says it otherwise, what settings were before what is wrong with them,
// what it stands on ({origin, arrival}, as open_new_run says it), what its data brought (pages/new/new_data.js),
// whether what its address asks for still waits until it is known what is installed, the function that waits so, and
// whether the text is another than it began with.

import { params, setParams } from "./address.js";
import { tryStore } from "./browser_store.js";

const MOST = 5; // drafts that are offered elsewhere
const DAYS = 14; // for which they are
const MOST_NOTES = 100_000; // characters of an import's notes that are kept with a draft
const ALL = "groupwise:drafts";
const CURRENT = "groupwise:new"; // → the request whose draft this tab is at
const HAD = "groupwise:had"; // → the data of a function that is handed over
const ASKED = ["from", "stage", "preset", "reward", "data", "set", "fixed", "without", "verdict", "draft"];

let away = null; // the request whose draft was put away, while the page goes to another beginning
addEventListener("pageshow", () => (away = null)); // or one came back to it

// What an address of New run asks for, as the query that says it: one draft belongs to it. “draft” is asked of nobody:
// it sets a draft apart from others of the same beginning.
export function requestOf(all = params()) {
  const asked = new URLSearchParams();
  for (const name of ASKED) for (const value of all.getAll(name)) if (value) asked.append(name, value);
  return asked.toString();
}
// Writes a request into the address, in place of the one that is there.
export function setRequest(request) {
  const asked = new URLSearchParams(request);
  setParams(Object.fromEntries(ASKED.map((name) => [name, asked.getAll(name)])));
}
// The same request under a draft of its own, so that it writes over no other.
export function asOwnDraft(request) {
  const asked = new URLSearchParams(request);
  asked.set("draft", Math.random().toString(36).slice(2, 10));
  return requestOf(asked);
}

const key = (request) => `${CURRENT}:${request}`;
const read = (store, name) => JSON.parse(store.getItem(name) ?? "null");
const write = (request, draft) => sessionStorage.setItem(key(request), JSON.stringify(draft));
function readDraft(request) {
  const draft = read(sessionStorage, key(request));
  const { pending, notes } = draft ?? {};
  return typeof draft?.text === "string" ? { ...draft, request, notes: asNotes(notes), pending: pending ?? [] } : null;
}
const asNotes = (kept) => (Array.isArray(kept) ? kept.filter((note) => typeof note === "string") : []);
// The first of the notes, as many as are kept.
function fewNotes(notes) {
  let left = MOST_NOTES;
  const kept = notes.filter((note) => (left -= note.length) >= 0);
  return kept.length < notes.length ? [...kept, `And ${notes.length - kept.length} more.`] : kept;
}

function tab() {
  const known = sessionStorage.getItem("groupwise:tab");
  const name = known ?? Math.random().toString(36).slice(2);
  if (!known) sessionStorage.setItem("groupwise:tab", name);
  return name;
}
const idOf = (request) => `${tab()} ${key(request)}`;
function writeAll(drafts) {
  if (drafts.length) localStorage.setItem(ALL, JSON.stringify(drafts.slice(0, MOST)));
  else localStorage.removeItem(ALL);
}
function readAll() {
  const since = Date.now() - DAYS * 24 * 3600 * 1000;
  return (read(localStorage, ALL) ?? []).filter((one) => one.at > since && one.changed && typeof one.text === "string");
}

// Keeps the draft of a request, which this tab is at now. `name`: what the run is called. One in which nothing was
// changed is offered nowhere: what it began with is where it was.
export function storeDraft(request, whole, name) {
  const draft = { ...whole, notes: fewNotes(whole.notes) };
  if (isLaunched(request, draft) || request === away) return; // an answer that came while another page is on its way
  tryStore(() => {
    write(request, draft);
    sessionStorage.setItem(CURRENT, request);
  });
  tryStore(() => {
    const id = idOf(request);
    const all = readAll();
    const before = all.find((one) => one.id === id);
    const others = all.filter((one) => one.id !== id);
    const at = before && isAlike(before, draft) ? before.at : Date.now(); // to look at it changes nothing
    const now = { ...draft, id, request, name, at };
    writeAll(draft.changed ? [now, ...others].sort((one, other) => other.at - one.at) : others);
  });
}
function isLaunched(request, { text, pending }) {
  const known = tryStore(() => readDraft(request));
  return Boolean(known?.launched) && known.text === text && !pending?.length;
}
// Whether what was typed in two drafts is the same.
export const isAlike = (one, other) => one.text === other.text && !one.pending?.length && !other.pending?.length;
// This tab's draft of a request. Null where there is none, or where it was launched and one `comesAnew`.
export function draftOf(request, comesAnew) {
  return tryStore(() => {
    const draft = readDraft(request);
    if (!draft?.launched || !comesAnew) return draft;
    dropDraft(request);
    return null;
  });
}
// The draft that this tab's New run is at; null where that was launched, or none was begun.
export const currentDraft = () =>
  tryStore(() => {
    const request = sessionStorage.getItem(CURRENT);
    const draft = request === null ? null : readDraft(request);
    return draft?.launched ? null : draft;
  });
// A function is to be among the rewards of the draft of a request: it waits with it until it is.
export const handOver = (request, handing) =>
  tryStore(() => {
    const draft = readDraft(request);
    if (draft) write(request, { ...draft, handing });
  });
// The data that Rewards had as it handed a function over: {source, taking: a fix that gives a draft this data}.
export const keepDataOf = (reward, data) =>
  tryStore(() => sessionStorage.setItem(HAD, JSON.stringify(data && { ...data, reward })));
// That data, where it is of this function, once.
export const takeDataOf = (reward) =>
  tryStore(() => {
    const had = read(sessionStorage, HAD);
    sessionStorage.removeItem(HAD);
    return had?.reward === reward && had.taking ? had : null;
  }) ?? null;
export function dropDraft(request) {
  tryStore(() => {
    sessionStorage.removeItem(key(request));
    if (sessionStorage.getItem(CURRENT) === request) sessionStorage.removeItem(CURRENT);
  });
  dropOffered(idOf(request));
}
// Puts a draft away, while the page goes to another beginning: this tab is at none then, and offers it as it offers
// those of others.
export function setAside(request) {
  away = request;
  tryStore(() => {
    const id = idOf(request);
    writeAll(readAll().map((one) => (one.id === id ? { ...one, id: `aside ${Date.now()} ${id}` } : one)));
    sessionStorage.removeItem(key(request));
    sessionStorage.removeItem(CURRENT);
  });
}
// Drafts of other tabs and requests, the newest first: each as it was stored, with {id, request, name, at}. Of those in
// which the same was typed there is one.
export const offeredDrafts = (request) =>
  (tryStore(() => readAll().filter((one) => one.id !== idOf(request))) ?? [])
    .filter((one, n, all) => all.findIndex((other) => isAlike(one, other)) === n || one.pending?.length)
    .map((one) => ({ ...one, notes: asNotes(one.notes) }));
// Offers a draft no more, nor those in which the same was typed.
export function dropOffered(id) {
  tryStore(() => {
    const all = readAll();
    const dropped = all.find((one) => one.id === id);
    const stays = (one) => one.id !== id && !(dropped && isAlike(one, dropped));
    writeAll(all.filter(stays));
  });
}
// It is a run now: no other tab needs it, and this one has it still when one comes back.
export const noteLaunched = (request) =>
  tryStore(() => {
    write(request, { ...readDraft(request), launched: true });
    sessionStorage.removeItem(CURRENT);
    dropOffered(idOf(request));
  });
