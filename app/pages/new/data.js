// The data of a run: where it comes from, and how its columns become prompts and answers.

import { el, option } from "../../ui/dom.js";
import { edit, find, onColumns, onView, page, plainAt, shownAt } from "./core.js";
import { about, field, fields, forget, place, setValue } from "./fields.js";
import { keepDrawn } from "./lists.js";
import { drawPastReading, pastReading } from "./past_reading.js";
import { Upload } from "./upload.js";

const SOURCES = { task: "Built-in task", gym: "reasoning-gym", file: "File", hub: "Hub dataset" };

const HUB_ONLY = ["data.config", "data.split", "data.revision", "data.streaming"];
// How one file is read and writes its answers says nothing about the next.
const FILE_ONLY = [
  ...["separator", "quote", "encoding", "sheet", "skip_lines", "heading", "answer_numbers"].map(
    (name) => `data.${name}`,
  ),
];
const parts = {}; // kind → the field that says which one
const bodies = {}; // kind → where it is chosen
const more = {}; // kind → its further settings, below what is wrong with the choice
const parameters = el("div.cards.parameters");
const ofTask = {}; // a reasoning-gym source → its parameters
let shownKind = null;
let shownTask = null;
let seen = null;
let upload = null;

const options = (list) => list.map(({ value, label }) => option(value, label));
const set = (value) => edit([{ path: "data.source", value }]);
// Read and mapped as it last was, where that is known.
function setFile(value) {
  edit([{ path: "data.source", value }, ...leaving("file"), ...pastReading(value)]);
}
const textField = (label, placeholder, given) =>
  el("input.input", { type: "text", "aria-label": label, placeholder, autocomplete: "off", ...given });

// What a kind begins with; of files and of the hub's datasets a person chooses one, and until then there is no data.
const usual = (kind) =>
  ({ task: page.form.tasks[0]?.value, gym: page.form.gym[0] && `gym:${page.form.gym[0].name}` })[kind] ?? `${kind}:`;
// What only one kind of source has goes with it.
const leaving = (kind) =>
  [...(kind !== "hub" ? HUB_ONLY : []), ...FILE_ONLY, ...(kind !== "gym" ? ["data.parameters"] : [])]
    .filter((path) => shownAt(path) !== "" || plainAt(path) !== null)
    .map((path) => ({ path, remove: true }));

// What was chosen of each kind stays while another is looked at: its source, and what only that kind has.
const chosen = {};
function remember(kind) {
  const typed = (paths) => paths.filter((path) => shownAt(path) !== "").map((path) => ({ path, typed: shownAt(path) }));
  const given = plainAt("data.parameters");
  const gym = given === null ? [] : [{ path: "data.parameters", value: given }];
  const own = { hub: typed(HUB_ONLY), file: typed(FILE_ONLY), gym }[kind] ?? [];
  chosen[kind] = [{ path: "data.source", value: shownAt("data.source") || usual("task") }, ...own];
}

function makeParts() {
  parts.task = el("select.input", { "aria-label": "Built-in task" }, ...options(page.form.tasks));
  parts.task.addEventListener("change", () => set(parts.task.value));
  parts.file = el("select.input", { "aria-label": "File in the home" });
  parts.file.addEventListener("change", () => setFile(parts.file.value));
  parts.gym = textField("reasoning-gym task", "search its tasks", { list: "gym-tasks" });
  parts.gym.addEventListener("input", () => {
    // Another task has other parameters; those of the one before come back with its name.
    const given = plainAt("data.parameters");
    if (given !== null) ofTask[shownAt("data.source")] = given;
    const value = `gym:${parts.gym.value.trim()}`;
    const path = "data.parameters";
    edit([{ path: "data.source", value }, ofTask[value] ? { path, value: ofTask[value] } : { path, remove: true }]);
  });
  parts.hub = textField("Hub dataset", "org/name, such as openai/gsm8k", { spellcheck: "false" });
  parts.hub.addEventListener("input", () => edit([{ path: "data.source", value: `hub:${parts.hub.value.trim()}` }]));
}
function makeBodies() {
  const { gym } = page.form;
  const list = el("datalist", { id: "gym-tasks" }, ...gym.map((task) => option(task.name, task.help)));
  const note = gym.length
    ? `${gym.length} tasks are installed; reward them with gym_score, the task's own scorer.`
    : "reasoning-gym is not installed: pip install 'groupwise[gym]', then restart.";
  upload = new Upload((source, isCorrected) => (isCorrected ? set(source) : setFile(source)));
  Object.assign(bodies, {
    task: el("div", parts.task),
    file: el("div", el("div.row.tight", parts.file, upload.button)),
    gym: el("div", parts.gym, list, el("p.xs.mut", note)),
    hub: el("div", parts.hub),
  });
  more.gym = parameters;
  more.hub = el("div.cards", ...HUB_ONLY.map((path) => field(about(path))));
}
function kindChoice(kind, label) {
  const id = `source-${kind}`;
  const radio = el("input", { type: "radio", name: "source-kind", id, value: kind });
  radio.addEventListener("change", () => {
    remember(shownKind);
    upload.forget();
    showKind(kind);
    edit([...leaving(kind), ...(chosen[kind] ?? [{ path: "data.source", value: usual(kind) }])]);
  });
  return el("label.choice", { for: id }, radio, label);
}
function showKind(kind) {
  shownKind = kind;
  upload.advise(kind === "file");
  for (const part of [bodies, more]) for (const [other, body] of Object.entries(part)) body.hidden = other !== kind;
  for (const radio of find(".source").querySelectorAll(".kinds input")) radio.checked = radio.value === kind;
}
function fillSource() {
  const source = shownAt("data.source") || "task:arithmetic";
  const [kind, ...rest] = source.split(":");
  const name = rest.join(":");
  if (!(kind in SOURCES)) return;
  // What a person chose stays until the spec says another source.
  if (source !== seen && seen !== null) upload.leave(source);
  if (source !== seen || shownKind === null) showKind(kind);
  seen = source;
  if (kind !== shownKind) return;
  if (kind === "task" || kind === "file") {
    const none = page.form.files.length ? "Choose a file" : "No file yet: upload one";
    if (kind === "file") parts.file.replaceChildren(option("file:", none), ...options(page.form.files));
    setValue(parts[kind], source);
  } else if (document.activeElement !== parts[kind]) parts[kind].value = name;
  if (kind === "gym" && name !== shownTask) {
    shownTask = name;
    forget(parameters);
    const task = page.form.gym.find((one) => one.name === name);
    parameters.replaceChildren(...(task?.parameters ?? []).map((one) => field(one)));
  }
}
export function drawSource() {
  const node = place("data.source", find(".source"));
  makeParts();
  makeBodies();
  node.querySelector(".kinds").append(...Object.entries(SOURCES).map(([kind, label]) => kindChoice(kind, label)));
  node.querySelector(".which").append(...Object.values(bodies), upload.note);
  drawPastReading(upload.note);
  upload.listenToDrops(node.closest(".panel"));
  find(".more-of-source").append(...Object.values(more));
  onView(fillSource);
  fillSource();
}

// ---- mapping: which columns are asked, which answer, which the rewards get ----
export function drawMapping() {
  const asIs = find(".mapping [name=prompt-mode][value=column]");
  const filled = find(".mapping [name=prompt-mode][value=template]");
  const column = columnSelect("data.prompt_column", "choose a column");
  const answer = columnSelect("data.answer_column", null, "no answer");
  const pattern = field(about("data.answer_pattern"));
  const numbers = field(about("data.answer_numbers"), { input: numbersSelect() });
  find(".mapping .as-is").append(column);
  find(".mapping .as-template").append(field(about("data.prompt_template")), chips());
  find(".mapping .answers").append(answer, pattern, numbers);
  const show = () => {
    const is = shownAt("data.prompt_column") !== "" || (asIs.checked && document.activeElement === asIs);
    asIs.checked = is;
    filled.checked = !is;
    find(".mapping .as-is").hidden = !is;
    find(".mapping .as-template").hidden = is;
  };
  let before = ""; // the column that was chosen, while a template is looked at
  filled.addEventListener("change", () => {
    before = shownAt("data.prompt_column");
    edit([{ path: "data.prompt_column", remove: true }]);
  });
  asIs.addEventListener("change", () => {
    const guess = page.columns.includes(before)
      ? before
      : (page.columns.find((name) => /^(prompt|messages|conversations?|chat)$/i.test(name)) ?? page.columns[0]);
    if (guess) edit([{ path: "data.prompt_column", value: guess }]);
    show();
  });
  onView(show);
  show();
}
function numbersSelect() {
  const marks = [option("point", "only the number: 1,234.5"), option("comma", "only the number: 1.234,5")];
  return el("select.input", option("", "as they are written"), ...marks);
}
// Whether the data, once its columns are known, has none of this name.
const isMissing = (name) => page.columns.length > 0 && !page.columns.includes(name);
function columnSelect(path, first, none) {
  const box = el("select.input");
  const node = field(about(path), { input: box });
  const fill = () => {
    const now = plainOf(path);
    const names = [...new Set([...page.columns, ...(now ? [now] : [])])];
    const key = JSON.stringify([names, now, names.filter(isMissing)]);
    if (box.dataset.key === key) return;
    box.dataset.key = key;
    box.replaceChildren(
      ...(first ? [option("", first)] : []),
      ...names.map((name) => option(name, isMissing(name) ? `${name}: not in this data` : name)),
      ...(none ? [option("\u0000", none)] : []),
    );
    box.value = now === null ? "\u0000" : (now ?? "");
  };
  // “no answer” is null, which is not the same as nothing said.
  box.addEventListener(
    "input",
    (event) => {
      event.stopImmediatePropagation();
      edit([
        box.value === "\u0000"
          ? { path, value: null }
          : box.value === ""
            ? { path, remove: true }
            : { path, value: box.value },
      ]);
    },
    true,
  );
  fields.find((one) => one.node === node).show = fill;
  onColumns(fill);
  fill();
  return node;
}
export const plainOf = (path) =>
  page.view?.empty?.[path] === null ? null : shownAt(path) || about(path).default || undefined;

// The columns as buttons: a click writes {column} where the cursor is in the prompt. Of many the first are buttons, and
// all of them are in a list, where one finds a name by typing it.
const MANY = 16;
const FIRST = 12;
function chips() {
  // It stands there from the start: a row that came with the columns would move all that is below it.
  const node = el("div.row.tight.chips", el("span.xs.mut", "Insert"));
  onColumns(
    keepDrawn(
      () => page.columns,
      () => {
        const box = find("#f-data-prompt_template");
        const insert = (name) => {
          box.setRangeText(`{${name}}`, box.selectionStart, box.selectionEnd, "end");
          box.focus();
          box.dispatchEvent(new Event("input"));
        };
        const names = page.columns;
        const shown = names.length > MANY ? names.slice(0, FIRST) : names;
        const chip = (name) => el("button.chip", { type: "button", onclick: () => insert(name) }, `{${name}}`);
        node.replaceChildren(
          el("span.xs.mut", names.length ? "Insert" : "Insert: the columns, once the data is read"),
          ...shown.map(chip),
          ...(shown.length < names.length ? [columnList(names, insert)] : []),
        );
      },
    ),
  );
  return node;
}

function columnList(names, insert) {
  const all = option("", `all ${names.length} columns…`);
  const box = el("select.input.every", { "aria-label": "Insert a column" }, all, ...names.map((name) => option(name)));
  box.addEventListener("input", (event) => event.stopPropagation()); // no setting: it only writes into the prompt
  box.addEventListener("change", () => {
    const name = box.value;
    box.value = "";
    if (name) insert(name);
  });
  return box;
}

// Which columns the rewards get: all, or those that are ticked.
export function drawColumns() {
  const node = place("data.columns", find(".columns"));
  const list = node.querySelector(".list");
  const fill = () => {
    const chosen = plainAt("data.columns");
    const names = [...new Set([...page.columns, ...(Array.isArray(chosen) ? chosen.map(String) : [])])];
    list.replaceChildren(
      ...names.map((name) => {
        const box = el("input", { type: "checkbox" });
        box.checked = !Array.isArray(chosen) || chosen.includes(name);
        box.addEventListener("change", () => {
          const on = [...list.querySelectorAll("input")]
            .map((other, n) => (other.checked ? names[n] : null))
            .filter((other) => other !== null);
          edit([
            on.length === names.length ? { path: "data.columns", remove: true } : { path: "data.columns", value: on },
          ]);
        });
        return el("label.choice.s", box, name);
      }),
    );
    if (!names.length) list.replaceChildren(el("span.s.mut", "Columns appear once the preview has read the data."));
  };
  const show = keepDrawn(() => [plainAt("data.columns"), page.columns], fill);
  onColumns(show);
  show();
}
