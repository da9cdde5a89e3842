// The library: what ships, one's own, what is not saved; opening, versions and their differences, deleting.

import { onAddress, params, setParams } from "../../ui/address.js";
import { el, remover, setText } from "../../ui/dom.js";
import { ageNode, ofServer, takeLibrary } from "./ages.js";
import { sayOutdated, stopTrying, tryNow } from "./workbench.js";
import { action, button, call, find, NO_ANSWER, on, page, root, server, tell } from "./core.js";
import { offerUndo } from "./deleted.js";
import { DRAFTS, dropDraft, keepDraft, newDrafts, readDraft, sayDraft, takeDraft } from "./drafts.js";
import { code, drawLooked, drawState, lookSoon, sayNote, setCode } from "./editor.js";
import { plain, plural } from "./text.js";

// A name without room goes on in the next line, after a “_”: of two that begin alike no end is hidden.
const wrapped = (name) => name.split(/(?<=_)/).flatMap((part, n) => (n ? [el("wbr"), part] : [part]));
const entry = (name, words, current, onclick, more = null) =>
  el(
    "li.entry",
    el(
      "button.take",
      { type: "button", ...(current ? { "aria-current": "true" } : {}), onclick },
      el("b.mono", ...wrapped(plain(name))),
      words ? el("span.xs.mut", typeof words === "string" ? plain(words) : words) : null,
    ),
    more,
  );
const isOpen = (name) => page.open?.name === name && (page.open.hash || page.open.builtIn);
function ownEntry(one) {
  const about = el(
    "span.xs.mut.mono",
    one.hash.slice(0, 6),
    readDraft(`name:${one.name}`) ? el("span", { title: "Changed, and not saved" }, " •") : "",
    el("br"),
    ageNode(ofServer(one.at)),
  );
  return entry(one.name, one.help, isOpen(one.name), () => openNamed(one.name), about);
}
export function drawLibrary() {
  const { own, built_in: builtIn } = page.about.library;
  const drafts = newDrafts();
  const group = (title, entries) => (entries.length ? [el("h2", title), el("ul", ...entries)] : []);
  const dropNew = (id) => {
    dropDraft(`${DRAFTS}new:${id}`);
    if (page.open?.draft === id) openFirst();
    drawLibrary();
  };
  find(".shelf .lists").replaceChildren(
    ...group(
      "Not saved",
      drafts.map((one) =>
        entry(
          one.which || "a new function",
          ageNode(one.at),
          page.open?.draft === one.id,
          () => openDraft(one.id),
          remover(`Discard ${one.which || "this"}`, () => dropNew(one.id)),
        ),
      ),
    ),
    el("h2", "Your own"),
    own.length ? el("ul", ...own.map(ownEntry)) : el("p.s.mut", "None yet."),
    ...group(
      "Built in",
      builtIn.map((one) => entry(one.name, one.help, isOpen(one.name), () => openNamed(one.name))),
    ),
    ...(page.about.complete ? [] : [el("p.xs.mut", "Starting the worker… The built-in functions appear in a moment.")]),
  );
}
on("library", drawLibrary);
on("open", drawLibrary);

// ---- opening: what is opened last is open, however late another one's text comes ----
let opening = 0;
const UNSAVED = {
  name: "",
  hash: null,
  newest: null,
  builtIn: false,
  clean: "",
  network: false,
  versions: [],
  users: [],
  blocks: null,
  begun: null,
};
// `own`: the page itself chose it, so that it takes the place of the address: Back leads to where one came from.
export async function openNamed(name, version = "", { own = false } = {}) {
  const turn = ++opening;
  const got = await call("show_function", { name, version });
  if (turn !== opening) return false;
  if (!got && version) return openNewest(name, version, own);
  if (!got) return false;
  stopTrying();
  const { built_in: builtIn, code: clean, ...kept } = got;
  page.open = { ...UNSAVED, ...kept, builtIn, clean, version };
  const found = builtIn || version ? null : readDraft(`name:${name}`);
  const draft = found && (found.text !== clean || found.blocks) ? found : null;
  page.open.begun = draft?.blocks ?? null;
  page.which = name;
  find(".network input").checked = draft ? draft.network === true : page.open.network;
  beginWith(draft ? draft.text : clean, builtIn);
  sayDraft(draft, clean, newText);
  setParams({ name, version: version || null, draft: null }, { push: !own && params().get("name") !== name });
  return true;
}
// Where there is no such version (any more), the newest is opened, and says so.
async function openNewest(name, version, own) {
  const there = await openNamed(name, "", { own });
  if (there) sayNote(`There is no version ${version.slice(0, 8)} of it. This is the newest.`);
  return there;
}
export function openDraft(id) {
  const kept = readDraft(`new:${id}`);
  if (!kept) return false;
  newText(kept.text, { id, which: kept.which, network: kept.network, blocks: kept.blocks });
  sayDraft(kept, null, newText);
  return true;
}
// A text of its own that the library does not have; `blocks`: {name, blocks, sentence}, where they make no code yet.
export function newText(text, { id = null, which = "", network = false, keep = true, blocks = null } = {}) {
  opening += 1;
  stopTrying();
  page.open = { ...UNSAVED, draft: id ?? Math.random().toString(36).slice(2, 10), begun: blocks };
  page.which = which;
  find(".network input").checked = network;
  sayDraft(null);
  beginWith(text, false);
  setParams({ name: null, version: null, draft: page.open.draft, new: null });
  if (keep) keepDraft();
}
// A function that is put together from blocks.
export function beginBuilding() {
  newText("", { blocks: { blocks: [], sentence: "", name: freeName(), fresh: true }, keep: false });
}
function freeName() {
  const taken = new Set([...page.about.library.own, ...page.about.library.built_in].map((one) => one.name));
  let name = "my_reward";
  for (let n = 2; taken.has(name); n += 1) name = `my_reward_${n}`;
  return name;
}
on("build", beginBuilding);
function beginWith(text, readOnly) {
  for (const part of [".writing", ".workbench", ".side"]) find(part).hidden = false;
  find(".welcome").hidden = true;
  find(".said-saved").hidden = true;
  code.setReadOnly(readOnly);
  code.resize();
  setCode(text);
  drawState();
  tell("open");
}
// Another function of the same text. Where the library has it, saved with just this text, that one is open now.
async function turnTo(name) {
  page.which = name;
  page.failures = [];
  find(".said-saved").hidden = true;
  const mayBeKept = page.open.hash && page.about.library.own.some((one) => one.name === name);
  const got = mayBeKept ? await call("show_function", { name }) : null;
  if (page.which !== name) return;
  if (got?.code === page.text) {
    const { built_in: builtIn, code: clean, ...kept } = got;
    page.open = { ...UNSAVED, ...kept, builtIn, clean, version: "" };
    find(".network input").checked = page.open.network;
    setParams({ name, version: null, draft: null });
    drawLibrary();
  }
  drawLooked();
  lookSoon(0); // what this one asks for in vain, and its blocks
  const at = page.text.split("\n").findIndex((line) => line.match(/^(?:async )?def (\w+)/)?.[1] === name);
  if (at >= 0) code.gotoLine(at + 1, 0, false);
  tell("looked");
  keepDraft();
  sayOutdated();
}
export function openFirst() {
  const { own, built_in: builtIn } = page.about.library;
  const first = own[0] ?? builtIn.find((one) => one.name === "format") ?? builtIn[0];
  return first ? openNamed(first.name, "", { own: true }) : false;
}

// Takes a function of one's own out of the library, with what was typed in it; `next` opens another in its place.
export async function deleteOwn({ name, newest }, next = () => tell("library")) {
  const got = await call("delete_function", { name });
  if (!got) return;
  const draft = takeDraft(name);
  takeLibrary(got.library);
  await next();
  offerUndo({ name, hash: newest, draft });
}

// ---- versions ----
function drawVersions() {
  const dialog = find("dialog.versions");
  const open = page.open;
  const row = (one, n) =>
    el(
      "li.row.between",
      el(
        "span.s",
        el("span.mono", one.hash.slice(0, 8)),
        " ",
        el(
          "span.mut",
          ageNode(ofServer(one.at)),
          `${n === 0 ? ", the newest" : ""}${one.hash === open.hash ? ", open" : ""}`,
        ),
      ),
      el(
        "span.row.tight",
        n ? button("What changed since", () => compare(one)) : null,
        button("Open", async () => {
          dialog.close();
          // the button stands below the text, the version's name above it
          if (await openNamed(open.name, n ? one.hash : "")) find(".writing").scrollIntoView({ block: "start" });
        }),
      ),
    );
  dialog.querySelector(".list").replaceChildren(el("ul", ...open.versions.map(row)));
  const runs = open.users.map((one) =>
    el(
      "li",
      el("a", { href: `/run?id=${encodeURIComponent(one.id)}` }, plain(one.name)),
      " ",
      el("span.mut.mono.xs", one.hash.slice(0, 8)),
      one.called ? el("span.mut.xs", " as ", el("span.mono", plain(one.called))) : null,
    ),
  );
  const used = runs.length ? [el("h3", "Used by"), el("ul", ...runs)] : [el("p.mut", "No run has used it yet.")];
  dialog.querySelector(".used").replaceChildren(...used);
  dialog.querySelector(".difference").hidden = true;
}
function showVersions() {
  const dialog = find("dialog.versions");
  drawVersions();
  dialog.showModal();
  dialog.querySelector(".list button")?.focus();
}
async function compare(one) {
  const [old, now] = await Promise.all([
    server.show_function({ name: page.open.name, version: one.hash }),
    server.show_function({ name: page.open.name, version: page.open.newest }),
  ]);
  await drawDifference(old?.code, now?.code, `From ${one.hash.slice(0, 8)} to the newest`);
}
// What differs between two texts, in the dialog of the versions; undefined: there was no answer.
export async function drawDifference(before, after, words) {
  const dialog = find("dialog.versions");
  if (!dialog.open) showVersions();
  const box = dialog.querySelector(".difference");
  const known = before !== undefined && after !== undefined;
  const got = known ? await server.compare_texts({ old: before, new: after }).catch(() => null) : null;
  box.hidden = false;
  setText(box.querySelector("h3"), got?.lines ? words : NO_ANSWER);
  const kinds = { "+": "added", "-": "removed" };
  const lines = (got?.lines ?? []).map((line) =>
    el("span", { class: `line ${kinds[line.kind] ?? ""}` }, `${line.kind} ${plain(line.text)}\n`),
  );
  const text = box.querySelector("pre");
  text.replaceChildren(...lines, ...(got?.lines?.length === 0 ? ["The same text."] : []));
  if (!dialog.querySelector(".list").contains(document.activeElement)) text.focus();
}

export function drawLibraryActions() {
  root.addEventListener("keydown", (event) => {
    // in the editor its own keys have done it
    if (event.defaultPrevented || !(event.ctrlKey || event.metaKey) || root.querySelector("dialog[open]")) return;
    if (event.key === "s") {
      event.preventDefault();
      tell("save");
    }
    if (event.key === "Enter") {
      event.preventDefault();
      tryNow();
    }
  });
  action("versions", showVersions);
  find(".which").addEventListener("change", ({ target }) => turnTo(target.value));
  find(".network input").addEventListener("change", () => {
    drawState();
  });
  action("delete", () => {
    const dialog = find("dialog.deleting");
    setText(
      dialog.querySelector("p"),
      `Delete “${page.open.name}” with its ${plural(page.open.versions.length, "version")}? ` +
        "Undo is offered right after; runs that used it keep their own copy.",
    );
    dialog.showModal();
    dialog.querySelector(".cancel").focus();
  });
  find("dialog.deleting .danger").addEventListener("click", async () => {
    find("dialog.deleting").close();
    deleteOwn(page.open, openFirst);
  });
  onAddress(() => {
    // back and forward
    const [name, version, draft] = ["name", "version", "draft"].map((key) => params().get(key) ?? "");
    if (!name && draft && draft !== page.open?.draft && !openDraft(draft)) tell("missing");
    if (name && (name !== page.open?.name || version !== (page.open.version ?? "")))
      openNamed(name, version).then((there) => {
        if (!there && params().get("name") === name) tell("missing");
      });
  });
}
