// The table of runs: asks every second, redraws what changed, searches on the server, starts the quickstart.
const { poll, say } = window.groupwise;
const page = element.querySelector(".gw-runs_table");
const find = (selector) => page.querySelector(selector);
const search = find(".search"), problem = find(".problem"), none = find(".none");
let mark = null, waiting = null;

// Rows and cells that stay the same stay in place, and with them the keyboard's focus and what is selected.
function drawRows(html) {
  const body = find("tbody"), made = document.createElement("template");
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
  [...row.cells].forEach((cell, i) => { if (cell.outerHTML !== cells[i].outerHTML) cell.replaceWith(cells[i]); });
  return row;
}

function draw(now) {
  mark = now.mark;
  drawRows(now.rows);
  say(find(".counts"), now.counts);
  say(find(".empty .hardware"), now.hardware);
  say(none, now.nothing);
  none.hidden = !now.nothing;
  find(".empty").hidden = !now.empty;
  for (const part of [".between", ".panel.flush", ".foot"]) find(part).hidden = now.empty;
  page.dataset.drawn = "yes";
}

const wake = poll(page, async () => {
  const now = await server.table({ search: search.value, mark });
  if (!now) return undefined;
  problem.hidden = !now.sentence;
  say(problem, now.sentence ?? "");
  if (!now.sentence && !now.same) draw(now);
  return 1000;
});

search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(wake, 120); });

for (const button of page.querySelectorAll(".quickstart")) {
  button.addEventListener("click", async () => {
    button.disabled = true;
    const reply = await server.quickstart({});
    if (reply?.go) { location.href = reply.go; return; }
    button.disabled = false;
    problem.hidden = false;
    say(problem, reply?.sentence ?? "The dashboard did not answer. Is it still running?");
  });
}
document.title = "Runs · Groupwise";
