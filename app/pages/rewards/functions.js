// The functions of a try: the one in the editor first, any others beside it, each with parameters, weight and timeout.

import { el, option, remover, setText } from "../../ui/dom.js";
import { numberField } from "../../ui/number_field.js";
import { wholeNumber } from "../../ui/number.js";
import { cut } from "../../ui/text.js";
import { action, call, find, on, page, tell } from "./core.js";
import { loadFault, signature, withLine } from "./editor.js";
import { dataChosen } from "./source.js";
import { isNumber, plain } from "./text.js";

const MOST_WEIGHT = 1_000_000; // storage/spec/spec.py

const others = []; // names, in order
const settings = new Map(); // name → {weight, timeout, parameters: {name: what was typed}}

const about_ = (name) => [...page.about.library.own, ...page.about.library.built_in].find((one) => one.name === name);
export const editedName = () => page.which || page.open?.name || "";
export const settingsOf = (name) => {
  if (!settings.has(name)) settings.set(name, { weight: "1", timeout: "10", parameters: {} });
  return settings.get(name);
};
let weightOfRun = () => null; // what a function weighs that nobody set, where a run is scored anew; null elsewhere
export const takeWeightsOfRun = (of) => {
  weightOfRun = of;
};
// The weight that counts, as it would be typed.
function weightShown(name, n) {
  const set = settingsOf(name);
  return set.touched ? set.weight : String(weightOfRun(name, n) ?? set.weight);
}
// A function is called otherwise by now, and is set as it was.
export function moveSettings(old, name) {
  if (settings.has(old)) settings.set(name, settings.get(old));
  settings.delete(old);
}
// Sets the parameters of functions as a run has them.
export function takeParameters(listed) {
  for (const one of listed) settingsOf(one.name).parameters = typedParameters(one);
}
const typedParameters = ({ parameters }) =>
  Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, typedDefault(value)]));
// A parameter's default as it would be typed.
const typedDefault = (value) =>
  value === null || value === undefined
    ? ""
    : typeof value === "string"
      ? value
      : Array.isArray(value) && value.every((one) => typeof one !== "object")
        ? value.join(", ")
        : JSON.stringify(value);

// What is asked of the worker: [{name, code?, hash?, parameters, weight, timeout, network}].
export function chosenFunctions() {
  const types = (name, parameter) => parametersOf(name).find((one) => one.name === parameter)?.types ?? [];
  return [editedName(), ...others].map((name, n) => {
    const set = settingsOf(name);
    const parameters = Object.fromEntries(
      Object.entries(set.parameters)
        .filter(([, typed]) => typed.trim() !== "")
        .map(([key, typed]) => [key, [typed, types(name, key)]]),
    );
    const shared = { name, parameters, weight: Number(set.weight), timeout: Number(set.timeout) };
    return n === 0 && !page.open.builtIn
      ? { ...shared, code: page.text, network: find(".network input").checked }
      : shared;
  });
}
// What keeps a try from being asked: code that cannot be loaded, a secret in it, a name that is too long, a weight or a
// timeout that is no number; empty where nothing does.
export function faultOfChosen() {
  const fault = loadFault();
  if (fault) return fault;
  const secret = page.problems.find(({ kind }) => kind === "secret");
  if (secret) return withLine(secret);
  if (signature()?.too_long) return signature().too_long;
  for (const name of [editedName(), ...others])
    for (const key of ["weight", "timeout"]) {
      const typed = settingsOf(name)[key];
      if (isNumber(typed) && key === "weight" && Math.abs(Number(typed)) > MOST_WEIGHT)
        return `The weight of ${name} lies between −${wholeNumber(MOST_WEIGHT)} and ${wholeNumber(MOST_WEIGHT)}.`;
      if (isNumber(typed)) continue;
      const pointed = typed.trim().replace(/^([-+]?\d*),(\d+)$/, "$1.$2"); // 0,5 is a half
      const meant = isNumber(pointed) ? ` Did you mean ${Number(pointed)}?` : "";
      return `The ${key} of ${name} has to be a number, not “${cut(typed, 20)}”.${meant}`;
    }
  return "";
}
const parametersOf = (name) =>
  ((name === editedName() ? signature()?.parameters : about_(name)?.parameters) ?? []).filter(
    (one) => one.adjustable !== false,
  );
const argumentsOf = (name) => (name === editedName() ? signature()?.arguments : about_(name)?.arguments) ?? [];

export function drawFunctions() {
  tell("scoring");
  const body = find(".chosen tbody");
  const names = [editedName(), ...others];
  // Under the hands of someone who types here nothing is exchanged.
  if (
    body.contains(document.activeElement) &&
    [...body.children].map((row) => row.dataset.key).join() === names.map(keyOf).join()
  )
    return;
  body.replaceChildren(...names.map(functionRow));
  const add = find("select.add");
  const free = [...page.about.library.own, ...page.about.library.built_in].filter((one) => !names.includes(one.name));
  add.replaceChildren(option("", "Add a function…"), ...free.map((one) => option(one.name)));
}
const keyOf = (name) =>
  `${name}(${parametersOf(name)
    .map((one) => `${one.name}=${JSON.stringify(one.default)}`)
    .join()})`;

function functionRow(name, n) {
  const set = settingsOf(name);
  const box = (key, label) => {
    const input = numberField({ "aria-label": `${label} of ${name || "the function"}` });
    input.classList.add(key);
    input.value = key === "weight" ? weightShown(name, n) : set[key];
    input.addEventListener("input", () => {
      set[key] = input.value;
      if (key === "weight") set.touched = true;
      mark();
      tell("scoring");
    });
    const mark = () => {
      input.classList.toggle("wrong", !isNumber(input.value));
      input.setAttribute("aria-invalid", String(!isNumber(input.value)));
    };
    mark();
    return input;
  };
  const missing =
    page.columns === null
      ? []
      : argumentsOf(name).filter((one) => !page.columns.includes(one) && !(one in page.about.trl));
  return el(
    "tr",
    { "data-key": keyOf(name) },
    el(
      "td.what",
      el("b.mono", plain(name || "no function yet")),
      n === 0 ? el("span.xs.mut", " in the editor") : "",
      missing.length
        ? el("span.xs.warn.block", `This data has no column ${missing.map((one) => `“${one}”`).join(", ")}.`)
        : "",
    ),
    el("td.parameters", ...parametersOf(name).map((one) => parameterField(name, set, one))),
    el("td.n", { "data-label": "weight" }, box("weight", "Weight")),
    el("td.n", { "data-label": "timeout, s" }, box("timeout", "Timeout")),
    el(
      "td",
      n
        ? remover(`Leave ${name} out`, () => {
            others.splice(others.indexOf(name), 1);
            drawFunctions();
            find("select.add").focus();
          })
        : "",
    ),
  );
}
function parameterField(name, set, one) {
  const words = typedDefault(one.default);
  const choices = one.choices ?? (one.types.includes("bool") ? ["true", "false"] : null);
  const label = `${one.name} of ${name}`;
  const input = choices
    ? el(
        "select.input",
        { "aria-label": label },
        option("", String(one.default)),
        ...choices.filter((each) => String(each) !== String(one.default)).map((each) => option(String(each))),
      )
    : el("input.input", { type: "text", "aria-label": label, placeholder: words, spellcheck: "false" });
  input.value = set.parameters[one.name] ?? "";
  input.addEventListener(choices ? "change" : "input", () => {
    set.parameters[one.name] = input.value;
    tell("scoring");
  });
  return el("label.xs", { title: plain(one.help ?? "") }, el("span.mono", plain(one.name)), input);
}
// Whose settings “its” are: in a try those of the data, in a re-scoring those of the run. Both are named.
const settingsAt = () =>
  !find(".view-rescore").hidden && find("select.history").value ? `run:${find("select.history").value}` : dataChosen();
export function nameSettings() {
  const select = find(find(".view-rescore").hidden ? "select.data" : "select.history");
  const name = cut((select.selectedOptions[0]?.textContent ?? "").split(" · ")[0], 30);
  const whose = select.value ? `“${name}”` : "the data";
  setText(find("[data-do=as-set]"), `Add the rewards of ${whose}`);
  setText(find("select.scale option"), `as ${whose} has it`);
}
export function drawFunctionActions() {
  find("select.scale").addEventListener("change", () => tell("scoring"));
  find("select.add").addEventListener("change", ({ target }) => {
    if (target.value && !others.includes(target.value)) others.push(target.value);
    target.value = "";
    drawFunctions();
    find("select.add").focus();
  });
  action("as-set", async () => {
    const got = await call("run_rewards", { data: settingsAt() });
    for (const one of got?.rewards ?? []) {
      const [weight, timeout] = [String(one.weight), String(one.timeout)];
      // It counts in a try; where the run is scored anew, all count as they did there unless someone types a weight.
      const touched = find(".view-rescore").hidden;
      settings.set(one.name, { weight, timeout, parameters: typedParameters(one), touched });
      if (one.name !== editedName() && about_(one.name) && !others.includes(one.name)) others.push(one.name);
    }
    drawFunctions();
  });
  on("looked", drawFunctions);
  on("columns", drawFunctions);
  on("data", nameSettings);
  on("open", () => {
    const at = others.indexOf(page.open.name);
    if (at >= 0) others.splice(at, 1);
    drawFunctions();
  });
}
