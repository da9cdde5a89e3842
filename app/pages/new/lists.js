// Settings that are lists: worked examples, conditions on rows, stages.

import { el, remover, setText } from "../../ui/dom.js";
import { cut, listed } from "../../ui/text.js";
import { edit, find, onColumns, onView, page, plainAt } from "./core.js";
import { bare, forget, keepFocus, place } from "./fields.js";
import { rewardList } from "./rewards.js";

const LONGEST_SAID = 80; // characters of conditions beside the name of their fold
const adder = (label, onclick) => el("button.btn.s.add", { type: "button", onclick }, label);
// Draws a list when its value changes, but never under the hands of someone who is typing in it: then when they leave.
export function keepDrawn(read, draw) {
  let drawn = null;
  return () => {
    const key = JSON.stringify(read());
    if (key === drawn) return;
    drawn = key;
    draw(read());
  };
}
function drawUnlessTyping(list, read, draw) {
  const show = keepDrawn(read, draw);
  const typing = () =>
    list.contains(document.activeElement) && document.activeElement.matches("input[type=text], textarea, select");
  const showUnlessTyping = () => {
    if (!typing()) show();
  };
  onView(showUnlessTyping);
  onColumns(showUnlessTyping);
  // Not at once: what takes the focus may be a press on one of its buttons, which must still be there at its end.
  list.addEventListener("focusout", () =>
    setTimeout(() => {
      if (!typing()) show();
    }, 400),
  );
  show();
}

// A row with a button that takes it out of its list, and tells so.
function removable(kind, boxes, label, send) {
  const drop = remover(label, () => {
    made.remove();
    send();
  });
  const made = el(kind, ...boxes, drop);
  return made;
}

// ---- worked examples that stand before every prompt ----
export function drawExamples() {
  const node = place("data.examples", find(".examples"));
  const list = node.querySelector(".list");
  const read = () =>
    [...list.children].map((row) => ({
      prompt: row.querySelector(".asked").value,
      completion: row.querySelector(".said-so").value,
    }));
  const send = () => edit([{ path: "data.examples", value: read() }]);
  const row = (one, n) => {
    const part = (name, label, value) => {
      const about = `${label} of example ${n + 1}`;
      const box = el(`textarea.input.${name}`, { rows: 2, "aria-label": about, placeholder: label });
      box.value = value ?? "";
      box.addEventListener("input", send);
      return box;
    };
    const boxes = [
      part("asked", "Question", one.prompt),
      part("said-so", "What a good answer looks like", one.completion),
    ];
    return removable("div.example", boxes, `Remove example ${n + 1}`, send);
  };
  drawUnlessTyping(
    list,
    () => plainAt("data.examples") ?? [],
    (value) => {
      if (JSON.stringify(value) !== JSON.stringify(read()) && Array.isArray(value))
        list.replaceChildren(...value.map(row));
    },
  );
  node.querySelector(".adds").append(
    adder("Add an example", () => {
      list.append(row({}, list.children.length));
      list.lastChild.querySelector("textarea").focus();
    }),
  );
}

function options(names, value) {
  const known = new Set([...names, value].filter((name) => name !== undefined && name !== ""));
  return [...known].map((name) => el("option", { value: name, selected: name === value }, name));
}

// ---- conditions: only rows that meet all of them are used ----
// Told beside the fold's name, so that what filters rows is seen while it is closed.
const inWords = ({ column, operator, value }) => [column, operator, value].filter(Boolean).join(" ");
const conditionsInWords = (conditions) =>
  conditions.length ? cut(`where ${listed(conditions.map(inWords))}`, LONGEST_SAID) : "";
export function drawFilter() {
  const node = place("data.filter", find(".filter"));
  const list = node.querySelector(".list");
  const told = node.closest("details").querySelector(".rows-set");
  onView(() => setText(told, conditionsInWords(page.view?.conditions ?? [])));
  const read = () =>
    [...list.children].map((row) => ({
      column: row.querySelector(".column").value,
      operator: row.querySelector(".operator").value,
      value: row.querySelector(".value").value,
    }));
  const send = () => edit([{ path: "data.filter", conditions: read() }]);
  const row = (one, n) => {
    const of = (label) => ({ "aria-label": `${label} of condition ${n + 1}` });
    const column = el("select.input.column", of("Column"), ...options(page.columns, one.column));
    const operators = options(page.form.operators, one.operator ?? "=");
    const operator = el("select.input.operator", of("Operator"), ...operators);
    const value = el("input.input.value", { type: "text", ...of("Value") });
    value.value = one.value ?? "";
    const empty = () => {
      value.hidden = operator.value.endsWith("empty");
    };
    empty();
    column.addEventListener("change", send);
    operator.addEventListener("change", () => {
      empty();
      send();
    });
    value.addEventListener("input", send);
    return removable("div.row.tight.condition", [column, operator, value], `Remove condition ${n + 1}`, send);
  };
  drawUnlessTyping(
    list,
    () => ({ conditions: page.view?.conditions ?? [], columns: page.columns }),
    ({ conditions }) => list.replaceChildren(...conditions.map(row)),
  );
  node.querySelector(".adds").append(
    adder("Add a condition", () => {
      list.append(row({ column: page.columns[0], operator: "is not empty", value: "" }, list.children.length));
      list.lastChild.querySelector("select").focus();
      send();
    }),
  );
}

// ---- stages: each trains on from the one before, with rewards and settings of its own ----
const stages = () => page.view?.stages ?? [];
// `lists` gets what draws the stage's own rewards anew.
function stageCard(stage, n, lists) {
  const path = `stages.${n}`;
  const own = Array.isArray(stage.rewards);
  const rewards = el("div.s.rewards-of");
  const name = el("input.input", { type: "text", id: `stage-${n}-name`, placeholder: `stage ${n + 1}` });
  const settings = el("textarea.input.mono", {
    rows: 3,
    id: `stage-${n}-training`,
    spellcheck: "false",
    placeholder: "max_steps: 100\nlearning_rate: 5e-6",
  });
  const instead = own
    ? { path: `${path}.rewards`, remove: true }
    : { path: `${path}.rewards`, value: plainAt("rewards") ?? [] };
  const swap = el(
    "button.btn.s",
    { type: "button", id: `stage-${n}-rewards`, onclick: () => edit([instead]) },
    own ? "Use the run's rewards" : "Choose rewards for this stage",
  );
  const made = el(
    "div.stage",
    el(
      "div.row.between",
      el("h3", `Stage ${n + 1}`),
      remover(`Remove stage ${n + 1}`, () => edit([{ path, remove: true }])),
    ),
    el("label.s", { for: name.id }, "Name"),
    bare(`${path}.name`, name),
    el("div.row.tight.wrap.between", el("span.s", own ? "Rewards of its own" : "The run's rewards"), swap),
    own ? rewards : null,
    el("label.s", { for: settings.id }, "Training settings that differ, one to a line"),
    bare(`${path}.training`, settings),
  );
  if (own) lists.push(rewardList(rewards, `${path}.rewards`, () => stages()[n]?.rewards));
  return place(path, made);
}
export function drawStages() {
  const node = place("stages", find(".stages"));
  const list = node.querySelector(".list");
  const title = node.closest("details").querySelector("summary");
  let drawn = null;
  let lists = [];
  const draw = () => {
    const now = stages();
    const key = JSON.stringify(now.map((stage) => Array.isArray(stage.rewards)));
    if (key !== drawn) {
      drawn = key;
      lists = [];
      keepFocus(list, () => {
        forget(list);
        list.replaceChildren(...now.map((stage, n) => stageCard(stage, n, lists)));
      });
      setText(title, now.length ? `Stages (${now.length})` : "Stages");
      if (now.length) title.parentElement.open = true;
    }
    for (const show of lists) show();
  };
  onView(draw);
  draw();
  node
    .querySelector(".adds")
    .append(
      adder("Add a stage", () =>
        edit(
          stages().length
            ? [{ path: `stages.${stages().length}`, value: { training: {} } }]
            : [{ path: "stages", value: [{ name: "first", training: {} }, { training: {} }] }],
        ),
      ),
    );
}
