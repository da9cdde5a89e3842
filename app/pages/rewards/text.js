// Text and numbers as the Rewards page writes them.

import { steady } from "../../ui/dom.js";
import { countWords, number, percent as shareWords, seconds as duration, wholeNumber } from "../../ui/number.js";

export const many = wholeNumber;
export const plural = countWords;
export const percent = (share) => shareWords(share ?? 0);
// What `write` makes of a value, – where there is none.
export const orDash = (value, write) => (value === null || value === undefined ? "–" : write(value));
export const seconds = (value) =>
  orDash(value, (known) => {
    if (known < 0.9995) return `${number(known * 1000)} ms`;
    return known < 59.5 ? `${number(known)} s` : duration(known);
  });

// Text that people and models wrote: control characters and changes of direction become visible.
export const plain = (text) =>
  steady(String(text ?? ""))
    .replace(/[\u0000-\u0008\u000b-\u001f]/g, (c) => (c === "\r" ? "" : String.fromCharCode(0x2400 + c.charCodeAt(0))))
    .replace(/\u007f/g, "␡");
// Whether what was typed is a number.
export const isNumber = (words) => words.trim() !== "" && Number.isFinite(Number(words));
// A prompt, which is a text or a chat, as one text.
export const wordsOf = (prompt) =>
  Array.isArray(prompt)
    ? prompt.map((one) => (prompt.length > 1 ? `${one.role}: ${one.content}` : one.content)).join("\n")
    : String(prompt ?? "");
// The question of a prompt: its last line, below instructions and examples.
export const questionOf = (prompt) => plain(wordsOf(prompt)).split("\n").filter(Boolean).at(-1) ?? "";
