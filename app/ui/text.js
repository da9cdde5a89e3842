// Words put together.

import { wholeNumber } from "./number.js";

// What there is to say, on one line.
export const dotted = (...words) => words.filter(Boolean).join(" · ");
// The beginning of a text that is longer than that.
export const cut = (text, most) => (text.length > most ? `${text.slice(0, most)}…` : text);
// How long a text is that may have so many characters, once it comes near that or is longer.
export function lengthWords(text, most) {
  const n = [...text].length;
  if (n > most) return `${wholeNumber(n)} characters: ${wholeNumber(n - most)} too many`;
  return n >= 0.9 * most ? `${wholeNumber(n)} of ${wholeNumber(most)} characters` : "";
}
// A sentence begins with a capital, but a name (broken.jsonl, gpt2) stays as it is.
export const sentence = (words) =>
  /^[a-z]+(?=[\s,:;’'])/.test(words) ? words.charAt(0).toUpperCase() + words.slice(1) : words;
// Things as one names them: data, steps and temperature.
export const listed = (words) =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
// What an address asks for and is not there, as pairs of what it is and how the address calls it; `instead`: what is
// there in its place. “” where there are none.
export function noSuchWords(unknown, instead) {
  const each = unknown.map(([kind, value], n) => `${n ? "no " : ""}${kind} “${cut(value, 60)}”`);
  return each.length ? `There is no ${listed(each)}. ${instead}` : "";
}
