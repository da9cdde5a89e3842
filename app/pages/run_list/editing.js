// A run's name, tags and note, written where they stand. Enter keeps, Esc leaves it; nothing that the table does
// meanwhile takes away what is being written.

import { el, showText } from "../../ui/dom.js";
import { change, page } from "./core.js";

const KINDS = {
  name: { label: "Name", call: "rename_run", send: (value) => ({ name: value }) },
  note: { label: "Note", call: "annotate_run", send: (value) => ({ note: value }) },
  tags: { label: "Tags, with commas between", hint: "tag, another", call: "tag_runs", send: retag },
};
const split = (words) =>
  words
    .split(",")
    .map((tag) => tag.trim())
    .filter(Boolean);
function retag(value, row) {
  const next = split(value);
  return { add: next, remove: split(row.dataset.tags).filter((tag) => !next.includes(tag)) };
}

export function edit(row, what) {
  if (row.dataset.editing && !leave(row, what)) return undefined;
  const kind = KINDS[what];
  const field = el(what === "note" ? "textarea.input.s" : "input.input.s", {
    placeholder: kind.hint ?? "",
    autocomplete: "off",
    ...(what === "note" ? { rows: 2 } : { type: "text" }),
  });
  field.value = row.dataset[what];
  const problem = el("p.s.problem", { role: "alert", hidden: true });
  const form = el(
    "form.editing",
    el("label.s.mut", kind.label, field),
    el("button.btn.s.pri", { type: "submit" }, "Save"),
    el("button.btn.s.quiet", { type: "button", onclick: () => close(row, form, what) }, "Cancel"),
    problem,
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    // Of a name that another run has it is said before it is given a second time.
    const again = !problem.hidden && form.dataset.told === field.value;
    const say = (words) => {
      form.dataset.why = words;
      showText(problem, words);
    };
    const reply = await change(kind.call, { ids: [row.dataset.run], again, ...kind.send(field.value, row) }, say);
    form.dataset.told = field.value;
    if (reply) close(row, form, what);
    else field.focus();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close(row, form, what);
    if (event.key === "Enter" && !event.shiftKey && what === "note") {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  row.dataset.editing = what;
  row.querySelector("td.name").append(form);
  field.focus();
  field.select();
  return undefined;
}
// What is being written of a row gives way to something else of it, unless it would be lost: then it says so.
function leave(row, next) {
  const now = row.dataset.editing;
  const form = row.querySelector(".editing");
  const field = form.querySelector(".input");
  if (now !== next && field.value === row.dataset[now]) {
    close(row, form, now);
    return true;
  }
  const why = form.dataset.why ?? ""; // what keeps it from being saved is said with it
  if (now !== next) showText(form.querySelector(".problem"), `${why} Save or cancel the ${now} first.`.trim());
  field.focus();
  return false;
}
function close(row, form, what) {
  const had = form.contains(document.activeElement);
  delete row.dataset.editing;
  form.remove();
  if (had) row.querySelector(`[data-edit="${what}"]`)?.focus({ preventScroll: true });
}
page.addEventListener("click", (event) => {
  const button = event.target.closest("[data-edit]");
  if (button) edit(button.closest("tr"), button.dataset.edit);
});
