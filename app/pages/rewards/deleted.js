// The line that offers to take a deletion back: until it is dismissed, also after a reload of this tab.

import { tryStore } from "../../ui/browser_store.js";
import { setText, show } from "../../ui/dom.js";
import { takeLibrary } from "./ages.js";
import { call, find, on, page, tell } from "./core.js";
import { putDraftBack } from "./drafts.js";

const KEY = "groupwise:rewards:deleted";
const line = find(".deleted");
const back = line.querySelector(".back");
let offer = null; // {name, hash: its newest version, draft: what was typed in it and not saved}

const isThere = (name) => page.about.library.own.some((one) => one.name === name);
function keep(now) {
  offer = now;
  tryStore(() => (now ? sessionStorage.setItem(KEY, JSON.stringify(now)) : sessionStorage.removeItem(KEY)));
}
function say() {
  setText(line.querySelector("span"), `Deleted ${offer.name}.`);
  line.hidden = false;
}
function close() {
  keep(null);
  show(line, false, find(".shelf .take"));
}
// In sight, and under the hands of whoever just deleted it.
export function offerUndo(deleted) {
  keep(deleted);
  say();
  back.focus();
}
// `open`: opens a function of the library by its name.
export function drawDeleted(open) {
  const takeBack = async () => {
    const { name, hash, draft } = offer;
    const got = await call("restore_function", { name, hash }, refuse);
    if (!got) return;
    takeLibrary(got.library);
    putDraftBack(name, draft);
    close();
    tell("library");
    await open(name);
  };
  back.addEventListener("click", takeBack);
  line.querySelector(".shut").addEventListener("click", close);
  const kept = tryStore(() => JSON.parse(sessionStorage.getItem(KEY)));
  if (kept?.name && !isThere(kept.name)) {
    offer = kept;
    say();
  }
}
const refuse = (words) => words && setText(line.querySelector("span"), words);
// Of that name there is one again.
on("library", () => {
  if (offer && isThere(offer.name)) {
    keep(null);
    line.hidden = true;
  }
});
