// What the parts of the Runs page share: what the address asks for, and how a change is asked of the server.

import { params, setParams } from "../../ui/address.js";
import { tryStore } from "../../ui/browser_store.js";
import { showText } from "../../ui/dom.js";
import { part } from "../../ui/part.js";

export const { root: page, find, server } = part("pages/run_list/runs_table");
export let look = {}; // what the address asks for
const KEY = "groupwise:run-columns";
const SORT_KEY = "groupwise:run-sort";
const NEWEST = "-created"; // what runs are sorted by where nobody says
const PAGE = 100; // rows at first
const DELETED = "deleted"; // no state of a run, and a chip beside those: an address may ask for it as for one

// ---- the address ----
const list = (words) => (words ?? "").split(",").filter(Boolean);
// A column's key may hold a comma, which stands between keys.
const write = (keys) => keys.map((key) => key.replaceAll("%", "%25").replaceAll(",", "%2C")).join(",");
const read = (words) => list(words).map((key) => key.replaceAll("%2C", ",").replaceAll("%25", "%"));
const remembered = () => {
  const kept = tryStore(() => JSON.parse(localStorage.getItem(KEY) ?? "[]"));
  return Array.isArray(kept) ? kept.filter((key) => typeof key === "string") : [];
};
export function readAddress() {
  const now = params();
  const asked = list(now.get("state"));
  look = {
    search: now.get("q") ?? "",
    states: asked.filter((state) => state !== DELETED),
    sort: now.get("sort") ?? "",
    columns: read(now.get("cols")),
    shown: Number(now.get("n")) || PAGE,
    deleted: now.get("deleted") === "1" || asked.includes(DELETED),
  };
}
// The columns and the order that were chosen here before stand in the address too, where it can be shared.
export function useRemembered() {
  const sort = tryStore(() => localStorage.getItem(SORT_KEY));
  if (!params().has("cols") && remembered().length) setParams({ cols: write(remembered()) });
  if (!params().has("sort") && sort && sort !== NEWEST) setParams({ sort });
}
// `sort`: a column's key, “-” before it downwards.
export function setSort(sort) {
  tryStore(() => localStorage.setItem(SORT_KEY, sort));
  setParams({ sort }, { push: true });
}
// `keys`: none for the usual ones.
export function setColumns(keys) {
  tryStore(() => localStorage.setItem(KEY, JSON.stringify(keys)));
  setParams({ cols: write(keys) }, { push: true });
}

// ---- the loop, which every part may wake ----
let waker = () => {};
export const wakes = (then) => {
  waker = then;
};
export const wake = () => waker();

// ---- asking for a change ----
// What kept something from being done stays until the next thing that is done.
export const complain = (words) => showText(find(".of-page"), words);
// Of what was to be done to the chosen runs it stands in their bar, which is always in sight.
export function complainInSight(words) {
  const barred = !find(".choosing").hidden;
  showText(find(".of-bar"), barred ? words : "");
  complain(barred ? "" : words);
}
// What the server says to it; null where it refused, or did not answer. `say` is told that, in words and as it came.
export async function change(name, payload, say = complainInSight) {
  const reply = await server[name](payload);
  const words = reply ? (reply.sentence ?? reply.left ?? "") : "The dashboard did not answer. Nothing was changed.";
  say(words, reply);
  wake();
  return reply && !reply.sentence ? reply : null;
}

// ---- rows ----
// Where the focus goes when what had it is gone: not to the search, which would open a phone's keyboard.
export const tableBox = find(".panel.scroll");
export const boxes = () => [...page.querySelectorAll("tbody tr:not([hidden]) .pick input")];
export const idOf = (node) => node.closest("tr").dataset.run;
