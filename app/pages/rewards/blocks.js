// The cards of the builder's blocks: their settings, weight, place and what is wrong with each.

import { el, option, remover, setText } from "../../ui/dom.js";
import { numberField, takeNumber } from "../../ui/number_field.js";
import { button, page } from "./core.js";
import { columnChoices, decimalOf } from "./columns.js";
import { isNumber, plain } from "./text.js";

// What changes blocks: {blocks, list: where their cards are, changed: says that something was set, redrawn: that a
// block came, went or moved; removed: those that were, last of all the newest, as {block, place}}.
export const newBlock = (kind) => ({ kind, settings: {}, weight: "1", partial: false, required: false });
// A block as the page holds it, of one as the server has it: what is typed stays text.
export const fromServer = (one) => ({ ...one, settings: { ...one.settings }, weight: String(one.weight) });
export const toServer = (one) => ({ ...one, weight: isNumber(one.weight) ? Number(one.weight) : one.weight });

// Other columns can be chosen now; what was chosen stays, and so does the keyboard's place.
export function offerColumns(desk) {
  for (const [n, node] of [...desk.list.children].entries()) {
    const select = node.querySelector("[data-setting=column] select");
    if (!select) continue;
    const chosen = desk.blocks[n].settings.column ?? select.value;
    select.replaceChildren(...columnChoices(chosen).map(([each, words]) => option(each, words)));
    select.value = chosen;
  }
  writeAsColumns(desk);
}
// Numbers are read as the chosen column writes them, until a person says otherwise.
function writeAsColumns(desk) {
  for (const [n, block] of desk.blocks.entries()) {
    const select = desk.list.children[n]?.querySelector("[data-setting=decimal] select");
    if (!select || ("decimal" in block.settings && !block.byColumn)) continue;
    const known = decimalOf(block.settings.column ?? "answer");
    if (!known || known === select.value) continue;
    block.byColumn = true;
    block.settings.decimal = known;
    select.value = known;
    desk.changed();
  }
}
export function drawCards(desk) {
  desk.list.replaceChildren(...desk.blocks.map((block, n) => card(desk, block, n)));
  writeAsColumns(desk);
}
function move(desk, n, by) {
  desk.blocks.splice(n + by, 0, desk.blocks.splice(n, 1)[0]);
  desk.redrawn();
  const [up, down] = desk.list.children[n + by].querySelectorAll(".places button");
  const same = by < 0 ? up : down;
  (same.disabled ? (by < 0 ? down : up) : same).focus();
}
function leaveOut(desk, n) {
  desk.removed.push({ block: desk.blocks.splice(n, 1)[0], place: n });
  desk.redrawn();
  const next = desk.list.children[Math.min(n, desk.blocks.length - 1)]?.querySelector(".remove");
  (next ?? desk.list.parentElement.querySelector(".kinds button")).focus();
}
// The block that was removed last comes back, with all that was set in it.
export function bringBack(desk) {
  const { block, place } = desk.removed.pop();
  const n = Math.min(place, desk.blocks.length);
  desk.blocks.splice(n, 0, block);
  desk.redrawn();
  desk.list.children[n].querySelector(".remove").focus();
}
// What counts only with another setting is asked only then; so is how near is near, where being near earns something.
function showAsked(node, block) {
  const { settings } = page.about.kinds[block.kind];
  const set = (name) => block.settings[name] ?? settings.find((one) => one.name === name).default;
  for (const one of settings) {
    const off = Object.entries(one.only ?? {}).some(([name, value]) => set(name) !== value);
    node.querySelector(`[data-setting=${one.name}]`).hidden = off || (one.name === "near" && !block.partial);
  }
}
function card(desk, block, n) {
  const about = page.about.kinds[block.kind];
  const mover = (words, label, by, off) =>
    el(
      "button.btn.quiet.s",
      { type: "button", "aria-label": label, title: label, disabled: off, onclick: () => move(desk, n, by) },
      words,
    );
  const node = el(
    "li",
    { "aria-label": `Block ${n + 1}: ${about.label}` },
    el(
      "div.row.between.top",
      el("span", el("span.number", String(n + 1)), el("b", about.label)),
      el(
        "span.row.tight.places",
        mover("↑", `Move block ${n + 1} up`, -1, n === 0),
        mover("↓", `Move block ${n + 1} down`, 1, n === desk.blocks.length - 1),
        remover(`Remove block ${n + 1}`, () => leaveOut(desk, n)),
      ),
    ),
    el("p.means.s", { "data-otherwise": about.sentence }, about.sentence),
    // Yes-or-no settings stand together behind the others.
    el(
      "div.fields",
      ...[...about.settings]
        .sort((a, b) => a.types.includes("bool") - b.types.includes("bool"))
        .flatMap((one) => withCommon(settingField(desk, block, one), one)),
    ),
    el("div.row.tight.wrap.weighing", ...weightAndCredit(desk, block, n, about)),
    el("div.wrong.s"),
    el("p.alike-here.s.mut", { hidden: true }),
  );
  showAsked(node, block);
  return node;
}
function weightAndCredit(desk, block, n, about) {
  const weight = numberField({ "aria-label": `Weight of block ${n + 1}` });
  weight.value = block.weight;
  weight.addEventListener("input", () => {
    block.weight = weight.value;
    desk.changed();
  });
  const partial = el("input", { type: "checkbox" });
  partial.checked = block.partial;
  partial.addEventListener("change", () => {
    block.partial = partial.checked;
    showAsked(partial.closest("li"), block);
    desk.changed();
  });
  const required = el("input", { type: "checkbox" });
  required.checked = block.required;
  required.addEventListener("change", () => {
    block.required = required.checked;
    desk.changed();
  });
  const zero = "A completion that earns nothing from this block scores 0, whatever the other blocks give.";
  const help = "How much it counts beside the others. Below 0 it is a penalty.";
  return [
    el("label.choice", { title: help, "data-setting": "weight" }, "weight ", weight),
    el("label.choice", { title: about.partial }, partial, "partial credit"),
    el("span.xs.mut", `With it: ${about.partial[0].toLowerCase()}${about.partial.slice(1)}`),
    desk.blocks.length > 1 || block.required
      ? el(
          "span.row.tight.requiring",
          el("label.choice", { title: zero }, required, "required"),
          el("span.xs.mut", "If this block gives 0, the score is 0."),
        )
      : "",
  ];
}
function settingField(desk, block, one) {
  const value = block.settings[one.name] ?? one.default;
  const given = { title: one.help, "data-setting": one.name };
  const set = (to) => {
    block.settings[one.name] = to;
    if (one.name === "decimal") block.byColumn = false;
    if (one.name === "column") writeAsColumns(desk);
    desk.changed();
  };
  if (one.types.includes("bool")) {
    const box = el("input", { type: "checkbox" });
    box.checked = value === true;
    box.addEventListener("change", () => set(box.checked));
    return el("label.choice", given, box, one.label);
  }
  const choices = one.types.includes("column")
    ? columnChoices(value)
    : one.choices?.map((each) => [each, one.words?.[each] ?? each]);
  if (choices) {
    const select = el("select.input", ...choices.map(([each, words]) => option(each, words)));
    select.value = value;
    select.addEventListener("change", () => {
      set(select.value);
      showAsked(select.closest("li"), block);
    });
    return el("label", given, one.label, select);
  }
  return el("label", given, one.label, ...typedField(one, value, set));
}
// A field that is typed into, behind a choice of what is often meant, by what it does; the chosen one is then typed.
function withCommon(field, { common }) {
  if (!common) return [field];
  const input = field.querySelector("input");
  const choices = [
    ["", "matches a pattern of your own"],
    ...Object.entries(common).map(([words, one]) => [one, words]),
  ];
  const select = el("select.input", ...choices.map(([one, words]) => option(one, words)));
  const follow = () => {
    select.value = Object.values(common).includes(input.value) ? input.value : "";
  };
  select.addEventListener("change", () => {
    if (!select.value) return input.select();
    input.value = select.value;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
  input.addEventListener("input", follow);
  follow();
  return [el("label.common", "The text", select), field];
}
function typedField(one, value, set) {
  const isList = one.types.includes("list");
  const input =
    isList || one.types.includes("lines")
      ? el("textarea.input", {
          rows: "2",
          spellcheck: "false",
          placeholder: isList ? "one on each line" : "becomes a test of the code",
        })
      : el("input.input", {
          type: "text",
          spellcheck: "false",
          autocomplete: "off",
          // An empty number is the default; an empty text is empty.
          placeholder: one.types.includes("str") || one.default === null ? "" : String(one.default),
        });
  takeNumber(input, one);
  input.value = isList ? value.join("\n") : (value ?? "");
  input.addEventListener("input", () => set(isList ? linesOf(input) : meant(input.value, one)));
  return isList ? [input, commaHint(input)] : [input];
}
const linesOf = (input) => input.value.split("\n").filter((line) => line !== "");
// Several words on a line, with commas or semicolons between them, are one text; that is said, and a button parts them.
function commaHint(input) {
  const hint = el("span.xs.mut.commas", { hidden: true });
  const partsOf = (line) => line.split(/[,;]/).map((word) => word.trim());
  const say = () => {
    const line = linesOf(input).find((each) => partsOf(each).length > 1 && partsOf(each).every(Boolean));
    hint.hidden = line === undefined;
    if (hint.hidden) return hint.replaceChildren();
    const part = () => {
      input.value = linesOf(input)
        .flatMap((each) => (each === line ? partsOf(each) : [each]))
        .join("\n");
      input.dispatchEvent(new Event("input", { bubbles: true }));
      input.focus();
    };
    const words = `“${plain(line.length > 40 ? `${line.slice(0, 40)}…` : line)}” is searched for as one text. `;
    return hint.replaceChildren(words, button("Put each on a line", part, "link xs"));
  };
  input.addEventListener("input", say);
  say();
  return hint;
}
// What was typed, as the setting takes it; what it cannot be, such as 0,5, stays text, and the builder says so.
function meant(words, one) {
  if (one.types.includes("str")) return words;
  if (words.trim() === "") return one.types.includes("none") ? null : one.default;
  return Number.isFinite(Number(words)) ? Number(words) : words;
}

// What each block looks for, in a sentence, and what is wrong with it, at the setting that it is about.
export function sayOfCards(desk, words, problems) {
  for (const [n, node] of [...desk.list.children].entries()) {
    const mine = problems.filter((one) => one.block === n);
    const means = node.querySelector(".means");
    setText(means, plain(words[n] || means.dataset.otherwise));
    for (const field of node.querySelectorAll("[data-setting]")) {
      const isWrong = mine.some((one) => one.setting === field.dataset.setting);
      field.classList.toggle("wrong-one", isWrong);
      field.querySelector("input, select, textarea").setAttribute("aria-invalid", String(isWrong));
    }
    node.querySelector(".wrong").replaceChildren(...mine.map((one) => problemOfBlock(desk, n, one)));
  }
}
// With a button for each number that may be meant by what is none.
function problemOfBlock(desk, n, { setting, message, meant: numbers = [] }) {
  const take = (value) => {
    if (setting === "weight") desk.blocks[n].weight = value;
    else desk.blocks[n].settings[setting] = Number(value);
    desk.redrawn();
    desk.list.children[n].querySelector(`[data-setting=${setting}] input`).focus();
  };
  const buttons = numbers.map((value) => button(`Use ${value}`, () => take(value), "link s"));
  return el("p.verdict-at.warning", plain(message), ...buttons.flatMap((one) => [" ", one]));
}
