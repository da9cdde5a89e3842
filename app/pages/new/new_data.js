// Other data than the form began with: what belonged to the data before leaves with it (how many rows are used and held
// out, the run's name, and that of a file's answers numbers alone are kept), once the new data was read, or, all but
// the name, as soon as none is chosen. Never what a person set otherwise; and it is said, with no number that what
// follows may change.

import { el } from "../../ui/dom.js";
import { countWords } from "../../ui/number.js";
import { edit, find, isPending, onPreview, onView, page, shownAt } from "./core.js";
import { fittingHoldout, isDataChosen } from "./data_names.js";

const NUMBERS = "data.answer_numbers"; // it goes with its file as that is left (data.js)
const EVALUATION = ["training.eval_strategy", "training.eval_on_start"];
const NAMES = { name: "name", "data.limit": "limit", "data.holdout": "holdout" };
const box = find(".fitted");
const OWN = { own: true };
const isOrAre = (n) => (n === 1 ? "is" : "are");

const seen = (shownAt) => ({
  source: shownAt("data.source"),
  name: shownAt("name"),
  limit: shownAt("data.limit"),
  holdout: shownAt("data.holdout"),
  numbers: shownAt(NUMBERS),
});
const now = () => seen(shownAt);
const rowsOf = ({ source, limit, holdout }) => JSON.stringify([source, limit, holdout]);
let saidOf = ""; // the rows that what is said speaks of
let said = []; // the settings that it speaks of
let unsay = () => {}; // says it without one of them
const setting = (path, value) => (value === "" ? { path, remove: true } : { path, typed: value });

// What is switched off as there is too little to evaluate on comes back with data that has enough.
function evaluationOff(given) {
  const on = EVALUATION.filter((path) => shownAt(path));
  if (on.length) given.evaluation = on.map((path) => setting(path, shownAt(path)));
  return on.map((path) => ({ path, remove: true }));
}
function evaluationBack(given) {
  const back = (given.evaluation ?? []).filter(({ path }) => !shownAt(path));
  given.evaluation = [];
  return back;
}

// Whether other data is chosen than the form was made to fit, and is still read: what follows from the settings is of
// the data before.
export const awaitsNewData = () => {
  const source = shownAt("data.source");
  const isRead = page.known.source === page.view?.keys?.source; // to its end, or found unreadable
  return Boolean(page.given?.first) && isDataChosen(source) && source !== page.given.source && !isRead;
};
// Whether what the form began with fits.
const isBack = ({ first }, { source }) => source === first.source || !isDataChosen(source);

// What the run is called with other data; "" where its name stays: as a person typed it, and while no data is chosen,
// which alone would give it another.
function nameWith(given, is) {
  if (!isDataChosen(is.source)) return "";
  const name = isBack(given, is) ? given.first.name : page.view.name_of_data;
  return !given.named && is.name === given.name && name !== is.name ? name : "";
}

// The edits that make the form fit `rows` rows of another source, and each in words. `given`: what the data before
// brought, with what the form began with (`first`), and whether an import gave the run its name (`named`). The words:
// [setting, what it is now] each.
function fit(given, is, rows) {
  const { first } = given;
  const back = isBack(given, is);
  const edits = [];
  const words = [];
  const set = (path, value) => edits.push(setting(path, value));
  const name = nameWith(given, is);
  if (name) {
    set("name", name);
    words.push(["name", `the run is called ${name}`]);
  }
  const limit = back ? first.limit : "";
  if (is.limit === given.limit && limit !== is.limit) {
    set("data.limit", limit);
    const atMost = `at most ${countWords(Number(limit), "row")} ${isOrAre(Number(limit))} used`;
    const isMore = rows > Number(is.limit); // else all of them were used with the limit before
    if (limit || isMore) words.push(["data.limit", limit ? atMost : "all its rows are used"]);
  }
  if (is.holdout === given.holdout && /^[1-9]\d*$/.test(first.holdout)) {
    const used = Math.min(rows, Number(limit || is.limit) || rows);
    const fitting = back ? Number(first.holdout) : fittingHoldout(Number(first.holdout), used);
    if (String(fitting) !== (is.holdout || "0")) {
      set("data.holdout", fitting ? String(fitting) : "");
      words.push([
        "data.holdout",
        fitting
          ? `${countWords(fitting, "row")} ${isOrAre(fitting)} held out for evaluation`
          : "too few rows to hold some out, so nothing is evaluated",
      ]);
      edits.push(...(fitting ? evaluationBack(given) : evaluationOff(given)));
    }
  }
  return { edits, words };
}

// A preset's comment on its own data says nothing true of other data; it is there again with what it speaks of.
const cut = (line, text, put) => ({ fix: { cut: { line, column: 0, text, put } } });
const placeOf = (comment) => `\n${page.text}`.indexOf(`\n${comment}`);
function commentOff(given) {
  const comment = page.form.data_comments.find((one) => placeOf(one) >= 0);
  if (!comment) return [];
  given.comment = comment;
  return [cut(page.text.slice(0, placeOf(comment)).split("\n").length, comment, "")];
}
function commentBack(given) {
  const { comment } = given;
  given.comment = "";
  return comment && placeOf(comment) < 0 ? [cut(1, "", comment)] : [];
}
function commentFor(given, is) {
  if (!isDataChosen(is.source)) return [];
  return isBack(given, is) ? commentBack(given) : commentOff(given);
}
// What Undo brought back is what the form began with, and nothing that a person set.
function takeBack(given, is) {
  for (const name of Object.values(NAMES)) if (is[name] === given.first[name]) given[name] = is[name];
}

function fitToData(rows) {
  const is = now();
  const { given } = page;
  if (!given?.first || is.source === given.source) return;
  page.given = { ...given, source: is.source, numbers: is.numbers }; // what a person set is nothing that data brought
  if (is.source === given.first.source) takeBack(page.given, is);
  if (find(".view-form").hidden) return; // who writes the YAML sees all of it
  const { edits, words } = fit(page.given, is, rows);
  const gone = given.numbers && !is.numbers ? [setting(NUMBERS, given.numbers)] : [];
  if (gone.length) words.push([NUMBERS, "answers are used as they are written"]);
  const made = edits.filter(({ path }) => !isPending(path)); // what is being typed is a person's
  const comment = commentFor(page.given, is);
  if (!made.length && !gone.length) return void (comment.length && edit(comment, OWN));
  for (const { path, typed } of made) if (path in NAMES) page.given[NAMES[path]] = typed ?? "";
  // where none is chosen, no number of rows is said: there are none
  const told = isDataChosen(is.source) ? words : words.filter(([path]) => !path.startsWith("data."));
  say(told, made, [...made.map(({ path }) => setting(path, shownAt(path))), ...gone]);
  if (made.length || comment.length) edit([...made, ...comment], OWN);
}
// Of data that cannot be read its name alone is known: a run is not called after the file before.
function nameUnread() {
  const is = now();
  const { given } = page;
  if (!given?.first || is.source === given.source || find(".view-form").hidden || isPending("name")) return;
  const name = nameWith(given, is);
  if (!name) return;
  page.given = { ...given, name };
  const made = [setting("name", name)];
  say([["name", `the run is called ${name}`]], made, [setting("name", is.name)]);
  edit(made, OWN);
}
function say(words, made, before) {
  const onclick = () => {
    box.hidden = true;
    edit(before);
    find("#f-name").focus();
  };
  const back = el("button.link.s", { type: "button", onclick }, "Keep what was there");
  box.replaceChildren(el("span", `Changed with the data: ${words.map(([, is]) => is).join("; ")}. `), back);
  box.hidden = !words.length;
  said = words.map(([path]) => path);
  unsay = (gone) => {
    const others = (all) => all.filter(({ path }) => path !== gone);
    say(
      words.filter(([path]) => path !== gone),
      others(made),
      others(before),
    );
  };
  saidOf = rowsOf({ ...now(), ...Object.fromEntries(made.map(({ path, typed }) => [NAMES[path], typed ?? ""])) });
}

// What the form brought where its address asked for other data. `before`: what each field showed without it. How many
// rows that data says to use, or to hold out, is as if a person had set it.
export function givenBefore(before) {
  const first = seen((path) => before[path] ?? "");
  const { limit, holdout, numbers } = now();
  return { ...first, first, limit: limit ? null : "", holdout: holdout ? null : "", numbers };
}

// What a person has set since, of what is said.
function isSetSince(path) {
  if (path === "name") return !isPending("name") && page.given.name !== shownAt("name");
  return path === NUMBERS && shownAt(NUMBERS) !== "";
}

export function drawNewData() {
  onPreview((found) => (found.error ? nameUnread() : fitToData(found.rows.count)));
  const begin = () => {
    if (!page.given?.first) page.given = { ...page.given, first: now(), ...now() };
  };
  onView(() => {
    begin();
    if (shownAt("data.source") === page.given.source) page.given.numbers = shownAt(NUMBERS);
    if (saidOf !== rowsOf(now())) box.hidden = true;
    else if (!box.hidden) for (const path of said.filter(isSetSince)) unsay(path);
    if (!isDataChosen(shownAt("data.source"))) fitToData(0);
  });
  begin();
}
