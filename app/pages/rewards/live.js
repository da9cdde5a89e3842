// Three real rows beside the blocks, scored while one builds. Who answers: examples, the model, or a past run.

import { el, press, setText } from "../../ui/dom.js";
import { cut, sentence } from "../../ui/text.js";
import { HOW, STILL } from "./answer_words.js";
import { alikeBlocks, alikeNote } from "./alike_answers.js";
import { columnFault, waysOut } from "./block_faults.js";
import { blocksNow, isTraced, requireBlock, traced, waysShown } from "./builder.js";
import { action, askWorker, button, find, on, page, stopAsking } from "./core.js";
import { columnsInWords } from "./columns.js";
import { drawPoint, worth } from "./points.js";
import { addressOfFile, dataChosen, isWithoutData, isWithoutRows, runOfData, takeQuickstart } from "./source.js";
import { drawTotals, markTotals, sayOfBlocks } from "./row_totals.js";
import { plain, questionOf } from "./text.js";
import { keepAnswer, keepRowsShown, rowsShownOf, typedAnswer } from "./typed_answers.js";
import { examplesOf, findPaidWrong, paidWrongNote } from "./wrong_answers.js";

const TRACED = "score_each_block";
const PAUSE = 300; // ms without a change before the rows are scored
const SHOWN = 3;
const box = find(".live");
const say = (words, wrong = false) => {
  setText(box.querySelector(".wait"), words);
  box.classList.toggle("failed", wrong);
};
// [{row, prompt, columns, text, given: the text that stood there before anybody typed}]; of a run also `at`, the place
// of the completion among all that were brought, and no row.
let shown = [];
const examples = new Map(); // right and wrong answers, by row of the data
let past = []; // the rows that were shown before these, the last of them first
let of = ""; // whose rows they are
let from = "probes"; // who answers: the probes, the model, or a run
let wished = from; // who is to answer, as soon as they do
let failedFile = ""; // what was said as the chosen file's rows did not come
let kept = null; // {key, question}: the completions as the worker has them
let ofRun = null; // {question, listed: all completions of a run's step}
let timer = null;
let scoring = 0;

const isOn = () => waysShown() === "blocks" && !box.hidden;
let how = ""; // what is said of the answers that are here

// ---- the rows ----
// Who is to answer is chosen at once; the answers that are here stay until others come.
function wish(source) {
  wished = source;
  press(box.querySelectorAll("[data-answers]"), (one) => one.dataset.answers === source);
  if (source !== from) setText(box.querySelector(".how"), shown.length ? STILL[source] : "");
}
// Nothing came: those who answered before still do.
function wishNothing(words = "") {
  wish(from);
  setText(box.querySelector(".how"), how);
  say(words, Boolean(words));
}
// Nothing is wrong: there is something to choose first, there or here.
function sayNoData(words) {
  wishNothing();
  const there = el("a", { href: "/new" }, "Choose it there");
  const example = button("use the quickstart’s rows", takeQuickstart, "link s");
  box.querySelector(".wait").replaceChildren(`${words} `, there, ", or ", example, ".");
}
// A file's rows are not there: what one click does about it, and where all of how it is read can be set.
function sayOfFile(words) {
  failedFile = words;
  wishNothing(words);
  const { message = words, fixes = [] } = page.slip ?? {};
  const offers = fixes.flatMap(({ label, take }) => [button(label, take), " "]);
  const there = el("a", { href: addressOfFile() }, "Choose in New run how it is read");
  box.querySelector(".wait").replaceChildren(`${plain(sentence(message))} `, ...offers, there, ".");
}
// Whether they came. `anew`: what the model wrote is replaced, too; what was typed stays.
async function fetchRows(rows, source = wished, anew = false) {
  const data = dataChosen();
  wish(source);
  say(source === "model" ? "Generating answers…" : "Reading the rows…");
  const asked = { from: source, data, rows, size: 1 };
  const got = await askWorker("completions", asked, (words) => say(words), "live-rows");
  if (!got || data !== dataChosen()) return false;
  if (!got.answer) {
    if (isWithoutData(got.sentence)) sayNoData(got.sentence);
    else if (addressOfFile() && !isWithoutRows(got.sentence)) sayOfFile(got.sentence);
    else wishNothing(got.sentence);
    return false;
  }
  const before = of === data && from === source && !anew ? shown : [];
  const texts = new Map(before.map((one) => [one.row, one.given]));
  if (of !== data) examples.clear();
  of = data;
  from = source;
  if (source === "probes") for (const group of got.answer.groups) examples.set(group.row, examplesOf(group));
  shown = got.answer.groups.slice(0, SHOWN).map((group) => {
    const given = texts.get(group.row) ?? textOfGroup(group, source);
    const text = typedAnswer(of, from, group.row) ?? given;
    return { row: group.row, prompt: group.prompt, columns: group.columns ?? {}, given, text };
  });
  keepRowsShown(data, shown);
  come(source, HOW[source]);
  return true;
}
function come(source, words) {
  from = source;
  how = words;
  kept = null;
  wish(source);
  setText(box.querySelector(".how"), words);
  find("[data-do=earlier-rows]").hidden = !past.length;
  draw();
  scoreSoon(0);
}
// What the model wrote, or the right answer in the right form as an example.
function textOfGroup(group, source) {
  const [first] = group.completions;
  if (source === "model") return first?.text ?? "";
  return group.completions.find((one) => one.probe === "correct")?.text ?? "";
}
// Completions that a run was scored on at its last step: three at a time, of as many prompts as there are.
async function fetchRun() {
  const run = runOfData();
  const data = dataChosen();
  if (!run) return;
  wish("run");
  say("Reading the run's completions…");
  const got = await askWorker("completions", { from: "run", data, run: run.id }, (words) => say(words), "live-rows");
  if (!got || data !== dataChosen()) return;
  if (!got.answer) return wishNothing(got.sentence);
  let at = 0;
  const groups = got.answer.groups.map(({ prompt, columns, completions, step }) =>
    completions.map(({ text }) => ({ row: null, at: at++, prompt, columns: columns ?? {}, given: text, text, step })),
  );
  const longest = Math.max(...groups.map((group) => group.length));
  const listed = Array.from({ length: longest }, (_, n) => groups.map((group) => group[n]).filter(Boolean)).flat();
  of = data;
  ofRun = { question: got.question, listed, name: plain(run.label).split(" · ")[0], step: groups[0][0].step };
  past = [];
  showOfRun(0);
}
function showOfRun(first) {
  shown = ofRun.listed.slice(first, first + SHOWN);
  ofRun.first = first;
  come(
    "run",
    `“${cut(ofRun.name, 40)}” wrote these at step ${ofRun.step}: real answers, to see how they would be scored.`,
  );
  kept = { key: keyOf(), question: ofRun.question };
}
function offerRun() {
  const run = page.given ? runOfData() : null;
  const tab = box.querySelector("[data-answers=run]");
  tab.hidden = !run && from !== "run";
  tab.title = run ? `What “${plain(run.label).split(" · ")[0]}” wrote` : "";
}
function draw() {
  box.querySelector(".rows").replaceChildren(...shown.map(rowCard));
}
function rowCard(one, n) {
  const prompt = questionOf(one.prompt);
  const columns = columnsInWords(one.columns, 60, prompt).slice(0, 4);
  const place = one.row === null ? `Completion ${n + 1}` : `Row ${one.row + 1}`;
  return el(
    "section.row-of",
    { "aria-label": place },
    el(
      "div.row.tight",
      one.row === null ? "" : el("label.xs.mut", "row ", rowNumber(one, n)),
      el("span.s.row-prompt", { title: cut(prompt, 600) }, cut(prompt, 120)),
      el("span.s.total"),
    ),
    columns.length ? el("p.xs.mut", columns.join(" · ")) : "",
    ...answerBox(one, n),
    el("div.points", { "aria-live": "polite" }),
  );
}
// What a run wrote stays as it is; what was changed can be put back.
function answerBox(one, n) {
  const area = el("textarea.input.mono", {
    rows: "3",
    spellcheck: "false",
    readonly: one.row === null,
    "aria-label": one.row === null ? `What the run wrote, ${n + 1}` : `Answer to row ${one.row + 1}`,
  });
  area.value = one.row === null ? plain(one.text) : one.text;
  const nothing = el("span.xs.warn.no-text");
  const back = button(`Put back what ${from === "model" ? "the model wrote" : "was here"}`, putBack, "link xs");
  const sayOfText = () => {
    setText(nothing, one.text === "" ? "(empty)" : one.text.trim() ? "" : "(only white space)");
    back.hidden = one.text === one.given;
  };
  area.addEventListener("input", () => {
    one.text = area.value;
    keepAnswer(of, from, one);
    sayOfText();
    scoreSoon();
  });
  function putBack() {
    area.value = one.given;
    area.dispatchEvent(new Event("input", { bubbles: true }));
    area.focus();
  }
  sayOfText();
  return [area, el("div.row.tight.of-answer", nothing, back)];
}
function rowNumber(one, n) {
  const which = el("input.input.num", {
    type: "text",
    inputmode: "numeric",
    value: String(one.row + 1),
    "aria-label": `Number of row ${n + 1}`,
  });
  which.addEventListener("change", () => {
    const wanted = parseInt(which.value, 10);
    const taken = shown.some((each, m) => m !== n && each.row === wanted - 1);
    if (wanted >= 1 && !taken) fetchRows(shown.map((each, m) => (m === n ? wanted - 1 : each.row)));
    else which.value = String(one.row + 1);
  });
  return which;
}

// ---- the scores ----
const keyOf = () => JSON.stringify([of, from, shown.map(({ row, at, text }) => ({ row, at, text }))]);
function scoreSoon(ms = PAUSE) {
  clearTimeout(timer);
  scoring += 1; // scores that are on their way are of what was before
  for (const node of box.querySelectorAll(".points, .total")) node.classList.add("old");
  markTotals();
  timer = setTimeout(score, ms);
}
async function score() {
  if (!isOn()) return;
  if (!shown.length || of !== dataChosen()) {
    fetchRows(rowsShownOf(dataChosen()) ?? SHOWN);
    return;
  }
  const mine = ++scoring;
  if (!traced.code) {
    // Of blocks that are not complete the scores before them stay, as old ones.
    const some = blocksNow().length > 0;
    for (const node of box.querySelectorAll(some ? ".paid" : ".points, .total, .paid")) node.replaceChildren();
    if (!some) drawTotals();
    const old = box.querySelector(".total b") ? "These scores are from before the last change. " : "";
    return say(some ? old + traced.why : "Add a block: its scores are shown here.");
  }
  const key = keyOf();
  if (kept?.key !== key) {
    if (from === "run") return fetchRun();
    const textsOf = ({ row, text }) => [text, ...(examples.get(row) ?? [])].map((each) => ({ row, text: each }));
    const asked = { from: "typed", data: of, typed: shown.flatMap(textsOf) };
    const got = await askWorker("completions", asked, (words) => say(words), "live-typed");
    if (mine !== scoring || !got) return;
    if (!got.answer) return say(got.sentence ?? "", true);
    kept = { key, question: got.question };
  }
  const functions = [{ name: TRACED, code: traced.code, parameters: {}, weight: 1, timeout: 10 }];
  const got = await askWorker("score", { completions: kept.question, functions }, (words) => say(words), "live");
  if (mine !== scoring || !got || !isTraced()) return;
  if (!got.answer) {
    kept = null; // the worker may have forgotten them
    return say(got.sentence ?? "", true);
  }
  drawPoints(got.answer);
}
function drawPoints(answer) {
  const [one] = answer.functions;
  const scored = answer.groups.flatMap((group) => group.completions.map((each) => ({ ...each, row: group.row })));
  for (const [n, node] of [...box.querySelectorAll(".points")].entries()) {
    const { row, at: place } = shown[n];
    const at = row === null ? place : scored.findIndex((each) => each.row === row);
    const total = scored[at]?.scores?.[TRACED]?.value;
    const sum = node.parentElement.querySelector(".total");
    for (const each of [node, sum]) each.classList.remove("old");
    node.replaceChildren(...blocksNow().map((block, m) => drawPoint(block, m, one.extras?.[`block ${m + 1}`]?.[at])));
    sum.replaceChildren("score ", el("b.num", worth(total)));
  }
  const pointsAt = (at) => blocksNow().map((_, m) => one.extras?.[`block ${m + 1}`]?.[at]);
  drawTotals();
  notePaidWrong(scored.map((each, at) => ({ ...each, total: each.scores?.[TRACED]?.value, points: pointsAt(at) })));
  sayFailure(one.failures?.[0]);
}
// Where a block's column is not in the data, that is why.
function sayFailure(failed) {
  const missing = failed && columnFault();
  if (!missing) return say(failed ? `It failed: ${plain(cut(failed.message ?? "", 300))}` : "", Boolean(failed));
  say("", true);
  box.querySelector(".wait").replaceChildren(plain(missing.message), ...waysOut(missing).flatMap((one) => [" ", one]));
}
// What stands beside the rows where one of them pays for a wrong answer.
function notePaidWrong(scored) {
  const found = shown
    .filter(({ row }) => row !== null)
    .map(({ row }) => ({
      row,
      ...findPaidWrong(
        scored.filter((one) => one.row === row),
        blocksNow(),
      ),
    }))
    .find(({ wrong }) => wrong);
  const isOfExamples = from !== "run" && scored.length > shown.length;
  const written = from === "model" ? shown.map(({ row }) => scored.find((one) => one.row === row)) : [];
  const notes = found ? [paidWrongNote(found, worth, requireBlock)] : alikeNote(scored, worth, isOfExamples, written);
  sayOfBlocks(alikeBlocks(scored, blocksNow(), worth, isOfExamples));
  box.querySelector(".paid").replaceChildren(...notes);
}
const isOfData = () => of === dataChosen() && shown.length > 0;
async function otherRows() {
  if (wished === "run") {
    if (from !== "run") return undefined; // its first ones are on their way
    past.push(ofRun.first);
    const next = ofRun.first + SHOWN;
    return showOfRun(next < ofRun.listed.length ? next : 0);
  }
  if (!isOfData()) return fetchRows(SHOWN);
  const rows = shown.map((one) => one.row);
  const last = Math.max(...rows);
  past.push(rows);
  if (!(await fetchRows([last + 1, last + 2, last + 3]))) past.pop();
  return undefined;
}
function earlierRows() {
  const rows = past.pop();
  if (rows === undefined) return undefined;
  return from === "run" ? showOfRun(rows) : fetchRows(rows);
}

export function drawLive() {
  on("built", () => scoreSoon());
  on("way", () => (isOn() ? scoreSoon(0) : stopAsking("live")));
  on("data", () => {
    shown = [];
    past = [];
    ofRun = null;
    from = "probes";
    wish(from);
    for (const node of box.querySelectorAll(".rows, .paid")) node.replaceChildren();
    drawTotals();
    offerRun();
    failedFile = "";
    scoreSoon(0);
  });
  on("columns", () => failedFile && sayOfFile(failedFile)); // what can be done about it is known by now
  for (const what of ["columns", "runs"]) on(what, offerRun);
  action("other-rows", otherRows);
  action("earlier-rows", earlierRows);
  const rows = () => (shown.length && from !== "run" ? shown.map((one) => one.row) : SHOWN);
  for (const tab of box.querySelectorAll("[data-answers]"))
    tab.addEventListener("click", () => {
      if (from === "run") past = []; // places among a run's completions, not rows
      return tab.dataset.answers === "run" ? fetchRun() : fetchRows(rows(), tab.dataset.answers, true);
    });
}
