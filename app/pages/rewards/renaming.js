// Another name for a saved function, written beside the one it has: all its versions have it then, in their code too.

import { showText } from "../../ui/dom.js";
import { listed } from "../../ui/text.js";
import { takeLibrary } from "./ages.js";
import { builtOn, keepBuiltOn } from "./built_on.js";
import { NOT_TAKEN, settle } from "./builder.js";
import { action, call, find, on, page, tell } from "./core.js";
import { keepDraft, putDraftBack, readDraft, takeDraft } from "./drafts.js";
import { sayNote, unsaved } from "./editor.js";
import { moveSettings } from "./functions.js";
import { openNamed } from "./library.js";

const form = find(".renaming");
const field = form.querySelector("input");
const pencil = find("[data-do=rename]");
const say = (words) => showText(form.querySelector(".problem"), words);
let renaming = "";
let busy = false;

function open() {
  renaming = page.open.name;
  say("");
  field.value = renaming;
  form.hidden = false;
  field.focus();
  field.select();
}
function close() {
  const had = form.contains(document.activeElement);
  form.hidden = true;
  if (had) pencil.focus();
}
// What is typed in it, and kept in this browser, is called so, too.
function moveDraft(old, { name, hash, text }) {
  const draft = readDraft(`name:${old}`);
  takeDraft(old);
  if (!draft) return;
  const now = (called) => (called === old ? name : called);
  const blocks = draft.blocks && { ...draft.blocks, name: now(draft.blocks.name) };
  putDraftBack(name, JSON.stringify({ ...draft, text, which: now(draft.which), blocks, onto: hash }));
}
async function rename() {
  const [old, name] = [renaming, field.value.trim()];
  if (name === old) return close();
  if (!(await settle())) return say(NOT_TAKEN);
  if (unsaved()) keepDraft();
  const typed = readDraft(`name:${old}`)?.text ?? null;
  const got = await call("rename_function", { name: old, new: name, text: typed }, say);
  if (!got) return field.focus();
  moveDraft(old, got);
  if (builtOn(old)) keepBuiltOn(got.name, builtOn(old));
  moveSettings(old, got.name);
  takeLibrary(got.library);
  tell("library");
  if (page.open?.name !== old) return; // another was opened meanwhile
  close();
  if (await openNamed(got.name, "", { own: true })) sayNote(renamedWords(old, got));
}
function renamedWords(old, { name, presets }) {
  const said = `Renamed from ${old}, with all its versions. Runs that used it keep the code they ran with.`;
  if (!presets.length) return said;
  const which = presets.length > 1 ? `presets ${listed(presets)} still name` : `preset ${presets[0]} still names`;
  return `${said} Your ${which} ${old}: load it under New run, choose ${name} there, and save it again.`;
}

export function drawRenaming() {
  action("rename", open);
  on("open", close);
  form.querySelector("[type=button]").addEventListener("click", close);
  field.addEventListener("input", () => say(""));
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    await rename();
    busy = false;
  });
}
