// What is wrong with the run, all at once: problems, which keep it from being launched, then warnings, then advice,
// each group with its own mark and word.

import { el } from "../../ui/dom.js";
import { page, plainAt } from "./core.js";
import { about, fixButtons } from "./fields.js";
import { inFormWords } from "./form_words.js";
import { goTo } from "./go_to.js";
import { withValueBefore } from "./values_before.js";

// The gravest first: its level, mark, word for one and for several, and what it means.
const GROUPS = [
  { level: "blocking", mark: "◆", one: "problem", several: "problems", means: "to fix before this can be launched" },
  { level: "warning", mark: "▲", one: "warning", several: "warnings", means: "the run can start all the same" },
  { level: "advice", mark: "·", one: "piece of advice", several: "pieces of advice", means: "" },
];
// Parts of the form that are not one field each.
const PARTS = {
  "data.source": "Where the prompts come from",
  "data.filter": "Which rows",
  "data.columns": "Columns the rewards get",
  "data.examples": "Examples before every prompt",
  "data.parameters": "The task's parameters",
  rewards: "Rewards",
  stages: "Stages",
  lora: "LoRA",
};

const howMany = ({ one, several }, n) => `${n} ${n === 1 ? one : several}`;
const ofLevel = (problems, level) => problems.filter((problem) => problem.level === level);

// Of a text that cannot be read the form shows what was before: no name of it may stand for what is written now.
const rewardName = (number) => (page.view?.unreadable ? null : plainAt("rewards")?.[number]?.name);

// What a person calls the place of a problem: a field's label, a reward function, a part of the form.
export function placeName(path) {
  const [, list, number, inside] = path.match(/^(rewards|stages)\.(\d+)\.?(.*)/) ?? [];
  if (list === "rewards") return `Reward ${rewardName(number) ?? Number(number) + 1}`;
  if (list === "stages") {
    const stage = Number(number) + 1;
    return inside.startsWith("training.") ? `${placeName(inside)} in stage ${stage}` : `Stage ${stage}`;
  }
  const part = Object.keys(PARTS).find((one) => path === one || path.startsWith(`${one}.`));
  if (page.form.fields.some((one) => one.path === path && (one.short || one.section))) return about(path).label;
  return part ? PARTS[part] : path.split(".").at(-1);
}

// In a few words for beside Launch: “2 problems”, “1 warning”, each with its mark; none where there is neither.
export const counts = (problems) =>
  GROUPS.slice(0, 2)
    .map((group) => [group, ofLevel(problems, group.level).length])
    .filter(([, n]) => n)
    .map(([group, n]) => el(`span.${group.level}`, `${group.mark} ${howMany(group, n)}`));

// A problem that stays keeps its card: a button must not be exchanged under the pointer that presses it.
const kept = new Map();
function keptNode(key, make) {
  if (!kept.has(key)) kept.set(key, make());
  return kept.get(key);
}
function arrange(parent, nodes) {
  for (const old of [...parent.children]) if (!nodes.includes(old)) old.remove();
  nodes.forEach((node, n) => {
    if (parent.children[n] !== node) parent.insertBefore(node, parent.children[n] ?? null);
  });
  if (kept.size > 200) kept.clear();
}

function heading(group, n) {
  const mark = el("span", { "aria-hidden": "true" }, `${group.mark} `);
  const means = group.means ? el("span.means.s", ` ${group.means}`) : "";
  return el(`h3.of-level.${group.level}`, mark, howMany(group, n), means);
}
// All that can be chosen, folded, where the sentence names a few.
function allChoices({ field, message }) {
  if (!/^should be one of .* and \d+ more\./.test(message)) return "";
  const known = page.form.fields.find(({ path }) => path === field.replace(/^stages\.\d+\./, ""));
  if (!known) return "";
  const names = el("p.s.mono", known.choices.join(", "));
  return el("details", el("summary.s", `All ${known.choices.length}`), names);
}
function card(problem, group) {
  const line = problem.line ? `, line ${problem.line}` : "";
  const title = problem.field ? placeName(problem.field) : `The YAML${line}`;
  const go = el("button.link.where.s", { type: "button", onclick: () => goTo(problem) }, title);
  // the form has no lines: they are shown beside the YAML
  const path = problem.field ? el("code.xs.mut.path", problem.field, el("span.line", line)) : "";
  return el(
    `div.verdict.${problem.level}`,
    el("p.level", el("span.mark", { role: "img", "aria-label": `${group.one}:` }, group.mark), go, path),
    el("p.s", inFormWords(problem)),
    allChoices(problem),
    el("div.row.tight.fixes", ...fixButtons(problem, goTo)),
  );
}

// What a card says is its problem and what its place is called now.
const keyOf = (problem) => JSON.stringify([placeName(problem.field), problem]);

export function drawVerdicts(node, problems) {
  const nodes = GROUPS.flatMap((group) => {
    const mine = ofLevel(problems, group.level).map(withValueBefore);
    if (!mine.length) return [];
    const head = keptNode(`${group.level} ${mine.length}`, () => heading(group, mine.length));
    return [head, ...mine.map((problem) => keptNode(keyOf(problem), () => card(problem, group)))];
  });
  arrange(node, nodes);
}
