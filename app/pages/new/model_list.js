// The list of the Model field: the models at hand, and below them some that can be downloaded. A datalist would show
// only those that are like what stands in the field, where one model always does.

import { breakable, el } from "../../ui/dom.js";

const folded = (words) => words.trim().toLowerCase();
const rowOf = ({ value, label, note }, n) =>
  el(
    "li",
    { role: "option", id: `model-${n}`, "aria-selected": "false", "data-value": value },
    el("span.s", ...breakable(label)),
    note ? el("span.xs.mut", ...breakable(note)) : null,
  );

class ModelList {
  constructor(input, models) {
    this.input = input;
    this.rows = models.map(rowOf);
    const about = { id: "models", role: "listbox", "aria-label": "Models", hidden: true };
    this.list = el("ul.model-list.panel", about, ...this.rows);
  }
  get isOpen() {
    return !this.list.hidden;
  }
  get shown() {
    return this.rows.filter((row) => !row.hidden);
  }
  get marked() {
    return this.shown.find((row) => row.getAttribute("aria-selected") === "true");
  }
  mark(chosen) {
    for (const row of this.rows) row.setAttribute("aria-selected", String(row === chosen));
    this.input.setAttribute("aria-activedescendant", chosen?.id ?? "");
    if (chosen) chosen.scrollIntoView({ block: "nearest" });
  }
  show(wanted) {
    for (const row of this.rows) row.hidden = !wanted(row);
    this.list.hidden = this.shown.length === 0;
    this.input.setAttribute("aria-expanded", String(this.isOpen));
    this.mark(undefined);
  }
  close() {
    this.show(() => false);
  }
  open() {
    this.show(() => true);
    this.mark(this.rows.find((row) => row.dataset.value === this.input.value));
  }
  // What is typed narrows it; where that is a model's name, there is nothing left to choose.
  narrow() {
    const typed = folded(this.input.value);
    const isNamed = this.rows.some((row) => folded(row.dataset.value) === typed);
    this.show((row) => !isNamed && folded(`${row.dataset.value} ${row.textContent}`).includes(typed));
  }
  take(row) {
    this.input.value = row.dataset.value;
    this.input.dispatchEvent(new Event("input", { bubbles: true }));
    this.close();
  }
  step(by) {
    if (!this.isOpen) return this.open();
    const { shown, marked } = this;
    const next = marked ? shown.indexOf(marked) + by : by > 0 ? 0 : -1;
    return this.mark(shown.at(next % shown.length));
  }
  press(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) this.step(by);
    else if (event.key === "Escape" && this.isOpen) this.close();
    else if (event.key === "Enter" && this.marked) this.take(this.marked);
    else return;
    event.preventDefault();
  }
}

// `input`: where a model may also be typed. `models`: {value, label, note} each.
export function listModels(input, models) {
  const list = new ModelList(input, models);
  const opener = el("button.btn.quiet.s", { type: "button", tabindex: "-1", "aria-label": "List models" }, "▾");
  const holder = el("div.row.tight.with-models");
  input.replaceWith(holder);
  holder.append(input, opener, list.list);
  const about = { role: "combobox", "aria-controls": "models", "aria-autocomplete": "list", "aria-expanded": "false" };
  for (const [name, value] of Object.entries(about)) input.setAttribute(name, value);

  input.addEventListener("input", () => list.narrow());
  input.addEventListener("click", () => list.isOpen || list.open());
  input.addEventListener("keydown", (event) => list.press(event));
  input.addEventListener("blur", () => list.close());
  // The focus stays in the field, which is where keys are taken.
  for (const node of [list.list, opener]) node.addEventListener("mousedown", (event) => event.preventDefault());
  opener.addEventListener("click", () => {
    input.focus();
    if (list.isOpen) list.close();
    else list.open();
  });
  list.list.addEventListener("click", (event) => {
    const row = event.target.closest("li");
    if (row) list.take(row);
  });
}
