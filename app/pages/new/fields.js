// One setting = one field: its label, what is typed, its advice, what is wrong with it, whether it differs from the
// default. Drawn from what the server says is installed; nothing here knows TRL.

import { el, option, showText } from "../../ui/dom.js";
import { takeNumber } from "../../ui/number_field.js";
import { lengthWords } from "../../ui/text.js";
import { asTyped, edit, isPending, isTyping, page, problems, shownAt } from "./core.js";
import { inFormWords } from "./form_words.js";
import { withValueBefore } from "./values_before.js";

export const fields = []; // every field that is drawn now: {path, node, show}

function control(about, id) {
  const options = about.choices.length
    ? about.choices
    : about.types.includes("bool") && about.types.every((type) => type === "bool" || type === "none")
      ? ["true", "false"]
      : null;
  const label = { id, "aria-describedby": `${id}-said` };
  if (options) {
    const first = about.default ? `default (${about.default})` : "default";
    return el("select.input", { ...label }, option("", first), ...options.map((one) => option(one)));
  }
  if (about.long) return el("textarea.input", { rows: 3, placeholder: about.default, ...label });
  const number = about.types.some((type) => type === "int" || type === "float");
  const box = el("input.input", {
    type: "text",
    placeholder: about.default,
    inputmode: number ? "decimal" : "text",
    autocomplete: "off",
    spellcheck: "false",
    ...label,
  });
  return takeNumber(box, about);
}

function unusual(value) {
  const one = option(value);
  if (value) one.dataset.unusual = "";
  return one;
}
export function setValue(input, value) {
  if (input.tagName === "SELECT") {
    // a choice that is not among the usual ones goes as soon as it is not chosen any more
    for (const one of input.querySelectorAll("[data-unusual]")) if (one.value !== value) one.remove();
    if (![...input.options].some((one) => one.value === value)) input.append(unusual(value));
  }
  if (input.value !== value) input.value = value;
}

// `about` as app.pages.new.form describes it; `input` another control than the usual one; `full`: with TRL's help.
export function field(about, { input, full = false, label = about.label } = {}) {
  const id = `${full ? "all" : "f"}-${about.path.replace(/\W/g, "-")}`;
  const box = input ?? control(about, id);
  box.id = id;
  const onclick = () => {
    edit([{ path: about.path, remove: true }]);
    box.focus();
  };
  const title = `Back to the default (${about.default || "nothing"}), as emptying the field does`;
  // No stop for Tab between two fields: by keyboard a field is emptied.
  const reset = el("button.reset.link.xs", { type: "button", tabindex: "-1", title, onclick }, "reset");
  const length = el("p.xs.mut.length", { role: "status", hidden: true });
  const showLength = () => showText(length, about.most ? lengthWords(box.value, about.most) : "");
  const said = el("div.said", { id: `${id}-said` });
  const facts = full
    ? el("p.xs.mut.facts", el("code", specName(about)), ` · default ${about.default || "nothing"}`)
    : null;
  const advice =
    isTraining(about) && !full
      ? [el("code", specName(about)), about.advice ? " · " : "", about.advice]
      : [full ? about.help : about.advice];
  const node = el(
    "div.field",
    { "data-path": about.path },
    el(
      "div.row.tight.name",
      el("label", { for: id }, label),
      el("span.changed", { hidden: true, title: "differs from the default" }, "●"),
      reset,
    ),
    box,
    length,
    facts,
    el("p.xs.mut.advice", ...advice),
    said,
  );
  box.addEventListener("input", () => {
    showLength();
    edit([{ path: about.path, typed: box.value }], { now: box.tagName === "SELECT" });
    if (isFilledSince(about.path, box)) showProblems();
  });
  const show = () => {
    showField(about, node, box);
    showLength();
  };
  const one = { path: about.path, node, box, show };
  fields.push(one);
  if (page.view) one.show();
  return node;
}

// What the spec calls a setting: under training by its name, as TRL does, elsewhere with its part (lora.r).
const isTraining = ({ path }) => path.startsWith("training.");
const specName = (about) => (isTraining(about) ? about.name : about.path);

// Shows what a setting is, as it was typed, but not under the hands of someone who types it.
function fill(box, path) {
  const shown = shownAt(path);
  const typed = asTyped.get(path);
  if (!isTyping(box, path)) setValue(box, typed && typed[1] === shown ? typed[0] : shown);
}
function showField(about, node, box) {
  const shown = shownAt(about.path);
  fill(box, about.path);
  if (box.placeholder !== undefined && about.types.includes("none"))
    box.placeholder = about.default && page.view.empty?.[about.path] === null ? "null" : about.default;
  const differs = shown !== "" && shown !== about.default && about.path !== "name";
  node.classList.toggle("differs", differs);
  node.querySelector(".changed").hidden = !differs;
  node.querySelector(".reset").hidden = shown === "" || about.path === "name";
}

// Of a name that there is none of, and so no field: which it is, where that is shown at the part it is in.
const nameInside = (path, { field, message }) =>
  field.startsWith(`${path}.`) && message.includes("no such field") ? `“${field.split(".").at(-1)}”: ` : "";
const verdict = (problem, path) =>
  el("p", { class: `xs verdict-at ${problem.level}` }, nameInside(path, problem), inFormWords(problem));
// `lead`: takes a person to the problem's field, for a fix that is a choice there.
export function fixButtons(problem, lead) {
  return (problem.fixes ?? []).map((fix) => {
    if (fix.page) return el("a.btn.s.fix", { href: fix.page }, fix.label);
    const button = el("button.btn.s.fix", { type: "button" }, fix.label);
    if (fix.leads) {
      button.addEventListener("click", () => lead(problem));
      return button;
    }
    button.addEventListener("click", () => {
      button.disabled = true; // once: what a second click would remove is another's
      setTimeout(() => {
        button.disabled = false;
      }, 2000);
      edit(fix.edits ?? [{ fix }]);
    });
    return button;
  });
}

// Each problem at the drawn field whose path is the longest beginning of its own.
export function fieldOf(problem) {
  const on = fields.filter(
    ({ path, node }) => node.isConnected && (problem.field === path || problem.field.startsWith(`${path}.`)),
  );
  return on.sort(
    (a, b) => b.path.length - a.path.length || (a.node.offsetParent ? 0 : 1) - (b.node.offsetParent ? 0 : 1),
  )[0];
}
// Whether something stands in a field that was empty when it was looked at: that it is missing is over at once, and not
// only when the server has been asked, which takes as long as one types.
const isFilledSince = (path, box) => isPending(path) && !shownAt(path).trim() && !!box?.value?.trim();
export function showProblems() {
  const at = new Map();
  for (const problem of problems()) {
    const place = fieldOf(problem);
    if (place) at.set(place.node, [...(at.get(place.node) ?? []), withValueBefore(problem)]);
  }
  for (const { path, node, box } of fields) {
    const mine = isFilledSince(path, box) ? [] : (at.get(node) ?? []);
    const key = JSON.stringify(mine);
    node.classList.toggle(
      "wrong",
      mine.some((problem) => problem.level === "blocking"),
    );
    box?.setAttribute?.("aria-invalid", String(mine.some((problem) => problem.level === "blocking")));
    const said = node.querySelector(":scope > .said");
    if (said && said.dataset.key !== key) {
      said.dataset.key = key;
      said.replaceChildren(...mine.map((problem) => verdict(problem, path)));
    }
  }
}
export function forget(node) {
  // fields inside a node that is drawn anew
  for (let i = fields.length - 1; i >= 0; i--) if (node.contains(fields[i].node)) fields.splice(i, 1);
}
// A field with no words of its own: a cell of a table, say, which names it. `box` has the label.
export function bare(path, box) {
  const node = el("div.field.bare", { "data-path": path }, box, el("div.said"));
  box.addEventListener("input", () => edit([{ path, typed: box.value }]));
  const show = () => fill(box, path);
  fields.push({ path, node, box, show });
  if (page.view) show();
  return node;
}
// Draws something anew, with the focus where it was, if that is there again.
export function keepFocus(node, draw) {
  const id = node.contains(document.activeElement) ? document.activeElement.id : "";
  draw();
  if (id) document.getElementById(id)?.focus();
}
// For parts that are not one text: a place where problems of a path are shown.
export function place(path, node) {
  node.classList.add("field");
  node.dataset.path = path;
  if (!node.querySelector(":scope > .said")) node.append(el("div.said"));
  fields.push({ path, node, box: null, show: () => {} });
  return node;
}
export const about = (path) =>
  page.form.fields.find((one) => one.path === path) ?? {
    path,
    name: path.split(".").at(-1),
    label: path.split(".").at(-1),
    advice: "",
    help: "",
    types: ["str"],
    default: "",
    choices: [],
    section: "",
  };
