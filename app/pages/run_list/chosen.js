// Runs that are chosen, and what is done to all of them: compared, tagged, stopped, deleted. What is chosen stays so
// while the table changes, the search hides it, or one goes Back to this page.

import { tryStore } from "../../ui/browser_store.js";
import { setText, show, showText } from "../../ui/dom.js";
import { countWords } from "../../ui/number.js";
import { cut, listed } from "../../ui/text.js";
import { ask } from "./ask.js";
import { boxes, change, complainInSight, find, idOf, look, page, server, tableBox, wake } from "./core.js";
import { offerUndo } from "./undo.js";

const MOST = 20; // that can be compared
const NAMED_IN_BAR = 3;
const NAMED_IN_QUESTION = 10;
export const chosen = new Set();
let lastChosen = null;
let told = { found: 0, stoppable: [], training: [], elsewhere: [] };
const earlier = new Set(); // what was chosen before this page was loaded or come back to
let lost = 0; // chosen runs that were deleted meanwhile
const busy = new Set(); // what is being changed, until the server has answered: nothing is asked of it twice
const POINTS = matchMedia("(hover: hover)").matches; // by a mouse, with a keyboard beside it
const KEY = "groupwise:chosen-runs";
const VIEWS = ["", "-deleted"];
const key = () => KEY + VIEWS[Number(look.deleted)];
const bar = find(".choosing");
const runs = (n) => countWords(n, "run");

// `now`: what the server last drew.
export function drawChosen(now = told) {
  told = now;
  for (const id of now.gone ?? []) lost += Number(chosen.delete(id) && !busy.has(id)); // deleted or erased elsewhere
  tryStore(() => sessionStorage.setItem(key(), JSON.stringify([...chosen])));
  const there = boxes();
  for (const box of there) {
    box.checked = chosen.has(idOf(box));
    box.closest("tr").classList.toggle("picked", box.checked);
  }
  drawAll(there);
  show(bar, chosen.size > 0, tableBox);
  takeToCompare();
  if (chosen.size) drawBar(there);
}
const comparable = () => !look.deleted && chosen.size > 0 && chosen.size <= MOST;
const compareAddress = () =>
  comparable() ? `/compare?${new URLSearchParams({ ids: [...chosen].join(",") })}` : "/compare";
// Compare in the bar on top of the page takes along what is chosen, as the one below does.
function takeToCompare() {
  const link = document.querySelector('.gw-topbar nav a[href^="/compare"]');
  if (link) link.setAttribute("href", compareAddress());
}
function drawAll(there) {
  const all = find("thead .all");
  if (!all) return;
  const n = there.filter((box) => box.checked).length;
  all.checked = n > 0 && n === there.length;
  all.indeterminate = n > 0 && n < there.length;
}
function drawBar(there) {
  const n = chosen.size;
  const old = [...chosen].filter((id) => earlier.has(id)).length;
  const ticked = there.filter((box) => box.checked).length;
  setText(find(".choosing .many"), `${runs(n)} ${old === n ? "still " : ""}chosen`);
  const go = find(".choosing .go");
  go.hidden = !comparable();
  go.href = compareAddress();
  setText(go, "Compare");
  drawDoers(n);
  const every = find(".choosing .every");
  every.hidden = !(ticked === there.length && ticked < told.found && n < told.found);
  setText(every, `Choose all ${told.found.toLocaleString("en")}`);
  const said = [
    old && old < n ? `${old.toLocaleString("en")} of them from before` : "",
    lost ? `${runs(lost)} deleted since then` : "",
    hiddenWords(n - ticked),
    n > MOST && !look.deleted ? `${MOST} at most can be compared` : "",
  ].filter(Boolean);
  showText(find(".choosing .words"), said.join("; ") || (n === 1 && POINTS ? "Shift-click chooses a range" : ""));
}
// What is done to them says to how many: some may have been chosen long before.
function drawDoers(n) {
  const stoppable = idsToStop();
  const draw = (name, there, words) => {
    find(`.choosing .${name}`).hidden = !there;
    setText(find(`.choosing .${name}`), words);
  };
  draw("tag", !look.deleted, `Tag ${runs(n)}`);
  draw("stop", !look.deleted && stoppable.length, stopWords(stoppable));
  draw("restore", look.deleted, `Restore ${runs(n)}`);
  draw("delete", !look.deleted, deleteWords(n));
  draw("erase", look.deleted, `Delete ${runs(n)} for good`);
}
const idsToStop = () => [...chosen].filter((id) => told.stoppable.includes(id));
// Runs that only wait are not stopped: they leave the queue.
const onlyWait = (ids) => !ids.some(isTraining);
const stopWords = (ids) =>
  onlyWait(ids) ? `Remove ${ids.length.toLocaleString("en")} from the queue` : `Stop ${runs(ids.length)}`;
// Which chosen runs are not in the list, as far as they are known by now.
function hiddenWords(hidden) {
  const names = told.elsewhere.slice(0, Math.min(hidden, NAMED_IN_BAR)).map(({ name }) => `“${name}”`);
  const more = hidden - names.length;
  const all = more && names.length ? [...names, `${more.toLocaleString("en")} more`] : names;
  const which = all.length ? `: ${all.join(", ")}` : "";
  return hidden > 0 ? `${hidden.toLocaleString("en")} not in this list${which}` : "";
}
// That some were lost, or could not be changed, is no news once one chooses on.
const chooseAnew = () => {
  lost = 0;
  showText(find(".of-bar"), "");
};
// What floats above the bar, and the page's end, keep clear of it, however much it says.
new ResizeObserver(() => page.style.setProperty("--bar", `${bar.offsetHeight}px`)).observe(bar);
export function forgetChosen() {
  chosen.clear();
  chooseAnew();
  lastChosen = null;
  drawChosen();
}
// Where one came by a link or an address, nothing is chosen yet; Back and a reload show the page as it was left.
export function beginChosen() {
  // see ui/mount.js
  if (document.documentElement.dataset.came === "navigate")
    for (const view of VIEWS) tryStore(() => sessionStorage.removeItem(KEY + view));
  recallChosen();
}
// What was chosen in this tab before it was reloaded, or one came back to it. Of the deleted runs other ones are.
export function recallChosen() {
  const kept = tryStore(() => JSON.parse(sessionStorage.getItem(key()) ?? "[]"));
  chosen.clear();
  lastChosen = null;
  for (const id of Array.isArray(kept) ? kept : []) if (typeof id === "string") chosen.add(id);
  chooseAnew();
  earlier.clear();
  for (const id of chosen) earlier.add(id);
}

// ---- choosing ----
function set(id, on) {
  chooseAnew();
  if (on) chosen.add(id);
  else chosen.delete(id);
  earlier.delete(id);
}
// With Shift, what a click does to this row it does to all from the last one.
export function pick(box, range) {
  const there = boxes();
  const here = there.indexOf(box);
  const from = there.findIndex((one) => idOf(one) === lastChosen);
  const some = range && from >= 0 ? there.slice(Math.min(from, here), Math.max(from, here) + 1) : [box];
  for (const one of some) set(idOf(one), box.checked);
  lastChosen = idOf(box);
  drawChosen();
  wake(); // the colours of what is chosen are those of Compare
}
page.addEventListener("click", (event) => {
  if (event.target.matches("tbody .pick input")) pick(event.target, event.shiftKey);
  if (event.target.matches("thead .all")) {
    for (const box of boxes()) set(idOf(box), event.target.checked);
    drawChosen();
    wake();
  }
});
page.addEventListener("mousedown", (event) => {
  if (event.shiftKey && event.target.closest(".pick")) event.preventDefault();
});
find(".choosing .every").addEventListener("click", async () => {
  const reply = await server.matching_runs({ search: look.search, states: look.states, deleted: look.deleted });
  for (const id of reply?.runs ?? []) chosen.add(id);
  drawChosen();
  wake(); // for their names
});
find(".choosing .clear").addEventListener("click", forgetChosen);

// ---- what is done to them ----
// Every change of the chosen runs, or of a row's own, goes through here: null where nothing was changed, also where all
// of them are being changed already.
async function changeOnce(name, ids, more = {}) {
  const free = ids.filter((id) => !busy.has(id));
  if (!free.length) return null;
  for (const id of free) busy.add(id);
  bar.setAttribute("aria-busy", "true");
  try {
    return await change(name, { ids: free, ...more });
  } finally {
    for (const id of free) busy.delete(id);
    bar.setAttribute("aria-busy", `${busy.size > 0}`);
  }
}
// Until the answer is there, its buttons do nothing; they are not disabled, which would take the focus from them.
bar.addEventListener(
  "click",
  (event) => {
    if (bar.ariaBusy === "true" && event.target.closest("button")) event.stopImmediatePropagation();
  },
  { capture: true },
);
// `ids` that were done are no longer chosen.
async function toAll(name, ids) {
  const reply = await changeOnce(name, ids);
  for (const id of reply?.runs ?? []) chosen.delete(id);
  drawChosen();
  return reply;
}
export async function remove(ids) {
  const reply = await toAll("delete_runs", ids);
  if (reply) offerUndo(`${runs(reply.done)} deleted.`, "restore_runs", reply.runs);
}
// Who chose runs that are out of sight now (before a search, on another page, scrolled away), that were chosen before
// (back from Compare), or that cannot be deleted as they are, reads which they are before they go. What was said to
// stay does, also where it ends while one reads.
export async function removeChosen() {
  if (busy.size) return undefined;
  const going = [...chosen].filter((id) => !isTraining(id));
  const staying = [...chosen].filter(isTraining);
  if (!going.length) return complainInSight(stayWords(staying));
  const unlisted = notListed(going);
  const doubtful = unlisted.count || isScrolledAway(going) || staying.length || going.some((id) => earlier.has(id));
  const title = `${deleteWords(chosen.size)}?`;
  if (!doubtful || (await ask({ title, text: whatGoes(going, staying, unlisted), yes: "Delete" }))) remove(going);
  return undefined;
}
const isTraining = (id) => told.training.includes(id);
// What trains is not deleted.
function deleteWords(n) {
  const training = [...chosen].filter(isTraining).length;
  return training && training < n ? `Delete ${(n - training).toLocaleString("en")} of ${runs(n)}` : `Delete ${runs(n)}`;
}
const whatGoes = (going, staying, unlisted) =>
  [
    `${named(namesOf(going), going.length)}.`,
    staying.length ? stayWords(staying) : "",
    unlisted.count ? `Not in this list: ${named(unlisted.names, unlisted.count)}.` : "",
    "Deleted runs can be restored for 24 hours.",
  ]
    .filter(Boolean)
    .join(" ");
function stayWords(ids) {
  const does = ids.length === 1 ? "trains and stays: stop it" : "train and stay: stop them";
  return `${named(namesOf(ids), ids.length)} ${does} first.`;
}
// The names of these runs, as far as they are known.
function namesOf(ids) {
  const drawn = boxes().map((box) => [idOf(box), box.closest("tr").dataset.name]);
  const known = new Map([...told.elsewhere.map(({ id, name }) => [id, name]), ...drawn]);
  return ids.filter((id) => known.has(id)).map((id) => known.get(id));
}
// The first of so many runs by name.
function named(names, count) {
  const first = names.slice(0, NAMED_IN_QUESTION).map((name) => `“${cut(name, 40)}”`);
  const more = count - first.length;
  return listed(more > 0 ? [...first, `${more.toLocaleString("en")} more`] : first);
}
// How many of these runs are in no row, as the search, the states or the page's end leave them out; and the names of
// the first of them.
function notListed(ids) {
  const there = new Set(boxes().map(idOf));
  const names = told.elsewhere.filter(({ id }) => ids.includes(id) && !there.has(id)).map(({ name }) => name);
  return { count: ids.filter((id) => !there.has(id)).length, names: names.slice(0, NAMED_IN_QUESTION) };
}
// Whether the row of one of these runs is scrolled to where one does not read it: its name is in the question, which
// says no more of it.
function isScrolledAway(ids) {
  const top = Math.max(0, document.querySelector(".gw-topbar")?.getBoundingClientRect().bottom ?? 0);
  const bottom = bar.getBoundingClientRect().top;
  const drawn = boxes().map((box) => box.closest("tr"));
  return drawn.some((row) => {
    const name = row.querySelector(".line").getBoundingClientRect();
    const middle = (name.top + name.bottom) / 2; // one that is cut in part is read all the same
    return ids.includes(row.dataset.run) && (middle < top || middle > bottom);
  });
}
async function restore(ids) {
  const reply = await toAll("restore_runs", ids);
  if (reply) offerUndo(`${runs(reply.done)} restored.`, "delete_runs", reply.runs);
}
page.addEventListener("click", ({ target }) => {
  if (target.matches(".act .btn")) restore([idOf(target)]);
});
find(".choosing .delete").addEventListener("click", removeChosen);
find(".choosing .restore").addEventListener("click", () => restore([...chosen]));
find(".choosing .erase").addEventListener("click", async () => {
  const text = "Their folders, with checkpoints and records, are removed now and cannot be brought back.";
  if (await ask({ title: `Delete ${runs(chosen.size)} for good?`, text, yes: "Delete for good" }))
    toAll("erase_runs", [...chosen]);
});
find(".choosing .stop").addEventListener("click", async () => {
  const ids = idsToStop();
  const text = onlyWait(ids)
    ? "They will not start."
    : "A run that trains finishes its step and saves a checkpoint; one that waits leaves the queue.";
  const yes = onlyWait(ids) ? "Remove" : "Stop";
  if (await ask({ title: `${stopWords(ids)}?`, text, yes })) changeOnce("stop_runs", ids);
});
find(".choosing .tag").addEventListener("click", async () => {
  const words = await ask({
    title: `Tag ${runs(chosen.size)}`,
    text: "With commas between tags; a - before a tag takes it off.",
    field: "Tags",
    yes: "Save",
  });
  const tags = (words || "").split(",").map((tag) => tag.trim());
  const [remove, add] = [tags.filter((tag) => tag.startsWith("-")).map((tag) => tag.slice(1)), tags];
  if (tags.some(Boolean))
    changeOnce("tag_runs", [...chosen], { add: add.filter((tag) => tag && !tag.startsWith("-")), remove });
});
