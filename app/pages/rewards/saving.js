// Saving: what keeps a text from it, and what happens where another version was saved meanwhile.

import { setParams } from "../../ui/address.js";
import { el } from "../../ui/dom.js";
import { ageNode, ofServer, takeLibrary } from "./ages.js";
import { columnFault, waysOut } from "./block_faults.js";
import { NOT_TAKEN, settle } from "./builder.js";
import { action, button, call, find, NO_ANSWER, on, page, server, tell } from "./core.js";
import { dropDraft, dropOwnDraft, keepDraft, sayDraft } from "./drafts.js";
import {
  drawState,
  fixFirst,
  loadFault,
  looked,
  noFunction,
  notBuilt,
  sayNote,
  signature,
  unfinished,
} from "./editor.js";
import { offerCorrectedRun } from "./led_here.js";
import { deleteOwn, drawDifference, newText, openNamed } from "./library.js";
import { rememberData } from "./source.js";

// What keeps the text from being a function that can be used, {words, ways: buttons}; null where nothing does.
export function obstacle() {
  const error = page.problems.find((one) => one.level === "error" && one.kind !== "name");
  const words = notBuilt() || (error ? fixFirst(error) : faultOfName());
  return words ? { words, ways: error && error === columnFault() ? waysOut(error) : [] } : null;
}
const faultOfName = () => (page.which ? loadFault() || (signature()?.too_long ?? "") : noFunction("save"));
// True once it is saved. `over`: also where the library has another version by now than the one this text began with.
export async function save(over = false) {
  if (page.open.builtIn) return false;
  if (!(await settle())) {
    sayNote(NOT_TAKEN, true);
    return false;
  }
  const isSeen = await looked();
  const missing = page.unfinished ? unfinished() : !isSeen ? NO_ANSWER : faultOfName();
  if (missing) {
    sayNote(missing, true);
    return false;
  }
  const network = find(".network input").checked;
  const text = page.text;
  const name = page.which;
  const onto = over ? null : page.open.name === name ? (page.open.newest ?? "") : "";
  const got = await call("save_function", { name, text, network, onto }, (said) => sayNote(said, true));
  if (!got) return false;
  takeLibrary(got.library);
  if (got.newer) {
    sayNewer(name, got.newer);
    return false;
  }
  await takeSaved(got, text, network);
  return true;
}
async function takeSaved(got, text, network) {
  dropOwnDraft();
  if (!find(".way-blocks").hidden) rememberData(got.name);
  const before = page.open.hash && page.open.name !== got.name ? { ...page.open } : null;
  const kept = await server.show_function({ name: got.name, version: got.hash }); // versions and users as they are now
  Object.assign(page.open, {
    name: got.name,
    hash: got.hash,
    newest: got.hash,
    clean: text,
    network,
    draft: null,
    version: "",
    blocks: kept?.blocks ?? null,
    begun: null,
    versions: kept?.versions ?? [],
    users: kept?.users ?? [],
  });
  setParams({ name: got.name, version: null, draft: null });
  sayDraft(null);
  const saved = `Saved as version ${got.hash.slice(0, 8)}.`;
  const isThere = page.functions.some((one) => one.name === before?.name); // the text has both: neither was renamed
  if (before && !isThere) sayBefore(saved, before);
  else sayNote(`${saved} Runs that were launched keep the version they were launched with.`);
  drawState();
  tell("library");
  offerCorrectedRun(got);
}
// Another name makes a function of its own: whoever only renamed it takes the one before away, and may undo that.
function sayBefore(saved, before) {
  const drop = button(`Delete ${before.name}`, async () => {
    drop.disabled = true;
    await deleteOwn(before);
    drop.disabled = false;
    if (!page.about.library.own.some((one) => one.name === before.name)) sayNote(saved);
  });
  sayNote(`${saved} ${before.name} is still there, as it was. `, false, drop);
}
// Two versions of one name: nothing is saved until a person says which is to be the newest.
function sayNewer(name, newer) {
  const begun = page.open.name === name && page.open.hash;
  const words = begun
    ? `Not saved: another version of “${name}” has been saved since, `
    : `Not saved: your library has another “${name}” already, `;
  const hash = newer.hash.slice(0, 8);
  const said = [`version ${hash}, saved `, ageNode(ofServer(newer.at)), ". Both can be kept as versions. "];
  const ways = [
    button("Save mine as the newest", () => save(true)),
    button("Open the other one", () => openOther(name)),
    button("What differs", () => drawDifference(newer.code, page.text, `From ${hash} to yours`)),
  ];
  sayNote(words, true, ...said, el("div.row.tight.wrap.of-both", ...ways));
  tell("library");
}
// The text that is here stays, as one that is not saved.
async function openOther(name) {
  const { text, which } = page;
  const network = find(".network input").checked;
  if (page.open.hash) {
    dropDraft();
    newText(text, { which, network });
  } else keepDraft();
  await openNamed(name);
}

export function drawSaving() {
  on("save", () => save());
  action("save", () => save());
}
