// The code editor: Ace (served from here), with completion of what this data gives, and lint as one types.

import { el, option, setText, showText } from "../../ui/dom.js";
import { load } from "../../ui/libraries.js";
import { button, call, find, on, page, server, setOff, tell } from "./core.js";
import { waysToRename } from "./columns.js";
import { namesake } from "./namesakes.js";
import { plain, plural } from "./text.js";
import { isOfScript, offerImport } from "./whole_script.js";

let ace = null;
export let code = null;
let quiet = false;
const LINT = 250; // ms without a key before the text is looked at

export async function makeEditor() {
  await load("ace");
  ace = window.ace;
  for (const part of ["basePath", "modePath", "themePath", "workerPath"]) ace.config.set(part, "");
  const tools = ace.require("ace/ext/language_tools");
  tools.setCompleters([{ getCompletions: complete }, ...[tools.keyWordCompleter, tools.textCompleter].map(beginning)]);
  code = ace.edit(find(".ace"), {
    mode: "ace/mode/python",
    useWorker: false,
    showPrintMargin: false,
    tabSize: 4,
    useSoftTabs: true,
    fontSize: 13,
    enableBasicAutocompletion: true,
    enableLiveAutocompletion: true,
    enableKeyboardAccessibility: true,
    minLines: 12,
    maxLines: 30,
    highlightActiveLine: true,
    textInputAriaLabel: "Reward function, in Python",
  });
  code.commands.addCommand({ name: "save", bindKey: { win: "Ctrl-S", mac: "Command-S" }, exec: () => tell("save") });
  code.commands.addCommand({
    name: "try",
    bindKey: { win: "Ctrl-Enter", mac: "Command-Enter" },
    exec: () => tell("try"),
  });
  code.session.on("change", () => {
    if (quiet) return;
    tell("edited");
    typed();
  });
}

// ---- completion: the data's columns and TRL's own names ----
// Only what begins as it was typed: Enter must not make “prompts” of “os”.
const begins = (prefix) => (one) => (one.value ?? one.caption ?? "").toLowerCase().startsWith(prefix.toLowerCase());
const beginning = (completer) => ({
  ...completer,
  getCompletions: (editor, session, at, prefix, done) =>
    completer.getCompletions(editor, session, at, prefix, (problem, found) =>
      done(problem, (found ?? []).filter(begins(prefix))),
    ),
});
function complete(_editor, _session, _at, prefix, done) {
  const given = (page.columns ?? []).map((name) => ({ value: name, meta: "column", score: 1000 }));
  const trl = Object.entries(page.about.trl).map(([value, words]) => ({
    value,
    meta: "TRL",
    score: 900,
    docText: words,
  }));
  done(null, prefix ? [...given, ...trl].filter(begins(prefix)) : []);
}

// ---- the text ----
export function setCode(text) {
  quiet = true;
  code.session.setValue(text); // a new text: its own undo history
  quiet = false;
  page.text = text;
  page.failures = [];
  lookSoon(0);
}
function typed() {
  page.text = code.getValue();
  page.failures = [];
  find(".said-saved").hidden = true;
  tell("typed");
  drawState();
  lookSoon();
}
// Text of the page's own, such as blocks make: with the undo history that there is.
export function writeCode(text) {
  quiet = true;
  code.setValue(text, -1);
  quiet = false;
  typed();
}
export const unsaved = () =>
  Boolean(page.open) && !page.open.builtIn && (page.text !== page.open.clean || Boolean(page.unfinished));

// ---- what can be said of it without running it ----
let lookTimer = null;
let looks = 0;
let seen = null;
export function lookSoon(ms = LINT) {
  seen = null;
  clearTimeout(lookTimer);
  lookTimer = setTimeout(look, ms);
}
on("columns", () => {
  if (page.open) lookSoon(0);
});
async function look() {
  const turn = ++looks;
  const [text, name] = [page.text, page.which || page.open?.name || ""];
  let found;
  try {
    found = await server.analyse_code({ text, name, columns: page.columns });
  } catch (problem) {
    console.warn(problem);
  }
  if (turn !== looks || text !== page.text) return;
  if (!found) {
    lookSoon(1500);
    return "no answer";
  }
  seen = text;
  page.functions = found.functions ?? [];
  page.problems = found.problems ?? [{ line: 1, column: 1, level: "error", message: found.sentence }];
  page.cleaner = Boolean(found.cleaner);
  page.script = Boolean(found.script);
  page.reading = found.blocks ?? null;
  if (page.open?.builtIn) page.problems = [];
  const names = page.functions.map((one) => one.name);
  // as analyse_text has it, which looked at this one
  if (!names.includes(page.which)) page.which = names.includes(name) ? name : (names[0] ?? "");
  drawLooked();
  tell("looked");
}
// Whether what stands in the editor has been looked at, once it has been, or cannot be. A look may be overtaken: by
// another text, or by the data's columns.
export async function looked() {
  for (let n = 0; n < 100 && seen !== page.text; n += 1) {
    clearTimeout(lookTimer);
    if ((await look()) === "no answer") return false;
  }
  return seen === page.text;
}
export const signature = () => page.functions.find((one) => one.name === page.which);

export function drawLooked() {
  const which = find(".which");
  const names = page.functions.map((one) => one.name);
  which.hidden = names.length < 2;
  which.replaceChildren(...names.map((name) => option(name)));
  which.value = page.which;
  const chosen = signature();
  setText(find(".asks"), chosen ? asksFor(chosen) : "");
  drawAnnotations();
  drawState();
  if (unsaved()) tell("typed"); // by the name it has now
}
export function asksFor(chosen) {
  const given = chosen.arguments.length ? `Arguments: ${chosen.arguments.join(", ")}.` : "No named arguments.";
  const settings = chosen.parameters.length
    ? ` Parameters: ${chosen.parameters.map((one) => one.name).join(", ")}.`
    : "";
  return plain(`${chosen.is_async ? "Async. " : ""}${given}${settings}`);
}
// Problems of the text, and lines at which it failed when it was tried.
function drawAnnotations() {
  const failed = page.failures.filter((one) => one.line).map((one) => ({ ...one, level: "error" }));
  const all = [...page.problems, ...failed];
  code.session.setAnnotations(
    all.map((one) => ({
      row: Math.max(0, one.line - 1),
      column: Math.max(0, (one.column ?? 1) - 1),
      text: plain(one.message),
      type: one.level,
    })),
  );
  for (const id of marked.splice(0)) code.session.removeMarker(id);
  const { Range } = ace.require("ace/range");
  for (const one of failed)
    marked.push(code.session.addMarker(new Range(one.line - 1, 0, one.line - 1, 1), "failed-line", "fullLine"));
  find(".found").replaceChildren(...offers(), ...problemLists(all), ...offerImport(page.problems, page.text));
}
// One click takes off what was pasted around the functions.
function offers() {
  if (page.open.builtIn) return [];
  if (page.script) return [button("Comment out the script around the functions", () => cleanUp("strip_code"), "btn s")];
  const words = "Remove notebook and terminal prompts";
  return page.cleaner ? [button(words, () => cleanUp("clean_paste"), "btn s")] : [];
}
// Errors first; what lint has to say is folded away, for it is never what keeps a function from running.
function problemLists(all) {
  const said = all.filter((one) => !one.lint || one.level === "error");
  const hints = all.filter((one) => one.lint && one.level !== "error");
  const more = said.length > 12 ? [el("li.mut", `and ${said.length - 12} more`)] : [];
  return [
    said.length ? el("ul", ...said.slice(0, 12).map(problemItem), ...more) : "",
    hints.length
      ? el(
          "details.hints",
          el("summary", hints.length === 1 ? "1 hint on style" : `${hints.length} hints on style`),
          el("ul", ...hints.slice(0, 50).map(problemItem)),
        )
      : "",
  ].filter(Boolean);
}
function problemItem(one) {
  const rename = (names, old, meant) => cleanUp("rename_column", { names, old, new: meant });
  return el(
    "li",
    { class: `verdict-at ${GRAVE[one.level] ?? "warning"}` },
    isOfScript(one) ? null : button(`line ${one.line}`, () => goToLine(one.line), "link s"),
    ` ${plain(one.message)} `,
    ...(one.rename && !page.open.builtIn ? waysToRename(one, rename) : []),
  );
}
const marked = [];
export const GRAVE = { error: "blocking", warning: "warning", info: "advice" };
async function cleanUp(name, more = {}) {
  const got = await call(name, { text: page.text, ...more });
  if (!got) return;
  code.setValue(got.text, -1); // as if typed: Ctrl+Z brings it back
  sayNote(got.commented ? changedWords(got, name === "strip_code") : "");
}
// What became of a pasted text: which lines are comments now and why, and, where its script was left out (`alone`),
// what was written in place of a tokenizer's tokens.
export function changedWords({ commented, stand_ins: tokens }, alone) {
  const { script, foreign } = commented;
  const some = [
    alone && script ? `${plural(script, "line")} of the script, as it cannot run or is not needed here` : "",
    foreign ? `${plural(foreign, "line")} of a shell, a notebook or an output, as it is not Python` : "",
  ].filter((one) => one);
  const lines = some.length ? `Commented out: ${some.join(", and ")}.` : "";
  return [lines, alone ? standInWords(tokens) : ""].filter((one) => one).join(" ");
}
// What was written in place of a tokenizer's tokens, for there is no tokenizer where a reward function runs.
export function standInWords(tokens) {
  if (!tokens?.length) return "";
  const each = tokens.map((token) => `tokenizer.${token} became the text "<${token}>"`).join(", ");
  return `Changed: ${each}. There is no tokenizer here, and completions come without its special tokens.`;
}
export function goToLine(line) {
  tell("line"); // it is shown as code
  code.gotoLine(line, 0, false);
  code.focus();
  find(".ace-box").scrollIntoView({ block: "nearest" });
}
export function showFailures(failures) {
  page.failures = failures;
  drawAnnotations();
}

// Whether it is said of the whole script or of blocks, and of no line.
const isOfNoLine = (problem) => isOfScript(problem) || problem.blocks;
export const withLine = (problem) => `${isOfNoLine(problem) ? "" : `Line ${problem.line}: `}${plain(problem.message)}`;
// What is to be fixed before anything can be done with the text.
export const fixFirst = (problem) =>
  isOfNoLine(problem) ? plain(problem.message) : `Fix line ${problem.line} first: ${plain(problem.message)}`;
// What keeps the text from being loaded, and so from being saved or tried; empty where nothing does.
export function loadFault() {
  const found = page.problems.find((one) => one.kind === "unloadable" || isOfScript(one));
  return found ? fixFirst(found) : "";
}

// Why there is no function to do something with: what is wrong with the text, else that it has none.
export function noFunction(what) {
  const error = page.problems.find((one) => one.level === "error");
  return error
    ? withLine(error)
    : `There is no function to ${what} yet: a reward function is a def that gets completions.`;
}

// Why blocks make no code yet.
const CODE_BEFORE =
  "The blocks are not complete: this is the earlier code. It is updated, and can be saved, once they are.";
export const NO_BLOCK = "Add a block first.";
export function unfinished() {
  const { fault, blocks } = page.unfinished ?? {};
  if (!fault && !blocks?.length) return NO_BLOCK;
  return fault || "Complete the blocks first: what is missing is shown at each.";
}
// Why nothing is there yet that a run could use; empty where something is, be it with faults.
export function notBuilt() {
  const nothing = !page.text.trim() && !find(".way-blocks").hidden;
  return page.unfinished || nothing ? unfinished() : "";
}

// ---- the head above it ----
// Said above the text; where something went wrong, in sight.
export function sayNote(text, wrong = false, ...more) {
  const note = find(".said-saved");
  note.hidden = !text;
  note.className = `said-saved s ${wrong ? "verdict-at blocking" : "mut"}`;
  note.replaceChildren(text, ...more);
  if (wrong) note.scrollIntoView({ block: "nearest" });
}
// Under another name than the saved one: what saving does, and how to rename instead. Not where the text has both, or
// where the name is taken.
function copyWords() {
  const { name } = page.open;
  const isOther = page.functions.some((one) => one.name === name) || namesake(page.which).few;
  return isOther ? "" : `. Save makes a copy. To rename “${plain(name)}” instead, put its name back and click ✎`;
}
// Whether what stands here is not what a run that takes this function by its name would get.
export function isUnsaved() {
  const { open } = page;
  return !open.builtIn && (!open.hash || unsaved() || open.hash !== open.newest || page.which !== open.name);
}
function drawUse() {
  const button = find("[data-do=use]");
  setText(button, isUnsaved() ? "Save and use in a new run" : "Use in a new run");
  const use = isUnsaved() ? "A run takes what is saved: this is saved first" : "Adds it to the rewards of New run";
  const missing = page.open.builtIn ? "" : notBuilt();
  button.title = missing || use;
  setOff("use", !page.toBuild && Boolean(missing));
}
export function drawState() {
  const open = page.open;
  if (!open) return;
  setText(find(".title"), page.unfinished?.name || page.which || open.name || "a new function");
  find(".title").hidden = !find(".which").hidden;
  // Another function of the same text than the one that is kept can be saved by its own name.
  const changed = unsaved();
  const other = Boolean(open.hash && page.which && page.which !== open.name);
  const state = open.builtIn
    ? "built in, read only"
    : !open.hash
      ? "not saved yet"
      : other
        ? `not saved under this name yet${copyWords()}`
        : `${changed ? "changed since" : "version"} ${open.hash.slice(0, 8)}` +
          (open.hash !== open.newest ? ", an older one" : "");
  setText(find(".writing .state"), state + namesake(page.which).few);
  for (const name of ["save", "delete", "rename", "versions"])
    find(`[data-do=${name}]`).hidden = open.builtIn || (name !== "save" && (!open.hash || other));
  drawUse();
  find("[data-do=own]").hidden = !open.builtIn;
  find(".network").hidden = open.builtIn;
  const same = !other && !changed && open.hash === open.newest && find(".network input").checked === open.network;
  setOff("save", !page.toBuild && (same || Boolean(page.unfinished)));
  find("[data-do=save]").title = notBuilt();
  showText(find(".code-before"), page.unfinished && page.text.trim() ? CODE_BEFORE : "");
}
on("way", drawState); // where code is written nothing asks for blocks
