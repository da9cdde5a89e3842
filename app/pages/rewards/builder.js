// The builder: blocks beside the code that they make. The text is what is kept: its blocks are read from it again. Only
// blocks that make no code yet are kept beside it, in the draft.

import { el, showText } from "../../ui/dom.js";
import { listenToTabs, markTab } from "../../ui/tabs.js";
import { bringBack, drawCards, fromServer, newBlock, offerColumns, sayOfCards, toServer } from "./blocks.js";
import { columnList } from "./columns.js";
import { action, button, call, find, on, page, setOff, tell } from "./core.js";
import { code, drawState, goToLine, writeCode } from "./editor.js";
import { namesake } from "./namesakes.js";
import { plain } from "./text.js";

const form = find(".building");
const nameBox = form.querySelector("[name=name]");
const sentenceBox = form.querySelector("[name=sentence]");
const desk = { blocks: [], list: form.querySelector(".blocks"), changed: soon, redrawn, removed: [] };
// What tells each block's points, or why there is nothing; `of`: the blocks that it was made of.
export let traced = { code: "", why: "", of: "" };
export const blocksNow = () => desk.blocks;
const told = (blocks) => JSON.stringify(blocks);
export const isTraced = () => traced.of === told(desk.blocks.map(toServer));
export const waysShown = () => way;
let way = "code";
let made = null; // the text that these blocks made
let read = null; // {text, of}: what they were read from, which may be laid out otherwise than the builder would
let timer = null;
let turn = 0;
let changes = 0; // how often something was typed or chosen in the blocks
let mapped = ""; // the column that the blocks were last told as what the data has as its answer
let newest = true; // what came of the newest build
let asTyped = ""; // the name that was typed, where its field says by now what came of it
let written = ""; // the name in the code

// ---- which of the two ways is shown ----
const tabs = ["blocks", "code"].map((name) => find(`[data-way=${name}]`));
export function showWay(name) {
  way = name;
  markTab(tabs, tabs[name === "blocks" ? 0 : 1]);
  find(".way-blocks").hidden = name !== "blocks";
  find(".way-code").hidden = name !== "code";
  find(".live").hidden = name !== "blocks" || form.hidden;
  find(".desk").classList.toggle("by-blocks", name === "blocks");
  find("details.functions").open = name === "code";
  if (name === "code") code.resize();
  tell("way");
}
// Blocks where the text has some; else the sentence that says why there are none.
function sayByHand(reading) {
  const box = find(".by-hand");
  form.hidden = !desk.blocks.length && page.text.trim() !== "" && !page.unfinished;
  box.hidden = !form.hidden;
  find(".live").hidden = way !== "blocks" || form.hidden;
  if (box.hidden) return;
  const line = reading?.line;
  box.replaceChildren(
    el(
      "p",
      line
        ? `Edited by hand: line ${line}. Blocks cannot show that; the code stays as it is.`
        : "This function is written in Python, not made of blocks.",
    ),
    line
      ? button(`Go to line ${line}`, () => goToLine(line))
      : button("Build another one from blocks", () => tell("build")),
  );
}
// ---- from the text ----
function take({ blocks, sentence }, name, text = null) {
  desk.blocks.splice(0, Infinity, ...blocks);
  nameBox.value = name;
  [asTyped, written] = ["", ""];
  sentenceBox.value = sentence;
  read = text === null ? null : { text, of: told(typedNow()) };
  desk.removed.length = 0;
  drawCards(desk);
  sayRemoved();
}
// Which block was removed last, with its Undo.
function sayRemoved() {
  const last = desk.removed.at(-1);
  const label = last ? page.about.kinds[last.block.kind].label : "";
  const box = form.querySelector(".removed");
  showText(box.querySelector("span"), last ? `Block ${last.place + 1}, “${label}”, was removed.` : "");
  box.hidden = !last;
}
on("open", () => {
  clearTimeout(timer);
  turn += 1;
  newest = true;
  page.toBuild = false;
  made = null;
  page.unfinished = null;
  const begun = page.open.begun;
  const seen = page.open.blocks?.blocks ? page.open.blocks : null;
  const first =
    begun ?? (seen && page.text === page.open.clean ? { ...seen, blocks: seen.blocks.map(fromServer) } : null);
  find(".ways").hidden = page.open.builtIn;
  take(first ?? { blocks: [], sentence: "" }, begun?.name ?? page.which, first && !begun ? page.text : null);
  if (first) {
    made = page.text;
    page.unfinished = begun && !begun.fresh ? begun : null;
    sayByHand(null);
    build();
  }
  choosing = !first;
  showWay(first ? "blocks" : "code");
  if (begun && !begun.blocks.length) nameBox.select();
});
on("line", () => {
  choosing = false;
  if (way !== "code") showWay("code");
});
// What a person writes into the code counts: blocks that were changed before it make no code any more.
on("edited", () => {
  clearTimeout(timer);
  turn += 1;
  newest = true;
  page.toBuild = false;
});
let choosing = false; // the way is still to be chosen by what the text turns out to be
on("looked", () => {
  if (page.open?.builtIn || page.text === made) return;
  const reading = page.reading;
  made = reading?.blocks ? page.text : null;
  page.unfinished = null;
  take(
    reading?.blocks ? { ...reading, blocks: reading.blocks.map(fromServer) } : { blocks: [], sentence: "" },
    page.which,
    reading?.blocks ? page.text : null,
  );
  sayByHand(reading);
  if (choosing && reading?.blocks) showWay("blocks");
  choosing = false;
  if (reading?.blocks) build();
});

// ---- to the text ----
function soon() {
  clearTimeout(timer);
  timer = setTimeout(build, 150);
  changes += 1;
  page.toBuild = true; // what is typed is not in the code yet: Save, which builds first, can be clicked
  for (const name of ["save", "use"]) setOff(name, false);
}
function redrawn() {
  drawCards(desk);
  sayRemoved();
  soon();
}
const typedNow = () => ({ name: nameBox.value.trim(), blocks: desk.blocks.map(toServer), sentence: sentenceBox.value });
// Resolves to whether the server took what is typed, once it did: one that was overtaken waits for the newest.
function build() {
  newest = buildNow();
  return newest;
}
async function buildNow() {
  const mine = ++turn;
  const seen = changes;
  const sent = typedNow();
  mapped = page.given?.mapped ?? "";
  const got = await call("build_function", { ...sent, mapped });
  if (mine !== turn) return newest;
  if (!got) return false;
  page.toBuild = changes !== seen; // more was typed while this was on its way
  const problems = desk.blocks.length ? got.problems : [];
  sayOfCards(desk, got.words, problems);
  const fault = problems.find((one) => one.setting === "name")?.message ?? "";
  sayOfAll(problems, fault);
  showText(form.querySelector(".penalties"), desk.blocks.some((one) => Number(one.weight) < 0) ? PENALTIES : "");
  sayName(sent.name, got.name, fault);
  const why = got.untraced || "Scores come as soon as the blocks are complete.";
  traced = { code: got.traced, why, of: told(sent.blocks) };
  page.unfinished = got.code || isUntouched(sent) ? null : { ...sent, blocks: desk.blocks, fault };
  // of blocks as they were read it is the text that they were read from
  const text = got.code && read?.of === told(sent) ? read.text : got.code;
  if (text && text !== page.text) {
    made = text;
    page.which = got.name;
    allowNetwork();
    writeCode(text);
  } else {
    if (page.unfinished) tell("typed");
    drawState();
  }
  tell("built");
  return true;
}
// Whether all that is there is the name that it was given when it was begun.
function isUntouched({ name, sentence }) {
  const { begun } = page.open;
  const isNamed = !begun?.fresh || name !== begun.name;
  return !desk.blocks.length && !page.text.trim() && !(isNamed && name) && !sentence.trim();
}
const PENALTIES =
  "A weight below 0 is a penalty. The score is the sum of all blocks by weight, divided by the weights above 0: " +
  "it can fall below 0. With penalties alone it is 0 at most.";
// What is wrong with no block of its own: with the name, at its field, or with all of them.
function sayOfAll(problems, fault) {
  const said = (words) => el("p.verdict-at.warning", plain(words));
  form.querySelector(".of-name").replaceChildren(...(fault ? [said(fault)] : []));
  nameBox.setAttribute("aria-invalid", String(Boolean(fault)));
  const others = problems.filter((one) => one.block === null && one.setting !== "name");
  form.querySelector(".said").replaceChildren(...others.map((one) => said(one.message)));
}
// Nothing is earned without this block any more.
export function requireBlock(n) {
  desk.blocks[n].required = true;
  redrawn();
}
// Python's names have neither blanks nor umlauts: what was typed is written out, and that is said; and who has it.
function sayName(typed, name, fault) {
  if (typed !== written) asTyped = typed;
  written = fault ? "" : name;
  const is = name === asTyped ? "" : `Its name in the code is ${name}: only a to z, digits and _ are allowed.`;
  const words = fault ? [] : [is, namesake(name).all].filter(Boolean);
  showText(form.querySelector(".name-written"), words.join(" "));
}
// As one leaves the field it says the name that there is: it would be another one when one comes back.
async function writeName() {
  clearTimeout(timer);
  const isTaken = await build();
  if (isTaken && written && document.activeElement !== nameBox) nameBox.value = written;
}
// A judge needs the network.
function allowNetwork() {
  if (desk.blocks.some((one) => page.about.kinds[one.kind].network)) find(".network input").checked = true;
}
function addBlock(kind) {
  desk.blocks.push(newBlock(kind));
  redrawn();
  const fields = desk.list.lastChild;
  (fields.querySelector(".fields :is(input, textarea, select)") ?? fields.querySelector("input")).focus();
}
// A block compares with this column from now on.
export function compareWith(n, column) {
  desk.blocks[n].settings.column = column;
  redrawn();
  showColumn(n);
}
export function showColumn(n) {
  if (way !== "blocks") showWay("blocks");
  desk.list.children[n].querySelector("[data-setting=column] select").focus();
}
function drawKinds() {
  form
    .querySelector(".kinds")
    .replaceChildren(
      el("h3", "Add a block"),
      ...Object.entries(page.about.kinds).map(([kind, about]) =>
        el(
          "button.kind",
          { type: "button", onclick: () => addBlock(kind) },
          el("b.s", about.label),
          el("span.xs.mut", about.sentence),
        ),
      ),
    );
}
function drawGiven() {
  form.querySelector(".given").replaceChildren(columnList());
  offerColumns(desk);
}

export function drawBuilder() {
  action("build", () => tell("build"));
  drawKinds();
  drawGiven();
  on("data", drawGiven);
  on("columns", () => {
    drawGiven();
    if (desk.blocks.length && mapped !== (page.given?.mapped ?? "")) soon(); // the sentences name it
  });
  listenToTabs(tabs, ({ dataset }) => {
    choosing = false;
    showWay(dataset.way);
  });
  for (const box of [nameBox, sentenceBox]) box.addEventListener("input", soon);
  nameBox.addEventListener("change", writeName);
  form.querySelector(".removed button").addEventListener("click", () => bringBack(desk));
  form.addEventListener("submit", (event) => event.preventDefault());
}
// Done with what is typed in the blocks: true once their text is in the editor. For whoever saves or tries.
export async function settle() {
  clearTimeout(timer);
  return way !== "blocks" || !desk.blocks.length || build();
}
export const NOT_TAKEN = "The server did not take what you typed: it is not in the code yet. Try again.";
