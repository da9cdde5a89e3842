// How functions come and go: templates, import of a file or of what is pasted, export, a copy, into a new run.

import { download, el, setText, textOf } from "../../ui/dom.js";
import { currentDraft, keepDataOf } from "../../ui/run_drafts.js";
import { acceptDrops } from "../../ui/stray_drops.js";
import { action, call, find, page } from "./core.js";
import { NOT_TAKEN, settle } from "./builder.js";
import { GRAVE, asksFor, changedWords, code, isUnsaved, looked, sayNote, standInWords } from "./editor.js";
import { beginBuilding, newText } from "./library.js";
import { obstacle, save } from "./saving.js";
import { beginningOfRun, dataChosen } from "./source.js";
import { plain } from "./text.js";
import { isOfMaker, isOfScript, offerImport } from "./whole_script.js";

const templates = find("dialog.templates");
const importing = find("dialog.importing");

// ---- import ----
const paste = importing.querySelector(".paste");
const file = importing.querySelector(".file");
const wrong = (words) => setText(importing.querySelector(".said"), words);
const opener = importing.querySelector("[type=submit]");
let brought = null;
let shownOf = ""; // the text of which it is told what was found
let chosen = "";
let whole = false; // the script comes along, too
let timer = null;
const isShown = () => Boolean(brought) && shownOf === paste.value;
// Nothing is opened before it is told what was found in exactly what stands in the box.
function drawOpener(reading) {
  opener.disabled = reading;
  setText(opener, reading ? "Reading…" : "Open in the editor");
}
async function read() {
  clearTimeout(timer);
  const text = paste.value;
  drawOpener(Boolean(text.trim()));
  const got = await call("clean_paste", { text }, wrong);
  if (text !== paste.value) return;
  brought = got ?? null;
  shownOf = text;
  drawOpener(false);
  const names = (brought?.functions ?? []).map((one) => one.name);
  if (!names.includes(chosen)) chosen = names[0] ?? "";
  draw();
}
function draw() {
  const box = importing.querySelector(".told");
  const found = brought?.functions ?? [];
  if (!brought || !paste.value.trim()) {
    box.replaceChildren();
    return;
  }
  const one = (each) => {
    const input = el("input", { type: "radio", name: "which", value: each.name });
    input.checked = each.name === chosen;
    input.addEventListener("change", () => {
      chosen = each.name;
    });
    return el("label.choice", input, el("b.mono", plain(each.name)), " ", el("span.mut", plain(each.help)));
  };
  box.replaceChildren(
    found.length > 1
      ? el("p", "Which one do you want to open? All of them are kept, and each can be saved under its own name.")
      : "",
    ...(found.length > 1
      ? found.map(one)
      : found.map((each) => el("p", "Found ", el("b.mono", plain(each.name)), `. ${asksFor(each)}`))),
    ...toldAtOnce(brought.problems).map((each) =>
      el("p", { class: `verdict-at ${GRAVE[each.level] ?? "warning"}` }, placed(each)),
    ),
    ...offerImport(brought.problems, brought.text),
    brought.cleaned ? el("p.mut", cleanedWords(brought)) : "",
    brought.alone ? aloneChoice() : "",
    !whole && brought.stand_ins.length ? el("p.verdict-at.advice", standInWords(brought.stand_ins)) : "",
  );
}
const placed = (each) => `${isOfScript(each) ? "" : `line ${each.line}: `}${plain(each.message)}`;
// Few of the problems, without style; what makes a function that is not in the list above always, and first.
function toldAtOnce(problems) {
  const others = problems.filter((each) => !each.lint && !isOfMaker(each));
  return [...problems.filter(isOfMaker), ...others.slice(0, 6)];
}
// What became of what stood around the Python: lines of a shell or an output stay as comments, prompts (>>>) go.
const cleanedWords = ({ commented }) =>
  changedWords({ commented }) || "Notebook and terminal text around the Python was removed.";
// Of a script only the functions and what they need, unless all of it is wanted.
function aloneChoice() {
  const input = el("input", { type: "checkbox" });
  input.checked = !whole;
  input.addEventListener("change", () => {
    whole = !input.checked;
    draw();
    importing.querySelector(".alone input").focus(); // it was drawn anew
  });
  return el(
    "label.choice.alone",
    input,
    el(
      "span",
      "Comment out the script around the functions",
      el("span.xs.mut.block", "Loading models and data cannot run in a reward function."),
    ),
  );
}

async function takeFile(got) {
  if (!got) return undefined;
  const most = page.about.most_code;
  if (got.size > most)
    return wrong(`“${got.name}” is larger than ${most / 1024} KB: that is more than a reward function.`);
  const text = await textOf(got);
  if (text === null) return wrong(`“${got.name}” is not text in UTF-8.`);
  paste.value = text;
  return read();
}
async function openImported(event) {
  event.preventDefault();
  if (!paste.value.trim()) {
    wrong("Paste a function, or choose a file.");
    return;
  }
  if (!isShown()) {
    read();
    return;
  }
  importing.close();
  newText(brought.alone && !whole ? brought.alone : brought.text, { which: chosen });
  sayNote(changedWords(brought, brought.alone && !whole));
  const line = brought.functions.find((one) => one.name === chosen)?.line;
  if (line) code.gotoLine(line, 0, false);
  code.focus();
}
function copyAsOwn() {
  const name = page.open.name;
  const taken = new Set([...page.about.library.own, ...page.about.library.built_in].map((one) => one.name));
  let own = `my_${name}`;
  for (let n = 2; taken.has(own); n += 1) own = `my_${name}_${n}`;
  newText(page.text.replace(new RegExp(`\\bdef ${name}\\b`), `def ${own}`), { which: own });
  code.focus();
}
// What is not saved is saved first. New run adds the function to the draft it is at in this tab, and says so.
async function useInNewRun() {
  if (!(await settle())) return sayNote(NOT_TAKEN, true);
  await looked();
  const wrong = page.open.builtIn ? null : obstacle();
  if (wrong) return sayNote(wrong.words, true, ...wrong.ways.flatMap((one) => [" ", one]));
  if (isUnsaved() && !(await save())) return;
  const had = currentDraft() ? await call("run_rewards", { data: dataChosen() }, () => {}) : null;
  keepDataOf(page.open.name, had);
  location.href = `/new?${new URLSearchParams([...beginningOfRun(), ["reward", page.open.name]])}`;
}

function drawTemplates() {
  action("templates", () => {
    templates.showModal();
    templates.querySelector(".take").focus();
  });
  templates.querySelector(".without").replaceChildren(
    el(
      "button.take.boxed",
      {
        type: "button",
        onclick: () => {
          templates.close();
          beginBuilding();
        },
      },
      el("b", "Build without code"),
      el(
        "span.s.mut",
        "Put it together from blocks: the right number, words, a length, a pattern. Scored on three rows as you go.",
      ),
    ),
  );
  templates.querySelector("ul").replaceChildren(
    ...page.about.templates.map((one) =>
      el(
        "li",
        el(
          "button.take.boxed",
          {
            type: "button",
            onclick: () => {
              templates.close();
              newText(one.code, { keep: false });
              code.focus();
            },
          },
          el("b", one.title),
          el("span.s.mut", one.sentence),
        ),
      ),
    ),
  );
}
function openImport() {
  paste.value = "";
  brought = null;
  chosen = "";
  whole = false;
  draw();
  drawOpener(false);
  wrong("");
  importing.showModal();
  paste.focus();
}
function drawImport() {
  action("import", openImport);
  importing.querySelector(".choose").addEventListener("click", () => file.click());
  file.addEventListener("change", () => {
    takeFile(file.files[0]);
    file.value = "";
  });
  for (const place of [importing, find(".shelf"), find(".welcome")])
    acceptDrops(place, ([one]) => {
      if (!importing.open) openImport();
      takeFile(one);
    });
  paste.addEventListener("input", () => {
    clearTimeout(timer);
    drawOpener(Boolean(paste.value.trim()) && !isShown());
    timer = setTimeout(read, 250);
  });
  importing.querySelector("form").addEventListener("submit", openImported);
}

export function drawTransfer() {
  drawTemplates();
  drawImport();
  action("export", () => download(`${page.which || page.open.name || "reward"}.py`, page.text, "text/x-python"));
  action("own", copyAsOwn);
  action("use", useInNewRun);
}
