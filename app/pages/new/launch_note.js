// What is said beside Launch: how far it is, and why it waits.

import { setText } from "../../ui/dom.js";
import { blocking, find, page } from "./core.js";
import { inFormWords } from "./form_words.js";
import { goTo } from "./go_to.js";
import { placeName } from "./verdicts.js";

// While a launch waits, leaving the page would mean that no run ever starts: the browser asks first.
const askFirst = (event) => event.preventDefault();
export function askBeforeLeaving(is) {
  if (is) addEventListener("beforeunload", askFirst);
  else removeEventListener("beforeunload", askFirst);
}

let holds = null; // whether the answer to the last Launch is still true
export function note(words) {
  holds = null;
  setText(find(".launch-note"), words);
}
// An answer to Launch, which is true of the settings as they are now.
export function answer(words) {
  const { text } = page;
  note(words);
  holds = () => page.text === text;
}
// Leads to the first thing to fix, and says that nothing starts before.
export function sayBlocked() {
  const [first] = blocking();
  note(`Not started yet. ${inFormWords(first, first.field && placeName(first.field))}`);
  holds = () => blocking().some(({ field, message }) => field === first.field && message === first.message);
  goTo(first);
}
// An answer goes once it is not true any more.
export function forgetAnswer() {
  if (holds && !holds()) note("");
}
