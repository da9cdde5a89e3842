// Where the completions come from: whose data, and whether the model, a past run, a person or the probes wrote them.

import { params } from "../../ui/address.js";
import { tryStore } from "../../ui/browser_store.js";
import { el, option, press, remover } from "../../ui/dom.js";
import { askWorker, button, find, page, root, tell } from "./core.js";
import { plain } from "./text.js";

export let from = "model";
export const dataChosen = () =>
  find("select.data").value === "new" ? `text:${newRunText()}` : find("select.data").value;
// The settings that the New run page is at, in this tab.
export const NEW_RUN = "groupwise:new::";
export const newRunText = () => tryStore(() => sessionStorage.getItem(NEW_RUN)) ?? "";

export function drawSource() {
  const { presets, runs } = page.about.sources;
  const stored = runs.filter((one) => one.stored);
  const groups = (list, title) =>
    list.length ? [el("optgroup", { label: title }, ...list.map((one) => option(one.value, plain(one.label))))] : [];
  find("select.data").replaceChildren(
    ...groups(presets, "Presets"),
    ...(newRunText() ? [option("new", "What New run is at")] : []),
    ...groups(runs, "Runs"),
  );
  find("select.data").value = "preset:quickstart";
  for (const select of root.querySelectorAll("select.run, select.history")) {
    select.replaceChildren(
      ...(stored.length
        ? stored.map((one) => option(one.id, plain(one.label)))
        : [option("", "No run has stored completions yet")]),
    );
    select.disabled = !stored.length;
  }
  const run = params().get("run");
  if (run && stored.some((one) => one.id === run))
    for (const select of root.querySelectorAll("select.run, select.history")) select.value = run;
  for (const tab of root.querySelectorAll("[data-from]")) tab.addEventListener("click", () => choose(tab.dataset.from));
  find("select.data").addEventListener("change", askColumns);
  find("select.run").addEventListener("change", ({ target }) => {
    find("select.data").value = `run:${target.value}`;
    askColumns();
  });
  find(".from-typed .adds").append(
    button("Add a completion", () => {
      addTyped();
      find(".from-typed .list").lastChild.querySelector("textarea").focus();
    }),
  );
  addTyped();
  askColumns();
}
export function choose(kind) {
  from = kind;
  press(root.querySelectorAll("[data-from]"), (tab) => tab.dataset.from === kind);
  for (const part of root.querySelectorAll(".workbench .from")) part.hidden = !part.classList.contains(`from-${kind}`);
  if (kind === "run" && find("select.run").value) {
    find("select.data").value = `run:${find("select.run").value}`;
    askColumns();
  }
  tell("source");
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

// What the worker is asked; its text tells one set of completions from another.
export function sourceAsked() {
  const count = (selector, otherwise) => {
    const n = parseInt(find(selector).value, 10);
    return Number.isInteger(n) && n > 0 ? n : otherwise;
  };
  const asked = { from, data: dataChosen() };
  if (from === "model") return { ...asked, rows: count(".groups", 4), size: count(".size", 8) };
  if (from === "run") {
    const step = parseInt(find(".step").value, 10);
    return { ...asked, run: find("select.run").value, step: Number.isInteger(step) ? step : null };
  }
  if (from === "typed")
    return {
      ...asked,
      typed: [...find(".from-typed .list").children].map((one) => ({
        row: Math.max(0, (parseInt(one.querySelector(".row-of").value, 10) || 1) - 1),
        text: one.querySelector(".text").value,
      })),
    };
  return { ...asked, rows: 1 };
}

// The data's columns: for completion in the editor, and to say what a function asks for in vain.
async function askColumns() {
  tell("data");
  page.columns = null;
  const got = await askWorker("columns", { data: dataChosen() });
  if (!got) return;
  if (!got.answer) {
    if (got.lost || got.cancelled)
      setTimeout(() => {
        if (page.columns === null) askColumns();
      }, 4000);
    return;
  }
  page.columns = [
    ...new Set(
      got.answer.columns
        .map((one) => one.name)
        .filter((name) => !["prompt", "completion"].includes(name))
        .concat(got.answer.answer === null ? [] : ["answer"]),
    ),
  ];
  tell("columns");
}
