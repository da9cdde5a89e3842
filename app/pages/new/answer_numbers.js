// Answers whose number no completion's number would equal: how many, shown on rows, and the button that keeps only it.

import { el } from "../../ui/dom.js";
import { countWords, wholeNumber } from "../../ui/number.js";
import { sentence } from "../../ui/text.js";
import { edit } from "./core.js";
import { fixButtons } from "./fields.js";

const FIELD = "data.answer_numbers";
const COMMA =
  "The answer is kept with a decimal point. In completions a comma is read as the decimal mark: 2,5 is 2.5.";
const MARKS = { point: "decimal point", comma: "decimal comma" };

export function drawAnswerNumbers(box, found) {
  const numbers = found.answer_numbers;
  box.hidden = !numbers;
  if (!numbers) return;
  const about = found.problems.filter((problem) => problem.field === FIELD);
  const rows = numbers.examples.map(({ row, before, after }) =>
    el(
      "tr",
      el("td.num", wholeNumber(row + 1)),
      el("td", el("code", before)),
      el("td", "→"),
      el("td", el("code", after)),
    ),
  );
  const head = ["Row", "Answer", "", numbers.on ? "Used" : "Would be"].map((name) => el("th", { scope: "col" }, name));
  const table = el("table", el("thead", el("tr", ...head)), el("tbody", ...rows));
  box.replaceChildren(
    el("h3", title(numbers)),
    ...about.map((problem) => el(`p.s.verdict-at.${problem.level}`, sentence(problem.message))),
    rows.length ? el("div.scroll", table) : "",
    numbers.decimal === "comma" && rows.length ? el("p.xs.mut", COMMA) : "",
    el("div.row.tight.wrap", ...about.flatMap(fixButtons), numbers.on ? asWritten() : ""),
  );
}
const part = (some, of) => (some === of && of > 1 ? "all" : `${wholeNumber(some)} of`);
const title = ({ on, changed, of, decimal }) =>
  on
    ? `Only the number is kept (${MARKS[decimal]}): ${part(changed, of)} ${countWords(of, "answer")} ` +
      (changed === 1 ? "changes" : "change")
    : "Numbers in answers";
function asWritten() {
  const onclick = () => edit([{ path: FIELD, remove: true }]);
  return el("button.btn.s", { type: "button", onclick }, "Use answers as written");
}
