// Scores are of the code that was tried, on the completions and with the weights that it was tried with: what is typed
// or chosen after that makes them old, and so does a try that brought none. They say so, also while another try runs.

import { showText } from "../../ui/dom.js";
import { find, page, root } from "./core.js";

// Says whose scores stand in a view, and dims those that are old. `tried`: {text, which, passed: a later try brought no
// scores}, null where there are none. `again`: what to press for new ones, `before`: what brought the old ones; `of`:
// where they are not of what is chosen now: {words: what they are of, now: what is chosen}; `set`: how they would be
// scored now, as `tried.set` is how they were (settingsOfScores).
export function sayWhose(view, tried, busy, { again, before, of = null, set = null }) {
  const words = tried ? whose(tried, busy, { again, before, of, set }) : "";
  showText(find(`${view} .outdated`), words);
  const old = Boolean(words) || (Boolean(tried) && busy);
  for (const node of root.querySelectorAll(`${view} :is(.results, .loopholes)`)) node.classList.toggle("old", old);
}
// How scores come about but for the code: the functions, with weights and parameters, and how advantages are scaled.
export const settingsOfScores = (functions, scale, instead = "") => ({
  weights: JSON.stringify(functions.map(({ weight }) => weight)),
  rest: JSON.stringify([functions.map(({ name, parameters }) => [name, parameters]), scale, instead]),
});
function changed(was, now) {
  if (!was || !now || (was.weights === now.weights && was.rest === now.rest)) return "";
  return was.rest === now.rest ? "weights" : "settings";
}
function whose({ text, which, passed, set: was }, busy, { again, before, of, set }) {
  const more = (words) => (busy ? "" : ` ${words}`);
  if (page.which && which !== page.which)
    return `These are the scores of ${which}.${more(`${again} for ${page.which}.`)}`;
  if (text !== page.text) return `These are the scores of the code before your last change.${more(`${again}.`)}`;
  if (of) return `These are the scores of ${of.words}.${more(`${again} for ${of.now}.`)}`;
  const what = changed(was, set);
  if (what) return `These are the scores of the ${what} before your last change.${more(`${again}.`)}`;
  return passed && !busy ? `These are the scores of ${before}.` : "";
}
