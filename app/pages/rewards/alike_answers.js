// Answers that all score the same: of such a reward nothing can be learned.

import { el } from "../../ui/dom.js";
import { plain } from "./text.js";

// The end of a text, where its answer stands: from its last tag, or else a whole word.
function ending(text) {
  if (text.length <= MOST) return text;
  const end = text.slice(-MOST);
  const tag = [...end.matchAll(/<\w[^>]*>/g)].at(-1)?.index;
  return `…${end.slice(tag ?? end.search(/\s/) + 1)}`;
}
const MOST = 60; // characters

export const codeOf = ({ text }) => el("code.mono", text.trim() ? ending(plain(text).trim()) : "(empty)");

// The score that all of two or more have; undefined where they differ, or one has none.
const same = (scores) =>
  scores.length > 1 && scores.every((score) => typeof score === "number" && score === scores[0])
    ? scores[0]
    : undefined;
// Of a row's texts the wrong one by itself, which stands in no box: the fourth of them.
const unseenWrong = (scored) =>
  scored.find((one, n) => n > 2 && scored.slice(n - 3, n).every(({ row }) => row === one.row));

// What stands there where no answer scores anything else than the others: of such a reward nothing can be learned.
// `written`: those of the model alone, which may all score the same where a right example scores more.
export function alikeNote(scored, worth, isOfExamples, written = []) {
  const score = same(scored.map(({ total }) => total));
  const ofModel = same(written.map((one) => one?.total));
  if (score === undefined && ofModel === undefined) return [];
  if (score === undefined) return [noteOf(`The model's answers here all score ${worth(ofModel)}. `)];
  const said = isOfExamples
    ? [
        `All answers shown score ${worth(score)}, and so do wrong examples that Groupwise made, such as `,
        codeOf(unseenWrong(scored)),
        ". ",
      ]
    : [`All answers here score ${worth(score)}. `];
  return [noteOf(...said)];
}
const noteOf = (...said) =>
  el("div.alike.note.s", { role: "status" }, el("p", el("b", ...said), "A run learns only from scores that differ."));

// A pattern without a sign of regular expressions; the dot or question mark that ends a sentence is none.
const isPlainText = (pattern) => !/[\\^$|*+()[\]{}]|[.?](?!\s|$)/.test(pattern);
const isTypedAsWords = ({ kind, settings }) => kind === "matches" && isPlainText(settings.pattern ?? "");
const WORDS_ONLY =
  "Nothing shown matches. The pattern is a regular expression: as it is, it matches only exactly these words.";

// Of each block what is said of it where it gives the same to all that is tried; nothing where the score does so, too.
export function alikeBlocks(scored, blocks, worth, isOfExamples) {
  const isOfAll = same(scored.map(({ total }) => total)) !== undefined;
  return blocks.map((block, n) => {
    if (isTypedAsWords(block) && scored.every((one) => one.points[n] === 0)) return WORDS_ONLY;
    const points = isOfAll ? undefined : same(scored.map((one) => one.points[n]));
    if (points === undefined) return "";
    const [all, others] = isOfExamples ? ["shown", ", and so do wrong ones"] : ["here", ""];
    return `All answers ${all} get ${worth(points)} from this block${others}: it tells none of them apart.`;
  });
}
