// What an import said, above the settings: what is still so, what is to be done first, each with the click for it.

import { el } from "../../ui/dom.js";
import { countWords } from "../../ui/number.js";
import { dropNotes, edit, find, page, shownAt } from "./core.js";
import { goTo } from "./go_to.js";
import { stillTrue } from "./import_notes.js";

const SEED = "training.seed";
let drawn = { notes: null, told: "" }; // what the import said, and what of it is shown

export const notesHeading = (notes) =>
  `${countWords(notes.length, "note")} on what the import changed, set or left out`;

// The field that a note says is to be set here: “bf16 (line 12) is computed by the script: set it here.” LoRA that
// was not taken leads to where it is chosen.
function fieldInNote(note) {
  if (note.endsWith(": no LoRA was taken.") || /^peft_config \(.*: set it here\.$/.test(note)) return "lora";
  const [, ours] = note.match(/(?:: set| Set) (data\.\w+)(?: here)?\.$/) ?? [];
  const [, name] = note.match(/^(\w+) \(.*: set it here\.$/) ?? [];
  return [ours, name && `training.${name}`, name && `lora.${name}`].find((path) => path && isKnown(path));
}
const isKnown = (path) => page.form.fields.some((one) => one.path === path);
const valueAt = (path) => (isKnown(path) ? shownAt(path) : undefined);
// The seed that a note says the script sets, as a change: where the settings say none.
function seedInNote(note) {
  const [, typed] = note.match(/ training\.seed .* To train with (\d+), set it there\.$/) ?? [];
  return typed && valueAt(SEED) === "" ? { path: SEED, typed } : null;
}
const doNow = (change) => {
  const words = `Set seed to ${change.typed}`;
  return el("button.link.s", { type: "button", onclick: () => edit([change]) }, words);
};
const asksForMore = (note) => Boolean(seedInNote(note) || fieldInNote(note));
function noteLine(note) {
  const seed = seedInNote(note);
  if (seed) return el("li", note, " ", doNow(seed));
  const field = fieldInNote(note);
  const words = field === "lora" ? "Choose LoRA" : `Set ${field?.split(".").at(-1)}`;
  return el(
    "li",
    note,
    field && " ",
    field && el("button.link.s", { type: "button", onclick: () => goTo({ field }) }, words),
  );
}

// ---- what an import said, above the settings for as long as they are a draft ----
export function drawNotes() {
  const isRead = page.view?.text === page.text; // else it is not known yet what the settings are now
  if (!isRead && drawn.notes === page.notes) return;
  const lines = isRead ? page.notes.map((note) => stillTrue(note, valueAt)).filter(Boolean) : page.notes;
  const told = JSON.stringify([lines, isRead && valueAt(SEED)]);
  const isSame = drawn.told === told;
  const before = drawn.notes === page.notes ? notesShown() : { open: true, top: 0 };
  drawn = { notes: page.notes, told };
  if (isSame) return; // it may be folded
  const node = find(".import-note");
  node.hidden = !lines.length;
  node.className = "import-note note";
  const dismiss = el("button.link.s", { type: "button", onclick: dropNotes }, "Dismiss");
  const summary = el("summary.s", notesHeading(lines));
  const list = el("ul.s.scrolls", { "aria-label": "Notes of the import", tabindex: "0" });
  const first = lines.filter(asksForMore);
  const others = lines.filter((line) => !first.includes(line));
  list.append(...[...first, ...others].map(noteLine));
  node.replaceChildren(el("details", { open: before.open }, summary, list), dismiss);
  list.scrollTop = before.top;
}
// How far the notes are open and scrolled, which a setting that changes leaves as it is.
function notesShown() {
  const details = find(".import-note details");
  return { open: details?.open ?? true, top: details?.querySelector("ul").scrollTop ?? 0 };
}
