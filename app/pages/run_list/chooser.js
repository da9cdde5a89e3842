// Choosing columns: any setting or metric, searched for, ticked or not. They stand in the order in which they were
// ticked.

import { el } from "../../ui/dom.js";
import { find, look, page, server, setColumns } from "./core.js";

const SHOWN = 60; // names of a group before one searches
const button = find(".btn.columns");
const panel = find(".chooser");
const search = panel.querySelector("input");
let offered = null;

// The columns that are shown now: none in the address are the usual ones.
const current = () => (look.columns.length ? look.columns : offered.usual);
function toggle(key, on) {
  const next = on ? [...current(), key] : current().filter((one) => one !== key);
  const usual = JSON.stringify(next) === JSON.stringify(offered.usual);
  setColumns(usual ? [] : next);
  look.columns = usual ? [] : next;
  draw();
}
function draw() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const ticked = new Set(current());
  const full = ticked.size >= offered.most;
  const focused = panel.contains(document.activeElement) ? document.activeElement.value : null;
  panel.querySelector(".offered").replaceChildren(
    ...offered.groups.map(({ title, columns }) => {
      const found = columns.filter((one) => {
        const said = `${one.words} ${one.name}`.toLowerCase();
        return words.every((word) => said.includes(word));
      });
      found.sort((a, b) => ticked.has(b.key) - ticked.has(a.key));
      const left = found.length - SHOWN;
      return el(
        "fieldset",
        el("legend.s", title),
        ...found
          .slice(0, SHOWN)
          .map(({ key, words: label, name }) =>
            el(
              "label.s",
              el("input", {
                type: "checkbox",
                value: key,
                checked: ticked.has(key),
                disabled: full && !ticked.has(key),
              }),
              el("span.named", el("bdi", { title: name || label }, label), name ? el("bdi.mut.mono.xs", name) : null),
            ),
          ),
        found.length ? null : el("p.s.mut", "None has this in its name."),
        left > 0 ? el("p.s.mut", `${left.toLocaleString("en")} more: search for them.`) : null,
      );
    }),
  );
  if (focused) panel.querySelector(`input[value="${CSS.escape(focused)}"]`)?.focus();
}
async function open() {
  offered = await server.offered_columns({});
  if (!offered?.groups) return;
  panel.hidden = false;
  button.setAttribute("aria-expanded", "true");
  draw();
  search.focus();
}
function close() {
  if (panel.hidden) return;
  if (panel.contains(document.activeElement)) button.focus();
  panel.hidden = true;
  button.setAttribute("aria-expanded", "false");
}
button.addEventListener("click", () => (panel.hidden ? open() : close()));
panel.querySelector(".done").addEventListener("click", close);
panel.querySelector(".usual").addEventListener("click", () => {
  setColumns([]);
  look.columns = [];
  draw();
});
panel.addEventListener("change", (event) => {
  if (event.target.matches("[type=checkbox]")) toggle(event.target.value, event.target.checked);
});
search.addEventListener("input", draw);
panel.addEventListener("keydown", (event) => {
  if (event.key === "Escape") close();
});
document.addEventListener("pointerdown", (event) => {
  if (!panel.contains(event.target) && !button.contains(event.target) && page.contains(event.target)) close();
});
