// The builder: blocks with their settings, put together to Python that is seen while it is made, and then edited as
// any.

import { el, numberField, option, remover } from "../../ui/dom.js";
import { action, button, call, find, page } from "./core.js";
import { code } from "./editor.js";
import { newText } from "./library.js";
import { plain } from "./text.js";

const dialog = find("dialog.building");
const form = dialog.querySelector("form");
const list = form.querySelector(".blocks");
const blocks = []; // {kind, settings: {name: value}, weight, partial}
let python = "";
let timer = null;
let turn = 0;
function drawKinds() {
  form.querySelector(".kinds").replaceChildren(
    el("span.s.mut", "Add a block"),
    ...Object.entries(page.about.kinds).map(([kind, about]) => {
      const add = button(about.label, () => {
        blocks.push({ kind, settings: {}, weight: "1", partial: false });
        draw();
        soon();
        (
          list.lastChild.querySelector(".fields :is(input, textarea, select)") ?? list.lastChild.querySelector("input")
        ).focus();
      });
      add.title = about.sentence;
      return add;
    }),
  );
}

// ---- one block ----
function move(n, by) {
  blocks.splice(n + by, 0, blocks.splice(n, 1)[0]);
  draw();
  soon();
  const [up, down] = list.children[n + by].querySelectorAll(".between button");
  const same = by < 0 ? up : down;
  (same.disabled ? (by < 0 ? down : up) : same).focus();
}
function leaveOut(n) {
  blocks.splice(n, 1);
  draw();
  soon();
  (
    list.children[Math.min(n, blocks.length - 1)]?.querySelector(".remove") ?? form.querySelector(".kinds button")
  ).focus();
}
// Two fields of a block: its weight, and whether it gives partial credit.
function weightAndCredit(block, n) {
  const weight = numberField({ "aria-label": `Weight of block ${n + 1}` });
  weight.value = block.weight;
  weight.addEventListener("input", () => {
    block.weight = weight.value;
    soon();
  });
  const partial = el("input", { type: "checkbox" });
  partial.checked = block.partial;
  partial.addEventListener("change", () => {
    block.partial = partial.checked;
    soon();
  });
  return [weight, partial];
}
function card(block, n) {
  const about = page.about.kinds[block.kind];
  const mover = (words, label, by, off) =>
    el(
      "button.btn.quiet.s",
      { type: "button", "aria-label": label, title: label, disabled: off, onclick: () => move(n, by) },
      words,
    );
  const [weight, partial] = weightAndCredit(block, n);
  return el(
    "li",
    el(
      "div.row.between",
      el("span", el("b", about.label), " ", el("span.xs.mut", about.sentence)),
      el(
        "span.row.tight",
        mover("↑", `Move block ${n + 1} up`, -1, n === 0),
        mover("↓", `Move block ${n + 1} down`, 1, n === blocks.length - 1),
        remover(`Remove block ${n + 1}`, () => leaveOut(n)),
      ),
    ),
    // Yes-or-no settings stand together behind the others.
    el(
      "div.fields",
      ...[...about.settings]
        .sort((a, b) => a.types.includes("bool") - b.types.includes("bool"))
        .map((one) => settingField(block, one)),
    ),
    el(
      "div.row.tight.wrap",
      el("label.choice", "weight ", weight),
      el("label.choice", { title: about.partial }, partial, "partial credit"),
      el("span.xs.mut", about.partial),
    ),
  );
}
function settingField(block, one) {
  const value = block.settings[one.name] ?? one.default;
  const title = { title: one.help };
  const set = (to) => {
    block.settings[one.name] = to;
    soon();
  };
  if (one.types.includes("bool")) {
    const box = el("input", { type: "checkbox" });
    box.checked = value === true;
    box.addEventListener("change", () => set(box.checked));
    return el("label.choice", { ...title }, box, one.label);
  }
  if (one.choices) {
    const select = el("select.input", ...one.choices.map((each) => option(each)));
    select.value = value;
    select.addEventListener("change", () => set(select.value));
    return el("label", title, one.label, select);
  }
  const many_ = one.types.includes("list");
  const input =
    many_ || one.types.includes("lines")
      ? el("textarea.input", {
          rows: "2",
          spellcheck: "false",
          placeholder: many_ ? "one on each line" : "becomes a test of the code",
        })
      : el("input.input", {
          type: "text",
          spellcheck: "false",
          placeholder: one.default === "" || one.default === null ? "" : String(one.default),
        });
  input.value = many_ ? value.join("\n") : (value ?? "");
  input.addEventListener("input", () =>
    set(many_ ? input.value.split("\n").filter((line) => line !== "") : meant(input.value, one)),
  );
  return el("label", title, one.label, input);
}
// What was typed, as the setting takes it; what it cannot be stays text, and the builder says so.
function meant(words, one) {
  if (one.types.includes("str")) return words;
  if (words.trim() === "") return one.types.includes("none") ? null : one.default;
  return Number.isFinite(Number(words)) ? Number(words) : words;
}
const draw = () => list.replaceChildren(...blocks.map(card));

// ---- the Python ----
const soon = () => {
  clearTimeout(timer);
  timer = setTimeout(build, 150);
};
const name = () => form.querySelector("[name=name]").value.trim();
async function build() {
  const mine = ++turn;
  const sent = blocks.map((one) => ({
    ...one,
    weight: one.weight.trim() !== "" && Number.isFinite(Number(one.weight)) ? Number(one.weight) : 0,
  }));
  const got = await call(
    "build_function",
    { name: name(), blocks: sent, sentence: form.querySelector("[name=sentence]").value },
    (words) => {
      if (words) told([words]);
    },
  );
  if (mine !== turn) return;
  python = got?.code ?? "";
  form.querySelector(".code-side pre").textContent =
    python || (blocks.length ? "As soon as the blocks are complete." : "As soon as there is a block.");
  form.querySelector(".code-side pre").classList.toggle("mut", !python);
  if (got) told(blocks.length ? got.problems : []);
  form.querySelector("[type=submit]").disabled = !python;
}
const told = (lines) =>
  form.querySelector(":scope > .said").replaceChildren(...lines.map((line) => el("p.verdict-at.warning", plain(line))));

export function drawBuilder() {
  action("build", () => {
    if (!blocks.length) drawKinds();
    draw();
    build();
    dialog.showModal();
    form.querySelector("[name=name]").focus();
  });
  for (const box of form.querySelectorAll("[name=name], [name=sentence]")) box.addEventListener("input", soon);
  form.querySelector("[name=name]").addEventListener("input", ({ target }) => {
    // “polite answer” is meant as polite_answer
    const at = target.selectionStart;
    if (/[ -]/.test(target.value)) {
      target.value = target.value.replace(/[ -]/g, "_");
      target.setSelectionRange(at, at);
    }
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    clearTimeout(timer);
    await build();
    if (!python) return;
    dialog.close();
    newText(python, { which: name(), network: blocks.some((one) => page.about.kinds[one.kind].network) });
    code.focus();
  });
}
