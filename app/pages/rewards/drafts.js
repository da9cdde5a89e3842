// What is typed and not saved is kept in this browser, and is there again after a reload.

import { tryStore } from "../../ui/browser_store.js";
import { ageNode } from "./ages.js";
import { button, find, on, page, tell } from "./core.js";
import { drawState, setCode, unsaved } from "./editor.js";

export const DRAFTS = "groupwise:rewards:draft:";
let keptAt = ""; // the key of what this tab kept last
const TAB = Math.random().toString(36).slice(2);
const draftKey = () => (page.open.hash ? `${DRAFTS}name:${page.open.name}` : `${DRAFTS}new:${page.open.draft}`);

export function keepDraft() {
  if (!page.open || page.open.builtIn) return;
  const what = {
    text: page.text,
    which: page.unfinished?.name || page.which,
    network: find(".network input").checked,
    blocks: page.unfinished,
  };
  const about = { ...what, at: changedAt(what), tab: TAB, onto: page.open.newest };
  keptAt = unsaved() ? draftKey() : "";
  if (keptAt) tryStore(() => localStorage.setItem(keptAt, JSON.stringify(about)));
  else dropOwnDraft();
  drawDraftsSoon();
}
on("typed", keepDraft);
// Another tab may have kept its own text of this function in the place of this one's, or saved it.
addEventListener("pagehide", () => keptAt && keptAt === draftKey() && keepDraft());
// What another tab has typed in this function stays, unless it is the text that stands here.
export function dropOwnDraft() {
  const kept = readDraft(draftKey().slice(DRAFTS.length));
  if (kept && (kept.tab === TAB || kept.text === page.text)) dropDraft();
}
// When it was last changed: what is only looked at again is as old as it was.
function changedAt(what) {
  const before = readDraft(draftKey().slice(DRAFTS.length));
  const typedIn = ({ text, network, blocks }) => JSON.stringify([text, network === true, blocks?.name, blocks?.blocks]);
  return before?.at && typedIn(before) === typedIn(what) ? before.at : Date.now();
}
export const dropDraft = (key = draftKey()) => tryStore(() => localStorage.removeItem(key));
export function readDraft(key) {
  const kept = tryStore(() => JSON.parse(localStorage.getItem(DRAFTS + key)));
  return kept && typeof kept.text === "string" ? kept : null;
}
// What was typed in a function and not saved goes with it, and comes back with it: takeDraft's text, null for none.
export function takeDraft(name) {
  const key = `${DRAFTS}name:${name}`;
  const kept = tryStore(() => localStorage.getItem(key));
  dropDraft(key);
  return kept ?? null;
}
export const putDraftBack = (name, kept) => kept && tryStore(() => localStorage.setItem(`${DRAFTS}name:${name}`, kept));
// Texts that were never saved, the newest first: [{id, text, at, which}].
export function newDrafts() {
  const ids = (tryStore(() => Object.keys(localStorage)) ?? [])
    .filter((key) => key.startsWith(`${DRAFTS}new:`))
    .map((key) => key.slice(`${DRAFTS}new:`.length));
  return ids
    .map((id) => ({ ...readDraft(`new:${id}`), id }))
    .filter(({ text }) => text !== undefined)
    .sort((a, b) => b.at - a.at);
}
let draftsTimer = null;
function drawDraftsSoon() {
  clearTimeout(draftsTimer);
  draftsTimer = setTimeout(() => tell("library"), 400);
}

// Says that what is shown was typed earlier, and takes it back where that is wished: to the text that
// was there `before`, or where there was none, by `begin` with a template.
export function sayDraft(kept, before, begin) {
  const note = find(".writing .draft");
  note.hidden = !kept;
  if (!kept) return;
  note.replaceChildren(
    "Draft from ",
    ageNode(kept.at),
    " restored; not saved yet. ",
    kept.onto && page.open.newest && kept.onto !== page.open.newest
      ? "Another version has been saved since; both are kept once you save. "
      : "",
    button(
      "Discard it",
      () => {
        dropDraft();
        note.hidden = true;
        if (before === null) {
          begin(page.about.templates[0]?.code ?? "");
          return;
        }
        setCode(before);
        drawState();
        tell("library");
      },
      "link s",
    ),
  );
}
