// The reward functions of a run, or of one of its stages: which, how much each counts, and the settings of each.

import { el, option, remover, setText, table } from "../../ui/dom.js";
import { numberField } from "../../ui/number_field.js";
import { edit, find, onView, page, plainAt, shownAt } from "./core.js";
import { about, bare, field, forget, keepFocus, place, setValue, showProblems } from "./fields.js";

const rewardNamed = (name) =>
  page.form.rewards.find((one) => one.name === name) ?? { name, help: "", own: false, parameters: [], versions: [] };
const parametersOf = (reward) => {
  const known = rewardNamed(reward.name);
  return (known.versions.find(({ hash }) => hash === reward.version) ?? known).parameters;
};
const isReward = (one) => one !== null && typeof one === "object" && !Array.isArray(one);
const pointsOf = (reward) => (Array.isArray(reward.schedule) ? reward.schedule : []);
const WAYS = { constant: "stays as it is", schedule: "changes with the steps", adapt: "follows success" };
const wayOf = (reward) => (pointsOf(reward).length ? "schedule" : isReward(reward.adapt) ? "adapt" : "constant");

// Draws a list into `node`: `base` is its path in the spec, `read` says what stands there. What it returns shows the
// list as it is now.
export function rewardList(node, base, read) {
  const list = el("div.reward-list");
  const chooser = addReward(base, read);
  const open = new Set();
  const head = el(
    "div.reward.head.xs.mut",
    { "aria-hidden": "true" },
    el("span", "function"),
    el("span.num", "weight"),
    el("span"),
  );
  node.append(head, list, chooser.node);
  let drawn = null;
  let summaries = [];
  const shape = (reward) =>
    isReward(reward) ? [reward.name, reward.version, wayOf(reward), pointsOf(reward).length] : null;
  return () => {
    const rewards = Array.isArray(read()) ? read() : [];
    const key = JSON.stringify([rewards.map(shape), numbersOfData()]);
    if (key !== drawn) {
      for (const settings of list.querySelectorAll("details.settings")) {
        const name = settings.closest(".reward").dataset.name;
        if (settings.open) open.add(name);
        else open.delete(name);
      }
      const added = drawn !== null && rewards.length > JSON.parse(drawn)[0].length;
      drawn = key;
      summaries = [];
      keepFocus(list, () => {
        forget(list);
        head.hidden = !rewards.length;
        list.replaceChildren(
          ...rewards.flatMap((reward, n) =>
            isReward(reward) ? [rewardRow(reward, `${base}.${n}`, open, summaries, () => read()?.[n] ?? {})] : [],
          ),
        );
      });
      if (added && chooser.asked) {
        chooser.asked = false;
        const weight = list.lastElementChild?.querySelector(".weight");
        weight?.focus();
        weight?.select();
      }
      chooser.fill(rewards);
      showProblems();
    }
    for (const show of summaries) show();
  };
}

function rewardRow(reward, path, open, summaries, now) {
  const known = rewardNamed(reward.name);
  const name = String(reward.name ?? "");
  const id = path.replace(/\W/g, "-");
  const weight = numberField({ id: `${id}-weight`, placeholder: "1.0", "aria-label": `weight of ${name}` });
  weight.classList.add("weight");
  weight.disabled = wayOf(reward) === "schedule";
  const summary = el("summary.s", { id: `${id}-settings` }, "Settings", el("span.mut"));
  const settings = el("details.settings", { open: open.has(name) }, summary, ...rewardSettings(reward, path, id));
  summaries.push(() => setText(summary.lastElementChild, changesOf(now(), path)));
  const own = known.own
    ? el("a.xs", { href: `/rewards?name=${encodeURIComponent(name)}`, "aria-label": `Edit ${name}` }, "edit")
    : null;
  const row = el(
    "div.reward",
    { "data-name": name },
    el("div.what", el("b.mono", name), " ", own, own ? " " : "", el("span.s.mut", known.help)),
    bare(`${path}.weight`, weight),
    remover(`Remove ${name}`, () => drop(row, path)),
    settings,
  );
  return place(path, row);
}
// Its place in the list is that after what goes before it: a second click may come before the list is drawn anew, and
// took the function behind the one that was meant.
function drop(row, path) {
  if (row.dataset.goes) return;
  const [, base, number] = /^(.*)\.(\d+)$/.exec(path);
  let before = 0;
  for (let one = row.previousElementSibling; one; one = one.previousElementSibling) before += one.dataset.goes ? 1 : 0;
  row.dataset.goes = "yes";
  setTimeout(() => delete row.dataset.goes, 3000); // where the server refuses it, it stays
  edit([{ path: `${base}.${number - before}`, remove: true }]);
}
// What differs from the defaults, in a few words.
function changesOf(reward, path) {
  const points = pointsOf(reward);
  const set = Object.keys(isReward(reward.parameters) ? reward.parameters : {});
  const words = [
    ...set.map((name) => `${name} ${shownAt(`${path}.parameters.${name}`).slice(0, 40)}`),
    points.length
      ? `weight ${points.map((one) => one?.weight).join(" → ")}`
      : wayOf(reward) === "adapt"
        ? "weight follows success"
        : "",
    reward.timeout !== undefined && reward.timeout !== 10 ? `at most ${reward.timeout} s` : "",
    reward.version ? `version ${String(reward.version).slice(0, 8)}` : "",
  ].filter(Boolean);
  return words.length ? ` · ${words.join(" · ")}` : "";
}

// ---- the settings of one function ----
const below = (path, one) => ({ ...one, path: `${path}.${one.path}` });
// How answers write their numbers, where the data says another way than usual: rewards that compare them follow it.
const numbersOfData = () => (shownAt("data.answer_numbers") === "comma" ? "comma" : "");
const asData = (one) =>
  one.follows && numbersOfData() ? { ...one, default: `${numbersOfData()}, as “Numbers in answers” has it` } : one;
function rewardSettings(reward, path, id) {
  const known = rewardNamed(reward.name);
  const parameters = parametersOf(reward);
  const newest = known.hash ? `the newest (${known.hash.slice(0, 8)})` : "the newest";
  const version = el(
    "select.input",
    option("", newest),
    ...known.versions.map(({ hash, saved }) => option(hash, `${hash.slice(0, 8)}, saved ${saved}`)),
  );
  if (reward.version) setValue(version, String(reward.version));
  const advice = "of what you saved; a run keeps the one it was launched with";
  const timeout = page.form.reward_fields.own.find((one) => one.path === "timeout");
  const versions = { ...about(`${path}.version`), label: "Version", advice };
  return [
    parameters.length ? el("div.cards", ...parameters.map((one) => field(below(path, asData(one))))) : null,
    weightWays(reward, path, id),
    el(
      "div.cards",
      field(below(path, timeout)),
      known.own || reward.version ? field(versions, { input: version }) : null,
    ),
  ].filter(Boolean);
}
function weightWays(reward, path, id) {
  const way = wayOf(reward);
  const edits = () => {
    const said = Number(document.getElementById(`${id}-weight`).value || 1);
    const weight = Number.isFinite(said) ? said : 1;
    const steps = Number(shownAt("training.max_steps")) > 0 ? Number(shownAt("training.max_steps")) : 100;
    const points = [0, steps].map((step) => ({ step, weight }));
    const set = (name, value) => ({ path: `${path}.${name}`, ...(value ? { value } : { remove: true }) });
    return {
      constant: [set("schedule"), set("adapt")],
      schedule: [set("adapt"), set("schedule", points)],
      adapt: [set("schedule"), set("adapt", {})],
    };
  };
  const choices = Object.entries(WAYS).map(([value, label]) => {
    const radio = el("input", { type: "radio", name: `${id}-way`, id: `${id}-${value}`, value });
    radio.checked = value === way;
    radio.addEventListener("change", () => edit(edits()[value]));
    return el("label.choice", radio, label);
  });
  const node = el(
    "div.ways",
    el(
      "div.row.tight.wrap.modes",
      { role: "radiogroup", "aria-label": "How the weight changes" },
      el("span.s.lead", "Its weight"),
      ...choices,
    ),
  );
  if (way === "schedule") node.append(schedule(reward, `${path}.schedule`, id));
  if (way === "adapt")
    node.append(el("div.cards.four", ...page.form.reward_fields.adapt.map((one) => field(below(path, one)))));
  return node;
}
function schedule(reward, path, id) {
  const points = pointsOf(reward);
  const cell = (n, name) => {
    const box = numberField({ id: `${id}-${n}-${name}`, "aria-label": `${name} of point ${n + 1}` });
    return el("td", bare(`${path}.${n}.${name}`, box));
  };
  const drop = (n) => edit([points.length > 1 ? { path: `${path}.${n}`, remove: true } : { path, remove: true }]);
  const row = (_, n) =>
    el(
      "tr",
      cell(n, "step"),
      cell(n, "weight"),
      el(
        "td",
        remover(`Remove point ${n + 1}`, () => drop(n)),
      ),
    );
  // From what stands in the fields: the spec may not have it yet.
  const typed = (name) => Number(document.getElementById(`${id}-${points.length - 1}-${name}`).value) || 0;
  const more = () =>
    edit([{ path: `${path}.${points.length}`, value: { step: typed("step") + 50, weight: typed("weight") } }]);
  return place(
    path,
    el(
      "div.schedule",
      el(
        "p.xs.mut",
        "The weight changes linearly between the points and is constant before the first and after the last.",
      ),
      table(
        el("tr", el("th", { scope: "col" }, "step"), el("th", { scope: "col" }, "weight"), el("th")),
        points.map(row),
      ),
      el("button.btn.s", { type: "button", id: `${id}-add-point`, onclick: more }, "Add a point"),
    ),
  );
}

// ---- one more function ----
function addReward(base, read) {
  const id = `add-${base.replace(/\W/g, "-")}`;
  const help = el("p.xs.mut", { id: `${id}-help` });
  const which = el("select.input", { id, "aria-label": "Function to add", "aria-describedby": help.id });
  const add = el("button.btn", { type: "button" }, "Add a reward");
  const chooser = { node: el("div.add-reward", el("div.row.tight", which, add), help), asked: false, fill };
  const tell = () => setText(help, rewardNamed(which.value).help);
  function fill(rewards) {
    const taken = new Set(rewards.map((one) => one?.name));
    const before = which.value;
    const left = page.form.rewards.filter((one) => !taken.has(one.name));
    const group = (label, own) => {
      const some = left.filter((one) => one.own === own);
      return some.length ? [el("optgroup", { label }, ...some.map((one) => option(one.name)))] : [];
    };
    which.replaceChildren(...group("Your own", true), ...group("Built in", false));
    if (left.some((one) => one.name === before)) which.value = before;
    add.disabled = which.disabled = !left.length;
    tell();
  }
  which.addEventListener("change", tell);
  add.addEventListener("click", () => {
    chooser.asked = true;
    edit([{ path: `${base}.${Array.isArray(read()) ? read().length : 0}`, value: { name: which.value, weight: 1.0 } }]);
  });
  return chooser;
}
export function drawRewards() {
  const show = rewardList(place("rewards", find(".rewards")).querySelector(".table"), "rewards", () =>
    plainAt("rewards"),
  );
  onView(show);
  show();
}
