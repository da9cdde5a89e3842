// Scores are of the code that was tried, on the completions that it was tried on: what is typed or chosen after that
// makes them old, and so does a try that brought none. They say so, also while another try runs.

import { showText } from "../../ui/dom.js";
import { find, page, root } from "./core.js";

// Says whose scores stand in a view, and dims those that are old. `tried`: {text, which, passed: a later try brought no
// scores}, null where there are none. `again`: what to press for new ones, `before`: what brought the old ones; `of`:
// where they are not of what is chosen now: {words: what they are of, now: what is chosen}.
export function sayWhose(view, tried, busy, { again, before, of = null }) {
  const words = tried ? whose(tried, busy, { again, before, of }) : "";
  showText(find(`${view} .outdated`), words);
  const old = Boolean(words) || (Boolean(tried) && busy);
  for (const node of root.querySelectorAll(`${view} :is(.results, .loopholes)`)) node.classList.toggle("old", old);
}
function whose({ text, which, passed }, busy, { again, before, of }) {
  const more = (words) => (busy ? "" : ` ${words}`);
  if (page.which && which !== page.which)
    return `These are the scores of ${which}.${more(`${again} for ${page.which}.`)}`;
  if (text !== page.text) return `These are the scores of the code before your last change.${more(`${again}.`)}`;
  if (of) return `These are the scores of ${of.words}.${more(`${again} for ${of.now}.`)}`;
  return passed && !busy ? `These are the scores of ${before}.` : "";
}
