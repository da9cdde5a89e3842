// Whether a wrong answer to a row scores as much as a right one, and which block tells the two apart. A row's answer is
// known, so its examples are right and wrong for sure; what was typed is judged by the blocks that tell those apart.

import { el } from "../../ui/dom.js";
import { codeOf } from "./alike_answers.js";
import { button } from "./core.js";

// Of a row's probes: the right answer, a wrong one in the same form, and that by itself; none without an answer.
export function examplesOf({ completions }) {
  const [right, wrong] = ["correct", "wrong_answer"].map((name) => completions.find((one) => one.probe === name)?.text);
  return right && wrong ? [right, wrong, wrong.slice(wrong.lastIndexOf("\n<") + 1)] : [];
}

// Each tried text is {text, total, points: what each block gives}: what stands in the box, then the row's examples.
// {wrong, right, block: the one to require, if any can be} where a wrong text scores as much as a right one, else null.
export function findPaidWrong([typed, right, wrong, alone], blocks) {
  if (!right) return null;
  const telling = blocks.map((_, n) => n).filter((n) => right.points[n] > wrong.points[n]);
  if (!telling.length) return null;
  const isRight = ({ points }) => telling.every((n) => points[n] >= right.points[n]);
  const scored = [typed, right, wrong, alone]
    .filter(({ total }) => typeof total === "number")
    .map((one) => ({ ...one, isShown: one.text === typed.text }));
  const rights = scored.filter(isRight).sort((a, b) => a.total - b.total);
  const wrongs = scored.filter((one) => !isRight(one)).sort((a, b) => b.total - a.total);
  if (!rights.length || !wrongs.length || wrongs[0].total < rights[0].total - 1e-9) return null;
  const block = telling.find((n) => !blocks[n].required && Number(blocks[n].weight) > 0);
  return { wrong: wrongs[0], right: rights[0], block };
}

// What stands in the row's box is seen there; whose the others are is told.
const earning = ({ text, total, isShown }, ofOurs, worth) => [
  isShown ? "the answer shown there, " : ofOurs,
  codeOf({ text }),
  `, earns ${worth(total)}`,
];
export function paidWrongNote({ row, wrong, right, block }, worth, requireBlock) {
  const more = wrong.total > right.total + 1e-9 ? "more than" : "as much as";
  return el(
    "div.paid-wrong.note.s",
    { role: "status" },
    el(
      "p",
      el("b", `A wrong answer scores ${more} a right one. `),
      `Row ${row + 1}: `,
      ...earning(wrong, "a wrong example that Groupwise made, ", worth),
      "; ",
      ...earning(right, "a right example that Groupwise made, ", worth),
      ".",
    ),
    block === undefined ? "" : button(`Make block ${block + 1} required`, () => requireBlock(block)),
  );
}
