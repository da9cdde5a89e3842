// The import dialog: a script, a notebook, a recipe or a spec, chosen, dropped or pasted. What it comes to is shown
// first, with the reward functions that come along, and taken when a person says so.

import { el, setText, showText, textOf } from "../../ui/dom.js";
import { countWords } from "../../ui/number.js";
import { limitPaste, roomIn } from "../../ui/paste_limit.js";
import { asOwnDraft } from "../../ui/run_drafts.js";
import { acceptDrops } from "../../ui/stray_drops.js";
import { settingLines } from "./arrival.js";
import { find, onNotes, onView, page, replaceText, server } from "./core.js";
import { drawNotes, notesHeading } from "./note_list.js";

const MOST_FILE = 50 * 1024 * 1024; // bytes: notebooks hold pictures, which stay here
// Data by its name, of what is read as data and is no text that could be a script or a recipe, too.
const DATA_FILE = /\.(csv|tsv|jsonl|parquet|xlsx?|ods)(\.gz)?$/i;
const NO_ANSWER = "The server did not answer. Try again.";
const dialog = find("dialog.importing");
const paste = dialog.querySelector(".paste");
const file = dialog.querySelector("input.import");
const drop = dialog.querySelector(".drop");
const take = dialog.querySelector(".take-it");
const box = dialog.querySelector(".brought");
const unchosen = box.querySelector(".unchosen");
let name = ""; // of the file; "" for what is pasted
let read = null; // {text, name}: what was read last
let timer = null;

const wrong = (words) => showText(dialog.querySelector(".said"), words);

function clear() {
  read = null;
  box.hidden = true;
  dialog.classList.remove("read");
  take.disabled = true;
  setText(take, "Import");
}
// What is saved has been shown: nothing is taken before the summary of exactly this text stands.
const isShown = () => read?.name === name && read.text === asRead(paste.value);
function sayReading() {
  take.disabled = true;
  setText(take, "Reading…");
}

// A text as it is read: of a notebook only its code, without what its cells printed.
const asRead = (text) => (/^\s*\{/.test(text) ? codeOfNotebook(text) : text);
function codeOfNotebook(text) {
  try {
    const whole = JSON.parse(text);
    const cells = whole.cells ?? whole.worksheets?.[0]?.cells;
    const kept = cells.map(({ cell_type, source, input }) => ({ cell_type, source: source ?? input ?? "" }));
    return JSON.stringify({ cells: kept.filter((cell) => cell.cell_type === "code") });
  } catch {
    return text; // the server says what is wrong with it
  }
}

async function readNow() {
  clearTimeout(timer);
  const held = paste.value;
  const text = asRead(held);
  if (!text.trim()) {
    wrong("");
    return clear();
  }
  if (isShown()) return offerTake();
  clear();
  if (text.length > page.form.spec_limit) {
    return wrong(tooLarge("This"));
  }
  sayReading();
  const sent = { name, text };
  const got = await askServer({ ...sent, dataset: 0 }, () => paste.value === held && name === sent.name);
  if (got) {
    read = sent;
    draw(got);
  } else if (paste.value === held) setText(take, "Import");
}

// What the server finds in a text; null where that is wanted no more, or where it says what is wrong.
async function askServer(sent, isWanted) {
  const got = await server.read_import(sent);
  if (!isWanted()) return null;
  wrong(got ? (got.sentence ?? "") : NO_ANSWER);
  return !got || got.sentence ? null : got;
}

// ---- what was found ----
function draw(got) {
  box.hidden = false;
  dialog.classList.add("read");
  paste.scrollTop = 0;
  setText(box.querySelector(".kind"), `Read as ${got.kind}.`);
  drawSummary(got);
  drawDatasets(got);
  drawFunctions(got.functions);
}

function drawSummary({ summary, notes }) {
  const pairs = summary.flatMap(([what, words]) => [el("dt", what), el("dd", words)]);
  box.querySelector(".summary").replaceChildren(...pairs);
  const left = box.querySelector(".left-out");
  left.hidden = !notes.length;
  setText(left.querySelector("h3"), notesHeading(notes));
  left.querySelector("ul").replaceChildren(...notes.map((note) => el("li", note)));
}

// One of the datasets that a script joins, or none yet: then the run has no data until one is chosen under Data. None
// is chosen to begin with, and nothing is imported before: that is said beside the choices.
function drawDatasets({ datasets: names, untaken }) {
  const part = box.querySelector(".datasets");
  part.hidden = !names.length;
  const choice = (words, number) => {
    const input = el("input", { type: "radio", name: "dataset", value: String(number) });
    input.addEventListener("change", () => {
      showText(unchosen, "");
      readChosen();
    });
    return el("label.choice", input, el("span", words));
  };
  const choices = [...names.map((name, n) => choice(`Take ${name}`, n + 1)), choice("Choose the data later", 0)];
  // where there is nothing to choose, nothing may wait for a choice that nobody sees
  const others = untaken.map((why) => el("p.s.mut", why));
  showText(unchosen, "");
  part.replaceChildren(part.querySelector("legend"), unchosen, ...(names.length ? [...choices, ...others] : []));
}
// Whether a dataset is still to be chosen; then that is said, where one chooses.
function awaitsChoice() {
  const first = box.querySelector(".datasets input");
  if (!first || box.querySelector(".datasets input:checked")) return false;
  showText(unchosen, "Choose one of these datasets, or “Choose the data later”.");
  first.focus();
  return true;
}
const dataset = () => Number(box.querySelector(".datasets input:checked")?.value ?? 0);

// What the script comes to with the dataset that was chosen: its prompts and answers are made in a way of its own.
async function readChosen() {
  const [one, of] = [dataset(), read];
  const isWanted = () => read === of && dataset() === one;
  sayReading();
  const got = await askServer({ ...of, dataset: one }, isWanted);
  if (got) drawSummary(got);
  if (isWanted()) offerTake();
}

function drawFunctions(functions) {
  const part = box.querySelector(".functions");
  part.hidden = !functions.length;
  setText(part.querySelector("h3"), "Reward functions of the script");
  part.querySelector("ul").replaceChildren(...functions.map(functionRow));
  offerTake();
}

function functionRow(one) {
  const input = el("input", { type: "checkbox", value: one.name });
  input.checked = !one.secret;
  input.disabled = one.secret;
  input.addEventListener("change", offerTake);
  const renamed = one.saved_as === one.name ? null : el("p.s", `Saved as ${one.saved_as}. ${one.why}`);
  const secret = one.secret
    ? el("p.s.wrong", "The code holds a secret: it cannot be saved. Read it from the environment (os.environ).")
    : null;
  const problems = one.problems.map((each) =>
    el(`p.s${each.grave ? ".wrong" : ".mut"}`, `${each.at}: ${each.message}`),
  );
  const brings = one.imports.length ? el("p.s.mut", "Imports: ", el("span.mono", one.imports.join("; "))) : null;
  return el(
    "li",
    el("label.choice", input, el("b.mono", one.name), el("span.s.mut", " save in the library")),
    renamed,
    secret,
    ...problems,
    brings,
    el("details", el("summary.s", "Code"), el("pre.mono.xs", { tabindex: "0" }, one.code)),
  );
}

const chosen = () => [...box.querySelectorAll(".functions input:checked")].map((input) => input.value);
function offerTake() {
  if (!isShown()) return;
  take.disabled = false;
  const count = chosen().length;
  setText(take, count ? `Import with ${countWords(count, "function")}` : "Import");
}

// ---- what is brought: it is in the box only where it can be read whole ----
const tooLarge = (what) =>
  `${what} is larger than ${page.form.spec_limit / 1024} KB. Import only the part that trains.`;
function put(text) {
  paste.value = text;
  return readNow();
}
// Why a file cannot be read, in a sentence; "" where it was.
async function readFile(brought) {
  const said = `“${brought.name}”`;
  if (DATA_FILE.test(brought.name)) return `${said} is data: choose it under Data, File.`;
  if (brought.size > MOST_FILE) return `${said} is larger than ${MOST_FILE / 1024 / 1024} MB.`;
  const text = await textOf(brought);
  if (text === null) return `${said} is not text in UTF-8.`;
  if (!text.trim()) return `${said} is empty.`;
  const readable = asRead(text);
  if (readable.length > page.form.spec_limit) return tooLarge(said);
  name = brought.name;
  setText(dialog.querySelector(".chosen"), name);
  await put(readable);
  return "";
}
async function bring(brought) {
  if (!brought) return;
  const sentence = await readFile(brought);
  if (!sentence) return;
  clear();
  wrong(sentence);
}
// What is pasted and more than the box may hold: a notebook without its pictures may be less.
function bringLarge(text) {
  const readable = text.length > MOST_FILE ? text : asRead(text);
  if (readable.length > page.form.spec_limit) wrong(`${tooLarge("What was pasted")} It was left out.`);
  else put(readable);
}

async function takeNow(event, from) {
  event.preventDefault();
  if (!isShown()) {
    readNow();
    return;
  }
  if (awaitsChoice()) return;
  take.disabled = true;
  const got = await server.take_import({ ...read, functions: chosen(), dataset: dataset() });
  take.disabled = !isShown();
  if (!got || got.sentence) {
    wrong(got?.sentence ?? NO_ANSWER);
    return;
  }
  if (got.rewards) page.form.rewards = got.rewards;
  const saved = got.saved.length ? ` Saved in the library: ${got.saved.join(", ")}.` : "";
  from(`Imported${name ? ` from ${name}` : ""}.${saved}`, asOwnDraft(""), settingLines(got.text));
  page.given = { named: got.named };
  replaceText(got.text, { notes: got.notes });
  dialog.close();
}

// What is in the box is of no file.
function forgetFile() {
  name = "";
  setText(dialog.querySelector(".chosen"), "or drop it here, or paste it below");
}

// Opens the dialog, with a text if there is one.
export function openImport(text = "") {
  forgetFile();
  paste.value = text;
  wrong("");
  clear();
  dialog.showModal();
  paste.focus();
  if (text) readNow();
}

export function drawImporting(from) {
  onNotes(drawNotes);
  onView(drawNotes);
  find("[data-do=import]").addEventListener("click", () => openImport());
  dialog.querySelector(".close").addEventListener("click", () => dialog.close());
  dialog.querySelector(".choose").addEventListener("click", () => file.click());
  dialog.querySelector("form").addEventListener("submit", (event) => takeNow(event, from));
  file.addEventListener("change", () => {
    const [first] = file.files;
    bring(first).then(() => {
      file.value = "";
    });
  });
  paste.addEventListener("paste", () => {
    if (paste.selectionEnd - paste.selectionStart === paste.value.length) forgetFile();
  });
  limitPaste(paste, roomIn(paste, page.form.spec_limit), bringLarge);
  paste.addEventListener("input", () => {
    clearTimeout(timer);
    if (!paste.value.trim()) forgetFile();
    else sayReading();
    timer = setTimeout(readNow, 250);
  });
  acceptDrops(drop, ([one]) => bring(one));
  // A recipe that is pasted over the YAML of a run is converted: nothing in it has a spec's names.
  find(".yaml textarea").addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (!/^(model_name_or_path|reward_funcs|dataset_name):/m.test(text)) return;
    event.preventDefault();
    openImport(text);
  });
}
