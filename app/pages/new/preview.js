// How the data looks to the model: any row's prompt exactly as it is read, and what a check of many rows found.

import { el, setText } from "../../ui/dom.js";
import { countWords, wholeNumber } from "../../ui/number.js";
import { sentence } from "../../ui/text.js";
import { visibleText } from "../../ui/visible_text.js";
import { isLong } from "../../ui/wait_words.js";
import { drawAnswerNumbers } from "./answer_numbers.js";
import {
  announceColumns,
  announcePreview,
  askWorker,
  blocking,
  edit,
  find,
  onView,
  page,
  settleIn,
  shownAt,
  workerSaid,
} from "./core.js";
import { plainOf } from "./data.js";
import { isDataChosen } from "./data_names.js";
import { about } from "./fields.js";
import { drawPromptLengths } from "./prompt_lengths.js";

const node = find(".preview");
const inNode = (selector) => node.querySelector(selector);
const wait = inNode(".wait");
const body = inNode(".body");
const guessed = find(".guess"); // above the fields that it is for
let row = null; // until a person chooses one: the first that the filter keeps
let of = null;
let key = null;
let shownSource = null; // that of the rows, columns and counts that are shown
let exact = false;
let last = null;
let checked = null; // the check's key that was asked about last
let soon = null;

const NOT_CHOSEN = "No data yet. Once it is chosen above, its rows are shown here as the model will see them.";
const NOT_READ = "the data was not read to its end";
// While other data is read for the first time its room is kept: what stands below would move from under the pointer.
function keepRoom() {
  if (body.hidden) node.classList.add("unread");
}
const endRoom = () => node.classList.remove("unread");
// Nothing of other data than what is chosen now stays in sight: neither rows, nor columns, nor counts.
function forgetRows(words) {
  shownSource = null;
  last = null;
  of = null;
  row = null;
  checked = null;
  page.known = {};
  page.columns = [];
  const high = body.hidden ? 0 : node.offsetHeight; // 0, too, where another view is shown
  if (high) node.style.setProperty("--room", `${high}px`); // the next is likely as high
  endRoom();
  body.hidden = true;
  guessed.hidden = true;
  inNode(".results").hidden = true;
  setText(inNode(".wait-checks"), "Checking rows…");
  setText(wait, words);
  announceColumns();
}
function forgetOtherData(view) {
  const { source, preview } = view.keys ?? {};
  const chosen = isDataChosen(shownAt("data.source"));
  const counted = Object.keys(page.known).length > 0;
  if (!preview) forgetRows(chosen ? "The preview appears once the data settings are fixed." : NOT_CHOSEN);
  else if (shownSource && shownSource !== source) {
    forgetRows("Reading the data…");
    keepRoom();
  }
  if (!preview && counted) settleIn(0); // nor is anything worked out by what was counted
}
// Counts are of exactly the data that was asked about: of another limit, say, none is in sight.
function hideOldCounts({ keys, unreadable }) {
  const isOld = Boolean(last) && !unreadable && page.known.rows_of !== keys?.rows;
  if (isOld) setText(inNode(".wait-checks"), "");
  node.classList.toggle("recounting", isOld);
}

async function look() {
  const { preview: mine, source, reading, rows } = page.view?.keys ?? {};
  if (page.view?.unreadable) return undefined;
  key = mine ?? null;
  if (!mine) return node.classList.remove("asking");
  node.classList.add("asking");
  keepRoom();
  const isCurrent = () => page.view?.keys?.preview === mine;
  const began = Date.now();
  // where something is shown already, once it takes long
  const tell = (words) => isCurrent() && (!last || isLong(began)) && setText(wait, words);
  const late = setTimeout(() => isCurrent() && setText(wait, "Reading the data…"), 300);
  const found = await askWorker("preview", { row }, tell);
  clearTimeout(late);
  if (!found) return undefined; // the worker is asked about the other data by now
  if (!isCurrent()) {
    key = null; // an answer about older settings is none, also where these come back before they are asked about anew
    return undefined;
  }
  node.classList.remove("asking");
  if (found.lost) {
    key = null;
    soon = setTimeout(look, 2000);
    return undefined;
  }
  setText(wait, "");
  if (found.error) {
    const unreadable = Boolean(found.problems?.length); // a helper that ended says nothing of the data
    forgetRows(`Nothing to show: ${unreadable ? "this data cannot be read as it is set above" : NOT_READ}.`);
    page.known = { source, unreadable }; // nothing that follows from the columns of what is unreadable is listed
    announcePreview({ ...found, reading });
    settleIn(0); // what was counted is known no more; and where a file is gone, the app says it
    return workerSaid(
      "preview",
      mine,
      found.problems ?? [{ field: found.field || "data.source", message: found.error, level: "blocking", fixes: [] }],
    );
  }
  last = found;
  of = found.rows;
  shownSource = source;
  page.columns = found.columns.map((column) => column.name);
  if (page.known.source !== source || page.known.unreadable) page.known = { source };
  // what was counted belongs to exactly the data that was asked about
  if (page.known.rows_of !== rows) page.known = { source, reading: page.known.reading, rows_of: rows };
  const empty = found.columns.filter(({ kind }) => kind === "empty").map(({ name }) => name);
  Object.assign(page.known, { columns: page.columns, empty, rows_read: of.count });
  hideOldCounts(page.view);
  announceColumns();
  announcePreview({ ...found, reading });
  workerSaid("preview", mine, found.problems);
  draw();
  suggest(found.guess ?? {});
  return check();
}
// A mapping that would fit these columns, offered when the one there does not.
function suggest(guess) {
  const isNew = ([path, value]) =>
    value === null && path !== "data.answer_column" ? shownAt(path) !== "" : plainOf(path) !== value;
  const entries = Object.entries(guess).filter(isNew);
  const wrong = last.problems.some((problem) => problem.level === "blocking");
  guessed.hidden = !entries.length || !wrong;
  if (guessed.hidden) return;
  const change = ([path, value]) =>
    value === null && path !== "data.answer_column" ? { path, remove: true } : { path, value };
  const use = () => edit(entries.map(change));
  const button = el("button.btn.s", { type: "button", onclick: use }, "Use this mapping");
  guessed.replaceChildren(el("span.s", "Suggested mapping: ", ...entries.flatMap(namedEntry)), button);
}
// What a suggestion sets, and what goes with it.
function namedEntry([path, value], n) {
  const label = about(path).label.toLowerCase();
  const between = n ? ", " : "";
  return value === null
    ? [`${between}${label} left empty${path === "data.prompt_column" ? ", as the template makes the prompt" : ""}`]
    : [`${between}${label} = `, el("code.mono", visibleText(String(value)))];
}

// What keeps a row's prompt from being shown: the setting that is missing, or the one to fix.
function sayNoPrompt() {
  const ofOthers = /^data\.(answer|filter|columns)/; // which no prompt is made of
  const wrong = last.problems.find(({ field, level }) => level === "blocking" && !ofOthers.test(field));
  if (!wrong) return "The prompt of this row is empty.";
  if (!shownAt("data.prompt_column") && !shownAt("data.prompt_template"))
    return "No prompt yet: choose the column that holds it, or write a template.";
  return `No prompt yet: it comes once “${about(wrong.field).label}” is fixed.`;
}

function draw() {
  body.hidden = false;
  const count = of.exact ? wholeNumber(of.count) : `about ${wholeNumber(of.count)}`;
  setText(inNode(".of"), `of ${count}`);
  const number = inNode(".row-number");
  if (document.activeElement !== number) number.value = last.row.index + 1;
  inNode(".kept").hidden = last.row.kept;
  setText(inNode(".tokens"), last.tokens === null ? "" : countWords(last.tokens, "token"));
  setText(inNode(".answer b"), visibleText(last.answer ?? "none"));
  setText(inNode(".answer .written"), last.written_answer ? `written “${last.written_answer}”` : "");
  inNode(".answer").classList.toggle("mut", last.answer === null);
  setText(inNode(".note"), last.note ?? "");
  const shown = inNode(".shown");
  if (!last.messages && !last.prompt) shown.replaceChildren(el("p.s.mut", sayNoPrompt()));
  else if (exact || !last.messages)
    shown.replaceChildren(el("pre.mono.exact", { tabindex: "0" }, visibleText(last.prompt)));
  else
    shown.replaceChildren(
      ...last.messages.map((message) =>
        el(
          "div",
          { class: `message ${message.role}` },
          el("span.xs.mut.role", message.role),
          el("div.words", visibleText(message.content)),
        ),
      ),
    );
  const toggle = inNode(".exactly");
  toggle.hidden = !last.messages;
  toggle.setAttribute("aria-pressed", String(exact));
  inNode(".cells").replaceChildren(
    ...Object.entries(last.row.cells).map(([name, cell]) =>
      el("tr", el("th", { scope: "row" }, visibleText(name)), el("td", el("div.cell", visibleText(cell)))),
    ),
  );
}
const shownRow = () => row ?? last?.row.index ?? 0;
const to = (n) => {
  row = Math.max(0, Math.min(n, (of?.count ?? 1) - 1));
  look();
};

// ---- many rows ----
async function check(all = false) {
  const mine = page.view?.keys?.check_data;
  const box = inNode(".checks");
  if (!mine || (checked === mine && !all)) return endRoom();
  checked = mine;
  const began = Date.now();
  const button = inNode(".check-all");
  button.setAttribute("aria-disabled", String(all)); // not “disabled”: the keyboard would lose its place
  box.classList.add("asking");
  if (all) setText(inNode(".wait-checks"), "Checking all rows…");
  const found = await askWorker("check_data", { all }, (words) => {
    if (all || isLong(began)) setText(inNode(".wait-checks"), words);
  });
  if (!found) return undefined; // a newer one is under way, and frees the button
  if (page.view?.keys?.check_data !== mine) {
    checked = null; // of other data than what is chosen now; should that come back, it is asked about anew
    return undefined;
  }
  endRoom();
  button.setAttribute("aria-disabled", "false");
  box.classList.remove("asking");
  if (found.lost) {
    checked = null;
    setTimeout(() => check(all), 2000);
    return undefined;
  }
  // what is said of the data as a problem is not said again
  const said = blocking().some(({ field }) => field.startsWith("data.") || field === "data");
  setText(inNode(".wait-checks"), said ? "" : sentence(found.error ?? ""));
  inNode(".results").hidden = Boolean(found.error);
  // known first: the estimates follow by this length, and none is told by an assumed one in between
  if (!found.error && found.lengths?.unit === "tokens")
    page.known.prompt_tokens = Math.round(found.lengths.longest?.length ?? found.lengths.p95);
  workerSaid("check_data", mine, found.problems ?? []);
  if (found.error) return settleIn(0); // at least how many rows there are is known
  page.known.sums = found.sums;
  page.known.point = found.point;
  page.known.tags = found.tags;
  if (found.rows.exact && found.checked >= found.rows.count) page.known.rows = found.usable;
  drawChecks(found);
  return settleIn(0); // the estimates know the prompts' length now
}
function drawChecks(found) {
  const fact = (n, words, bad) => el("li", { class: n && bad ? "bad" : "" }, el("b", wholeNumber(n)), ` ${words}`);
  const things = (n, noun) => fact(n, n === 1 ? noun : `${noun}s`, true);
  inNode(".facts").replaceChildren(
    el("li", found.estimated ? "about " : "", el("b", wholeNumber(found.kept)), " to train on"),
    fact(found.held_out, "held out"),
    fact(found.filtered, "filtered out"),
    things(found.empty, "empty prompt"),
    things(found.duplicates, "duplicate"),
    fact(found.missing_answers, "without an answer", true),
    ...(found.room === null
      ? []
      : [fact(found.too_long, `longer than the ${countWords(found.room, "token")} that fit`, true)]),
  );
  setText(inNode(".said-checks"), found.note ?? "");
  drawAnswerNumbers(inNode(".answer-numbers"), found);
  drawPromptLengths(inNode(".histogram"), found.lengths);
  const top = found.answers?.top ?? [];
  const balance = inNode(".balance");
  balance.hidden = !(found.answers && found.answers.distinct > 1 && found.answers.distinct <= 50 && top[0]?.[1] > 2);
  if (!balance.hidden) {
    const most = Math.max(...top.map(([, n]) => n));
    balance.replaceChildren(
      el("h3", `Answers: ${found.answers.distinct} different`),
      ...top
        .slice(0, 8)
        .map(([value, n]) =>
          el(
            "div.row.tight.s.share",
            el("span.value", value),
            el("i", { style: `width:${(60 * n) / most}%` }),
            el("span.mut", wholeNumber(n)),
          ),
        ),
    );
  }
  const more = inNode(".check-all");
  const focused = document.activeElement === more;
  more.hidden = found.rows.exact && found.checked >= found.rows.count;
  if (focused && more.hidden) {
    const facts = inNode(".facts");
    facts.tabIndex = -1;
    facts.focus();
  }
}

export function drawPreview() {
  inNode(".before").addEventListener("click", () => to(shownRow() - 1));
  inNode(".after").addEventListener("click", () => to(shownRow() + 1));
  inNode(".any").addEventListener("click", () => to(Math.floor(Math.random() * (of?.count ?? 1))));
  inNode(".row-number").addEventListener("change", (event) => {
    to((parseInt(event.target.value, 10) || 1) - 1);
    event.target.value = row + 1;
  });
  inNode(".exactly").addEventListener("click", () => {
    exact = !exact;
    draw();
  });
  inNode(".check-all").addEventListener("click", ({ currentTarget }) => {
    if (currentTarget.getAttribute("aria-disabled") !== "true") check(true);
  });

  // Launch waits for the look at the data as it is now: a wrong column is said before, not after.
  page.previewed = async (tell) => {
    const isSeen = () => key === (page.view?.keys?.preview ?? null) && !node.classList.contains("asking");
    while (!isSeen() && !page.view?.unreadable) {
      tell();
      await new Promise((done) => setTimeout(done, 100));
    }
  };
  onView((view) => {
    if (view?.unreadable) return;
    forgetOtherData(view);
    hideOldCounts(view);
    if (view?.keys?.preview === key && key) {
      if (view.keys.check_data !== checked && last) {
        clearTimeout(soon);
        soon = setTimeout(() => check(), 400);
      }
      return;
    }
    clearTimeout(soon);
    soon = setTimeout(look, key ? 250 : 0);
  });
}
