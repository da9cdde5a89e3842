// The Runs page: asks every second for the table that the address names, and draws what changed; search, states, order.

import { onAddress, setParams } from "../../ui/address.js";
import { el, option, setHtml, setText, showText } from "../../ui/dom.js";
import { poll } from "../../ui/poll.js";
import { beginChosen, chosen, drawChosen, recallChosen } from "./chosen.js";
import "./chooser.js";
import { forgetOver, openTyped } from "./editing.js";
import "./keys.js";
import { complain, find, look, page, readAddress, server, setSort, useRemembered, wake, wakes } from "./core.js";
import { drawRows } from "./table.js";
import { listed, noSuchWords } from "../../ui/text.js";
import { recallUndo } from "./undo.js";

const search = find(".search");
const PAGE = 100;
const MANY = 6; // columns from which on they stand closer together
const FIRST_UP = ["name", "state", "data", "tags", "id"]; // columns that one sorts from A to Z first
let mark = null;
let waiting = null;
let complaint = "";
let drawnLook = "";

// ---- the head: sorted by a click, or a choice where there is no head ----
function sortBy(key) {
  const [by, down] = [sortedBy.replace(/^-/, ""), sortedBy.startsWith("-")];
  const up = by === key ? down : FIRST_UP.includes(key);
  setSort(up ? key : `-${key}`);
}
let sortedBy = "-created";
function drawHead(now) {
  sortedBy = now.sort;
  const focused = find("thead").contains(document.activeElement) ? document.activeElement.dataset.sort : null;
  setHtml(find("thead"), now.head);
  if (focused && !find("thead").contains(document.activeElement))
    find(`thead [data-sort="${CSS.escape(focused)}"]`)?.focus();
  drawSorter(now);
}
find("thead").addEventListener("click", (event) => {
  const button = event.target.closest(".sort");
  if (button && !look.deleted) sortBy(button.dataset.sort);
});
const sorter = find(".sorter select");
function drawSorter({ sorts, sort }) {
  find(".sorter").hidden = !sorts.length;
  const key = JSON.stringify(sorts);
  if (sorter.dataset.drawn !== key) {
    sorter.dataset.drawn = key;
    sorter.replaceChildren(
      ...sorts.flatMap(([value, words]) => [option(`-${value}`, `${words} ↓`), option(value, `${words} ↑`)]),
    );
  }
  if (document.activeElement !== sorter) sorter.value = sort;
}
sorter.addEventListener("change", () => setSort(sorter.value));

// ---- the states ----
function drawChips(chips) {
  const box = find(".chips");
  const key = JSON.stringify(chips);
  if (box.dataset.drawn === key) return;
  box.dataset.drawn = key;
  const focused = box.contains(document.activeElement) ? document.activeElement.dataset.state : null;
  box.replaceChildren(
    ...chips.map(({ state, label, n, on }) =>
      el(
        "button.chip",
        { type: "button", "data-state": state, "aria-pressed": `${on}`, onclick: () => toggle(state, on) },
        label,
        el("span.mut", ` ${n}`),
      ),
    ),
  );
  if (focused) box.querySelector(`[data-state="${focused}"]`)?.focus();
}
function toggle(state, on) {
  if (state === "deleted") return setParams({ deleted: on ? null : "1", state: null, n: null }, { push: true });
  const next = on ? look.states.filter((one) => one !== state) : [...look.states, state];
  return setParams({ state: next.join(","), deleted: null, n: null }, { push: true });
}

// ---- search ----
search.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(takeSearch, 120);
});
function takeSearch() {
  clearTimeout(waiting);
  waiting = null;
  setParams({ q: search.value, n: null });
}
// Whatever is clicked or chosen is done to what stands in the field by then.
for (const kind of ["click", "change"]) {
  document.addEventListener(
    kind,
    () => {
      if (waiting !== null) takeSearch();
    },
    { capture: true },
  );
}
page.addEventListener("click", (event) => {
  const tag = event.target.closest(".tag[type=button]");
  if (!tag?.closest("tbody")) return;
  search.value = tag.textContent;
  setParams({ q: tag.textContent, n: null }, { push: true });
});
find(".more button").addEventListener("click", () => setParams({ n: look.shown + PAGE }));

// ---- what the address asks for and is not there ----
function sayUnknown({ chips, sort }) {
  const states = look.states.filter((one) => !chips.some(({ state }) => state === one));
  const instead = [
    states.length && states.length === look.states.length ? "runs of all states" : "",
    look.sort && look.sort !== sort ? "the newest first" : "",
  ];
  const unknown = [...states.map((one) => ["state", one]), ...(instead[1] ? [["column", look.sort]] : [])];
  const here = listed(instead.filter(Boolean)) || "runs of the others";
  showText(find(".no-such"), noSuchWords(look.deleted ? [] : unknown, `These are ${here}.`));
}

// ---- the loop ----
function draw(now) {
  mark = now.mark;
  sayUnknown(now);
  drawHead(now);
  drawRows(find("tbody"), now.rows);
  if (!look.deleted) openTyped();
  // what is being written of a run is kept, but it is none of the deleted ones
  for (const row of page.querySelectorAll("tbody [data-editing]")) row.hidden = look.deleted;
  drawChips(now.chips);
  drawChosen(now);
  setText(find(".counts"), now.counts);
  setText(find(".empty .hardware"), now.hardware);
  const writing = !look.deleted && written().length > 0; // its row stays, also where the list has none
  showText(find(".of-search"), writing ? "" : now.faults);
  showText(find(".none"), writing ? "" : now.nothing);
  showText(find(".more button"), now.more);
  find(".more").hidden = !now.more;
  showText(find(".limits"), now.limits);
  showText(find(".strays"), now.strays);
  find(".every-stray").hidden = !now.every_stray.length;
  find(".every-stray ul").replaceChildren(...now.every_stray.map((one) => el("li", one)));
  find(".panel.flush").hidden = !!now.nothing && !writing;
  const empty = now.empty && !now.chips.length;
  find(".empty").hidden = !empty;
  for (const part of [".between", ".filters", ".foot"]) find(part).hidden = empty;
  if (empty) find(".panel.flush").hidden = true;
  find(".btn.columns").hidden = look.deleted;
  find(".kept-for").hidden = !look.deleted || !!now.nothing;
  page.dataset.columns = now.columns.length > MANY ? "many" : "some";
  find(".foot .new").hidden = !now.newcomer;
  page.dataset.drawn = "yes";
  page.dataset.settled = now.settled ? "yes" : "no"; // whether what runs came to is all known
}
const written = () => [...page.querySelectorAll("tbody [data-editing]")].map((row) => row.dataset.run);
// What the table is drawn of beside the runs: it is drawn anew where a row is written in, or no longer.
const wanted = () => JSON.stringify([look, written()]);
const asked = () => ({ ...look, chosen: [...chosen], editing: written() });
wakes(
  poll(page, async () => {
    const key = wanted();
    const begun = performance.now();
    const now = await server.draw_runs({ ...asked(), mark: key === drawnLook ? mark : null });
    if (!now) return undefined;
    if (key !== wanted()) return 0;
    if (complaint !== (now.sentence ?? "")) {
      complaint = now.sentence ?? "";
      complain(complaint);
      page.toggleAttribute("data-complains", !!complaint);
    }
    if (!now.sentence && !now.same) draw(now);
    if (!now.sentence) drawnLook = key;
    if (!now.sentence && !look.deleted) forgetOver(begun);
    return 1000;
  }),
);
function follow() {
  const before = look;
  readAddress();
  if (document.activeElement !== search) search.value = look.search;
  if (before.deleted !== look.deleted) recallChosen();
  if (JSON.stringify(before) !== JSON.stringify(look)) wake();
}
onAddress(follow);
useRemembered();
readAddress();
beginChosen();
recallUndo();
search.value = look.search;

for (const button of page.querySelectorAll(".quickstart")) {
  button.addEventListener("click", async () => {
    button.disabled = true;
    const reply = await server.start_quickstart({});
    if (reply?.go) {
      location.href = reply.go;
      return;
    }
    button.disabled = false;
    complain(reply?.sentence ?? "The dashboard did not answer. Is it still running?");
  });
}
document.title = "Runs · Groupwise";
