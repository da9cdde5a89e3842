// The code editor: Ace (served from here), with completion of what this data gives, and lint as one types.

import { el, option, setText } from "../../ui/dom.js";
import { load } from "../../ui/libraries.js";
import { button, call, find, on, page, server, setOff, tell } from "./core.js";
import { plain } from "./text.js";

let ace = null;
export let code = null;
let quiet = false;
const LINT = 250; // ms without a key before the text is looked at

export async function makeEditor() {
  await load("ace");
  ace = window.ace;
  for (const part of ["basePath", "modePath", "themePath", "workerPath"]) ace.config.set(part, "");
  const tools = ace.require("ace/ext/language_tools");
  tools.setCompleters([{ getCompletions: complete }, tools.keyWordCompleter, tools.textCompleter]);
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
    maxLines: 24,
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
    if (!quiet) typed();
  });
}

// ---- completion: the data's columns and TRL's own names ----
function complete(_editor, _session, _at, prefix, done) {
  const given = (page.columns ?? []).map((name) => ({ value: name, meta: "column", score: 1000 }));
  const trl = Object.entries(page.about.trl).map(([value, words]) => ({
    value,
    meta: "TRL",
    score: 900,
    docText: words,
  }));
  done(null, prefix ? [...given, ...trl] : []);
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
export const unsaved = () => Boolean(page.open) && !page.open.builtIn && page.text !== page.open.clean;

// ---- what can be said of it without running it ----
let lookTimer = null;
let looks = 0;
let seen = null;
function lookSoon(ms = LINT) {
  seen = null;
  clearTimeout(lookTimer);
  lookTimer = setTimeout(look, ms);
}
on("columns", () => lookSoon(0));
async function look() {
  const turn = ++looks;
  const text = page.text;
  let found;
  try {
    found = await server.analyse_code({ text, columns: page.columns });
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
  if (page.open?.builtIn) page.problems = [];
  const names = page.functions.map((one) => one.name);
  if (!names.includes(page.which)) page.which = names.includes(page.open?.name) ? page.open.name : (names[0] ?? "");
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
  const given = chosen.arguments.length ? `Asks for ${chosen.arguments.join(", ")}.` : "Asks for nothing by name.";
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
  const item = (one) =>
    el(
      "li",
      { class: `verdict-at ${GRAVE[one.level] ?? "warning"}` },
      button(`line ${one.line}`, () => goToLine(one.line), "link s"),
      ` ${plain(one.message)}`,
    );
  const mend = (offered, words, name) =>
    offered && !page.open.builtIn
      ? [
          el(
            "li",
            button(words, () => cleanUp(name), "link s"),
          ),
        ]
      : [];
  const clean = [
    ...mend(page.cleaner, "Take off what a notebook or terminal put around it", "clean_paste"),
    ...mend(page.script, "Comment out the script around the functions", "strip_code"),
  ];
  find(".found").replaceChildren(
    ...clean,
    ...all.slice(0, 12).map(item),
    ...(all.length > 12 ? [el("li.mut", `and ${all.length - 12} more`)] : []),
  );
}
const marked = [];
export const GRAVE = { error: "blocking", warning: "warning", info: "advice" };
async function cleanUp(name) {
  const got = await call(name, { text: page.text });
  if (got) code.setValue(got.text, -1); // as if typed: Ctrl+Z brings it back
}
export function goToLine(line) {
  code.gotoLine(line, 0, false);
  code.focus();
  find(".ace-box").scrollIntoView({ block: "nearest" });
}
export function showFailures(failures) {
  page.failures = failures;
  drawAnnotations();
}

// ---- the head above it ----
export function drawState() {
  const open = page.open;
  if (!open) return;
  setText(find(".title"), page.which || open.name || "a new function");
  find(".title").hidden = !find(".which").hidden;
  // Another function of the same text than the one that is kept can be saved by its own name.
  const changed = unsaved();
  const other = Boolean(open.hash && page.which && page.which !== open.name);
  const state = open.builtIn
    ? "built in, read only"
    : !open.hash
      ? "not saved yet"
      : other
        ? "not saved under this name yet"
        : `${changed ? "changed since" : "version"} ${open.hash.slice(0, 8)}` +
          (open.hash !== open.newest ? ", an older one" : "");
  setText(find(".writing .state"), state);
  for (const name of ["save", "delete", "versions", "use"])
    find(`[data-do=${name}]`).hidden = open.builtIn || (name !== "save" && (!open.hash || other));
  find("[data-do=use]").hidden = !open.builtIn && (!open.hash || other);
  find("[data-do=own]").hidden = !open.builtIn;
  find(".network").hidden = open.builtIn;
  setOff("save", !other && !changed && open.hash === open.newest && find(".network input").checked === open.network);
}
