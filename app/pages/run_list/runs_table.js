// The table of runs: asks every second, redraws what changed, searches on the server, starts the quickstart.

import { setText, showText } from "../../ui/dom.js";
import { part } from "../../ui/part.js";
import { poll } from "../../ui/poll.js";

const { root: page, find, server } = part("pages/run_list/runs_table");
const search = find(".search");
const problem = find(".problem");
let mark = null;
let waiting = null;

// Rows and cells that stay the same stay in place, and with them the keyboard's focus and what is selected.
function drawRows(html) {
  const body = find("tbody");
  const made = document.createElement("template");
  made.innerHTML = html;
  const kept = new Map([...body.rows].map((row) => [row.dataset.run, row]));
  const rows = [...made.content.children].map((row) => update(kept.get(row.dataset.run), row));
  const wanted = new Set(rows);
  for (const row of kept.values()) if (!wanted.has(row)) row.remove();
  let place = body.firstElementChild;
  for (const row of rows) {
    if (row === place) place = place.nextElementSibling;
    else body.insertBefore(row, place);
  }
}
function update(row, fresh) {
  if (!row) return fresh;
  const cells = [...fresh.cells];
  [...row.cells].forEach((cell, i) => {
    if (cell.outerHTML !== cells[i].outerHTML) cell.replaceWith(cells[i]);
  });
  return row;
}

function draw(now) {
  mark = now.mark;
  drawRows(now.rows);
  drawChosen();
  setText(find(".counts"), now.counts);
  setText(find(".empty .hardware"), now.hardware);
  showText(find(".none"), now.nothing);
  find(".empty").hidden = !now.empty;
  for (const part of [".between", ".panel.flush", ".foot"]) find(part).hidden = now.empty;
  page.dataset.drawn = "yes";
}

const wake = poll(page, async () => {
  const now = await server.draw_runs({ search: search.value, mark });
  if (!now) return undefined;
  showText(problem, now.sentence);
  if (!now.sentence && !now.same) draw(now);
  return 1000;
});

// ---- choosing runs to compare: what is chosen stays chosen while the table changes, or the search hides it ----
const MOST = 20;
const chosen = new Set();
let lastChosen = null;
const idOf = (box) => box.closest("tr").dataset.run;
function drawChosen(words = "") {
  for (const box of page.querySelectorAll(".pick input")) {
    box.checked = chosen.has(idOf(box));
    box.closest("tr").classList.toggle("picked", box.checked);
  }
  const n = chosen.size;
  const go = find(".choosing .go");
  const hidden = [...chosen].filter((id) => !find(`tr[data-run="${CSS.escape(id)}"]`)).length;
  find(".choosing").hidden = !n;
  go.href = `/compare?${new URLSearchParams({ ids: [...chosen].join(",") })}`;
  setText(go, n < 2 ? "Compare…" : `Compare ${n} runs`);
  setText(
    find(".choosing .words"),
    words ||
      (n === 1 ? "1 run is chosen; shift-click chooses a range." : hidden ? `${hidden} of them not in this list` : ""),
  );
}
// A click with Shift does to all rows from the last one clicked what it does to this.
function pick(box, range) {
  const boxes = [...page.querySelectorAll(".pick input")];
  const here = boxes.indexOf(box);
  const from = boxes.findIndex((one) => idOf(one) === lastChosen);
  const some = range && from >= 0 ? boxes.slice(Math.min(from, here), Math.max(from, here) + 1) : [box];
  const on = box.checked;
  let left = 0;
  for (const one of some) {
    if (!on) chosen.delete(idOf(one));
    else if (chosen.size < MOST || chosen.has(idOf(one))) chosen.add(idOf(one));
    else left += 1;
  }
  lastChosen = idOf(box);
  drawChosen(left ? `${MOST} runs are the most that can be compared at once.` : "");
}
page.addEventListener("click", (event) => {
  if (event.target.matches(".pick input")) pick(event.target, event.shiftKey);
});
page.addEventListener("mousedown", (event) => {
  if (event.shiftKey && event.target.closest(".pick")) event.preventDefault();
});
find(".choosing .clear").addEventListener("click", () => {
  chosen.clear();
  drawChosen();
  search.focus();
});

search.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(wake, 120);
});

for (const button of page.querySelectorAll(".quickstart")) {
  button.addEventListener("click", async () => {
    button.disabled = true;
    const reply = await server.start_quickstart({});
    if (reply?.go) {
      location.href = reply.go;
      return;
    }
    button.disabled = false;
    showText(problem, reply?.sentence ?? "The dashboard did not answer. Is it still running?");
  });
}
document.title = "Runs · Groupwise";
