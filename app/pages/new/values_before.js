// What each setting was before what is wrong with it was typed: a better offer than a default that nobody had chosen.
// It is kept with the draft (core.js), so that a reload offers the same.

import { onProblems, onView, page, problems, root } from "./core.js";

const OTHER_TEXT = 3; // settings that change at once: more are another text, pasted or written over this one
const MOST = 3; // values that are kept of each: what is wrong with the newest may be said later
let last = {};
let lastOf = null; // the values that belong to the text which was seen last

// What a setting showed last while nothing was wrong with it; undefined where that is not known.
const goodAt = (path) => page.before[path]?.at(-1);
// The setting that is being typed: half a number is none that stood there.
function isTyped(path, view) {
  const box = document.activeElement;
  if (!box?.matches(".yaml textarea")) return box?.closest("[data-path]")?.dataset.path === path;
  return view.lines[path] === box.value.slice(0, box.selectionStart).split("\n").length;
}
function note(typed = isTyped) {
  const view = page.view;
  if (!view?.shown || view.unreadable || view.text !== page.text) return; // as while a draft is restored
  const paths = new Set([...Object.keys(last), ...Object.keys(view.shown)]);
  const changed = [...paths].filter((path) => last[path] !== view.shown[path]);
  if (lastOf === page.before && changed.length > OTHER_TEXT) page.before = {};
  [last, lastOf] = [view.shown, page.before];
  const wrong = new Set(problems().map(({ field, level }) => level !== "advice" && field)); // nor what is warned of
  for (const [path, shown] of Object.entries(view.shown))
    if (wrong.has(path)) forget(path, shown);
    else if (!typed(path, view)) remember(path, shown);
}
function remember(path, shown) {
  const others = (page.before[path] ?? []).filter((one) => one !== shown);
  page.before[path] = [...others, shown].slice(-MOST);
}
// The worker says what is wrong with a value some time after the view: it was good until then, and now the one before.
function forget(path, shown) {
  const left = page.before[path]?.filter((one) => one !== shown);
  if (left?.length) page.before[path] = left;
  else delete page.before[path];
}
export function watchValues() {
  onView(() => note());
  onProblems(() => note());
  for (const type of ["focusin", "pointerdown"]) root.addEventListener(type, () => note(() => false));
}

// The problem with a button for what stood there before, in place of what is only usual.
export function withValueBefore(problem) {
  const before = goodAt(problem.field);
  const usual = problem.fixes?.findIndex(({ fallback }) => fallback) ?? -1;
  const isHere = before === page.view?.shown?.[problem.field]; // seen while another problem kept this one from sight
  if (problem.level !== "blocking" || usual < 0 || before === undefined || isHere) return problem;
  const button = { label: `Use ${before}`, edits: [{ path: problem.field, typed: before }] };
  const isBefore = ({ settings }) => before !== "" && Number(settings?.[problem.field]) === Number(before);
  if (problem.fixes.some((fix) => !fix.fallback && isBefore(fix)))
    return { ...problem, fixes: problem.fixes.filter(({ fallback }) => !fallback) }; // 1e-5 and 1e-05 are one
  const others = problem.fixes.filter(({ label, fallback }) => !fallback && label !== button.label);
  return { ...problem, fixes: [...others.slice(0, usual), button, ...others.slice(usual)] };
}
