// The boxes that completions are typed in, each with the row that it answers.

import { el, remover } from "../../ui/dom.js";
import { button, find } from "./core.js";

export function drawTyped() {
  find(".from-typed .adds").append(
    button("Add a completion", () => {
      addTyped();
      find(".from-typed .list").lastChild.querySelector("textarea").focus();
    }),
  );
  addTyped();
}
function addTyped() {
  const list = find(".from-typed .list");
  const n = list.children.length + 1;
  const row = el("input.input.num.row-of", {
    type: "text",
    inputmode: "numeric",
    value: "1",
    "aria-label": `Row of completion ${n}`,
  });
  const area = el("textarea.input.mono.text", {
    rows: "2",
    "aria-label": `Completion ${n}`,
    spellcheck: "false",
    placeholder: "<think>…</think><answer>…</answer>",
  });
  const made = el(
    "div.typed.row.tight",
    el("label.xs.mut", "row", row),
    area,
    remover(`Remove completion ${n}`, () => {
      made.remove();
      find(".from-typed .adds button").focus();
    }),
  );
  list.append(made);
}

// What is typed: [{row, from 0, text}].
export const typedNow = () =>
  [...find(".from-typed .list").children].map((one) => ({
    row: Math.max(0, (parseInt(one.querySelector(".row-of").value, 10) || 1) - 1),
    text: one.querySelector(".text").value,
  }));
