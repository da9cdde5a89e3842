// Rows that come as HTML, put in place: what stays the same stays, and with it the keyboard's focus, what is selected,
// and what is being written.

import { nameOf } from "../../ui/name.js";

// `body` shows these rows, in their order; a row in which someone writes stays, also where it is no longer among them.
export function drawRows(body, html) {
  const made = document.createElement("template");
  made.innerHTML = html;
  for (const name of made.content.querySelectorAll(".title > bdi")) name.replaceWith(nameOf(name.textContent));
  const focused = focusIn(body);
  const kept = new Map([...body.rows].map((row) => [row.dataset.run, row]));
  const rows = [...made.content.children].map((row) => update(kept.get(row.dataset.run), row));
  const wanted = new Set(rows);
  for (const row of kept.values()) {
    row.toggleAttribute("data-unlisted", !wanted.has(row));
    if (!wanted.has(row) && !row.dataset.editing) row.remove();
  }
  let place = body.firstElementChild;
  for (const row of rows) {
    while (place && !wanted.has(place)) place = place.nextElementSibling;
    if (row === place) place = place.nextElementSibling;
    else body.insertBefore(row, place);
  }
  focused?.();
}

function update(row, fresh) {
  if (!row) return fresh;
  const edited = row.dataset.editing;
  const name = row.querySelector("td.name");
  const cells = [...fresh.cells];
  if (row.cells.length !== cells.length) row.replaceChildren(...cells.map((cell) => keep(row, cell, edited && name)));
  else
    [...row.cells].forEach((cell, i) => {
      if (!(edited && cell === name) && cell.outerHTML !== cells[i].outerHTML) cell.replaceWith(cells[i]);
    });
  if (!edited) for (const [key, value] of Object.entries(fresh.dataset)) row.dataset[key] = value;
  return row;
}
// The row's own box, which knows whether it is ticked, and what is edited; else the fresh cell.
function keep(row, cell, name) {
  if (cell.matches(".pick")) return row.cells[0];
  return name && cell.matches(".name") ? name : cell;
}

// A function that gives the focus back to where it was in a row, where moving the row or its cell took it away; or to
// the same place in the row that now stands where the row was, or in the last.
function focusIn(body) {
  const node = document.activeElement;
  if (!body.contains(node)) return null;
  const row = node.closest("tr");
  const at = [...body.rows].indexOf(row);
  const { run } = row?.dataset ?? {};
  const range = node.matches("input:not([type=checkbox]), textarea") ? [node.selectionStart, node.selectionEnd] : null;
  const again = node.dataset.edit ? `[data-edit="${node.dataset.edit}"]` : node.matches("a") ? "a" : ".pick input";
  return () => {
    if (document.activeElement === node) return;
    const there =
      body.querySelector(`tr[data-run="${CSS.escape(run ?? "")}"]`) ?? [...body.rows].slice(0, at + 1).at(-1);
    const next = node.isConnected ? node : (there?.querySelector(again) ?? body.closest("[tabindex]"));
    next?.focus({ preventScroll: true });
    if (range && next === node) node.setSelectionRange(...range);
  };
}
