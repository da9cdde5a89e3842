// The three views of one spec: the form, the YAML (edited here, too), and the plain TRL script.

import { params, setParams } from "../../ui/address.js";
import { colouredYaml } from "../../ui/code_colours.js";
import { copy, download, el, setText, showText } from "../../ui/dom.js";
import { limitPaste, roomIn } from "../../ui/paste_limit.js";
import { listenToTabs, markTab } from "../../ui/tabs.js";
import {
  find,
  isAnotherText,
  keepDraft,
  onProblems,
  onReplaced,
  onView,
  page,
  problems,
  settled,
  settleIn,
  undo,
  write,
} from "./core.js";
import { indentWithTab, keepIndentation } from "./indentation.js";

const VIEWS = ["form", "yaml", "script"];
// The view that the address asks for and there is none of; “” where it asks for none, or one that is there.
export function unknownView() {
  const asked = params().get("view") ?? "";
  return VIEWS.includes(asked) ? "" : asked;
}
const tabs = VIEWS.map((name) => find(`[data-view=${name}]`));
let goToLine = () => {};
export function showView(name, line) {
  for (const view of VIEWS) find(`.view-${view}`).hidden = view !== name;
  markTab(tabs, tabs[VIEWS.indexOf(name)]);
  setParams({ view: name === "form" ? null : name });
  if (page.shownView !== name) {
    page.shownView = name;
    keepDraft();
  }
  if (name === "script") settleIn(0);
  if (line && name === "yaml") goToLine(line);
}

// ---- the YAML: a plain text area over its own coloured copy, with line numbers ----
const area = find(".yaml textarea");
const back = find(".yaml .coloured");
const gutter = find(".yaml .gutter");
const paint = () => {
  const marks = new Map(); // line → {level: the gravest there, words: of all that is said of it}
  for (const { line, level, message } of problems()) {
    const said = marks.get(line);
    if (line) marks.set(line, { level: said?.level ?? level, words: [...(said?.words ?? []), message] });
  }
  const { unreadable } = page.view ?? {};
  if (unreadable?.line) marks.set(unreadable.line, { level: "blocking", words: [unreadable.message] });
  back.replaceChildren(...colouredYaml(area.value));
  const number = (_, n) => {
    const mark = marks.get(n + 1);
    return el("span", mark ? { class: `at ${mark.level}`, title: mark.words.join("\n") } : {}, String(n + 1));
  };
  gutter.classList.toggle("old", page.late); // the marks are those of the text before
  gutter.replaceChildren(...area.value.split("\n").map(number));
};
let written = ""; // the text that was put there last, by no hand: what is typed in it the editor takes back itself
const show = () => {
  if (area.value !== page.text) {
    const at = area.selectionStart;
    area.value = page.text;
    written = page.text;
    showText(find(".yaml .refused"), ""); // it was said of what stood here before
    if (document.activeElement === area) area.setSelectionRange(at, at);
  }
};

// What the numbers cover is out of sight: the caret is not left below them (scroll-padding).
function keepTextClear() {
  const note = () => find(".yaml .sheet").style.setProperty("--numbers", `${gutter.offsetWidth}px`);
  new ResizeObserver(note).observe(gutter);
}

// What a button did, Ctrl+Z takes back as Undo does: the editor cannot, and beside a text field there is nothing else
// to take back.
function undoByKey(event) {
  const { key, target } = event;
  const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && key.toLowerCase() === "z";
  if (!isUndo || event.defaultPrevented || document.querySelector("dialog[open]")) return;
  if (target === area ? area.value !== written : target.closest?.("input, textarea, select, [contenteditable]")) return;
  event.preventDefault();
  undo();
}

const showBeginning = () => find(".yaml .sheet").scrollTo(0, 0);

// ---- the script ----
const script = find(".script pre");

// The script of the text as it is now, which is made when it is shown.
async function scriptOfNow() {
  await settled();
  const awaited = () => page.view && !("script" in page.view) && !page.view.unreadable;
  while (awaited() && find(".away").hidden && find(".trouble").hidden)
    await new Promise((done) => setTimeout(done, 20));
  return script.textContent;
}

// `before`: the view that the draft was left in.
export function drawViews(before) {
  listenToTabs(tabs, (tab) => showView(tab.dataset.view));
  const asked = params().get("view");
  page.shownView = [asked, before].find((view) => VIEWS.includes(view)) ?? "form";
  showView(page.shownView);
  const refused = find(".yaml .refused");
  const most = page.form.spec_limit;
  const tooLarge = `A run's YAML has at most ${most / 1024} KB: nothing was pasted.`;
  limitPaste(area, roomIn(area, most), () => showText(refused, tooLarge));
  keepIndentation(area);
  indentWithTab(area);
  document.addEventListener("keydown", undoByKey);
  keepTextClear();
  area.addEventListener("input", ({ inputType }) => {
    showText(refused, "");
    paint();
    const another = inputType === "insertFromPaste" && isAnotherText(area.value, page.text);
    write(area.value, { now: false, back: inputType === "historyUndo" });
    if (another) requestAnimationFrame(showBeginning); // behind the browser, which goes to the end of what was pasted
  });
  onView(show);
  onReplaced(showBeginning);
  onProblems(paint);
  goToLine = (line) => {
    const lines = area.value.split("\n");
    const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    area.focus();
    area.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
    find(".yaml .sheet").scrollTo(0, Math.max(0, (line - 6) * 20));
  };
  onView((view) => {
    if (view && !view.unreadable)
      setText(script, (view.script ?? " ") || "The script appears once the problems beside it are fixed.");
  });
  for (const [button, words] of [
    [".script .copy", scriptOfNow],
    [".yaml .copy", () => page.text],
  ]) {
    find(button).addEventListener("click", async ({ currentTarget }) => copy(await words(), currentTarget));
  }
  find(".script .download").addEventListener("click", async () =>
    download("train.py", await scriptOfNow(), "text/x-python"),
  );
  find(".copy-command").addEventListener("click", (event) =>
    copy(`groupwise launch ${fileName()}`, event.currentTarget),
  );
  find(".yaml .download").addEventListener("click", () => download(fileName(), page.text, "application/yaml"));
}
const fileName = () =>
  `${
    (page.view?.name ?? "run")
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "") || "run"
  }.yaml`;
