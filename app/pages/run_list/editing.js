// A run's name, tags and note, written where they stand. Enter keeps, Esc leaves it; nothing that the table does
// meanwhile takes away what is being written.

import { LabelField, typedFields } from "../../ui/label_field.js";
import { el, setText, showText } from "../../ui/dom.js";
import { change, find, page, wake } from "./core.js";

const labels = new WeakMap(); // by their form
const saves = new WeakMap(); // functions that save what is written in a form, by it: whether that was done

export async function edit(row, what) {
  if (row.dataset.editing && !(await leave(row, what))) return;
  const field = open(row, what);
  field.focus();
  field.select();
}
// What was typed before the page was left or loaded anew is there again, in the rows that there are; of several things
// of a run the next one comes once the first is saved or given up.
export function openTyped() {
  for (const { run, what } of typedFields()) {
    const row = find("tbody").querySelector(`tr[data-run="${CSS.escape(run)}"]`);
    if (row?.dataset[what] !== undefined && !row.dataset.editing) open(row, what);
  }
}
// Its field.
function open(row, what) {
  const most = Number(find("table").dataset[what]); // characters
  const label = new LabelField(row.dataset.run, what, row.dataset[what], most);
  const { field } = label;
  const save = el("button.btn.s.pri", { type: "submit" }, "Save");
  const cancel = el("button.btn.s.quiet", { type: "button", onclick: () => close(row, form, what) }, "Cancel");
  const restore = el("button.btn.s", { type: "button", hidden: true }, "Restore");
  const form = el("form.editing", label.label, label.length, save, cancel, label.problem, restore);
  const say = (words, told) => {
    sayIn(form, words, told);
    if (told?.meanwhile === undefined) return;
    setText(save, "Keep mine");
    setText(cancel, "Keep the other");
  };
  const about = () => ({ ids: [row.dataset.run], called: row.dataset.name });
  restore.addEventListener("click", async () => {
    await change("restore_runs", about(), say);
    field.focus();
  });
  const saveTyped = async () => {
    const reply = await label.save((call, payload, told) => change(call, { ...about(), ...payload }, told), say);
    if (reply) {
      row.dataset[what] = field.value.trim(); // until the next look at the list
      close(row, form, what);
    } else form.scrollIntoView({ block: "nearest" }); // what keeps it from being saved stands below the field
    return Boolean(reply);
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!(await saveTyped())) field.focus();
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close(row, form, what);
  });
  saves.set(form, saveTyped);
  labels.set(form, label);
  row.dataset.editing = what;
  row.querySelector("td.name").append(form);
  return field;
}
// Why it is not saved. What a look at the list may find to be over is marked with when it was said: that its run was
// deleted, which Restore takes back, and that the server did not answer.
function sayIn(form, words, told) {
  const passes = words && (!told || told.deleted !== undefined);
  form.dataset.why = words;
  form.dataset.saidAt = passes ? performance.now() : "";
  form.dataset.waits = passes && told ? "run" : "";
  showText(form.querySelector(".problem"), words);
  form.querySelector("[type=button]:last-child").hidden = !told?.deleted;
}
const READ = 2500; // ms in which it is read, also where it is over at once
// A look that began at that time succeeded: what it shows to be over goes, and what is being written stays.
export function forgetOver(begun) {
  for (const form of find("tbody").querySelectorAll(".editing")) {
    const { saidAt, waits } = form.dataset;
    const row = form.closest("tr");
    const isOver = saidAt && begun > Number(saidAt) + READ && !(waits && row.hasAttribute("data-unlisted"));
    if (isOver) sayIn(form, "", {});
  }
}
// What is being written of a row gives way to something else of it, and is saved. Where it cannot be, it stays and says
// why, and nothing that is typed then goes into it unseen.
async function leave(row, next) {
  const now = row.dataset.editing;
  const form = row.querySelector(".editing");
  const field = form.querySelector(".input");
  if (now === next) {
    field.focus();
    return false;
  }
  if (field.value === row.dataset[now]) {
    close(row, form, now);
    return true;
  }
  if (form.dataset.leaving) return false;
  form.dataset.leaving = next;
  const isSaved = await saves.get(form)();
  delete form.dataset.leaving;
  if (isSaved) return true;
  const problem = form.querySelector(".problem");
  showText(problem, `${form.dataset.why ?? ""} Save or cancel the ${now} first.`.trim());
  problem.tabIndex = -1;
  problem.focus();
  return false;
}
function close(row, form, what) {
  const had = form.contains(document.activeElement);
  labels.get(form).forget();
  delete row.dataset.editing;
  form.remove();
  wake(); // a row that only stayed for it goes
  if (had) row.querySelector(`[data-edit="${what}"]`)?.focus({ preventScroll: true });
}
page.addEventListener("click", (event) => {
  const button = event.target.closest("[data-edit]");
  if (button) edit(button.closest("tr"), button.dataset.edit);
});
