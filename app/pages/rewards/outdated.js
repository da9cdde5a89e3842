// Scores are of the code that was tried: what is typed after that makes them old, and so does a try that brought none.
// They say so, also while another try runs.

import { showText } from "../../ui/dom.js";
import { find, page } from "./core.js";

// Says whose scores stand in a view, and dims those that are old. `tried`: {text, which, passed: a later try brought no
// scores}, null where there are none. `again`: what to press for new ones, `before`: what brought the old ones.
export function sayWhose(view, tried, busy, { again, before }) {
  const words = tried ? whose(tried, busy, again, before) : "";
  showText(find(`${view} .outdated`), words);
  find(`${view} .results`).classList.toggle("old", Boolean(words) || (Boolean(tried) && busy));
}
function whose({ text, which, passed }, busy, again, before) {
  const more = (words) => (busy ? "" : ` ${words}`);
  if (page.which && which !== page.which)
    return `These are the scores of ${which}.${more(`${again} for ${page.which}.`)}`;
  if (text !== page.text) return `These are the scores of the code before your last change.${more(`${again}.`)}`;
  return passed && !busy ? `These are the scores of ${before}.` : "";
}
