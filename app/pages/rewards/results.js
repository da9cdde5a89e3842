// What a try found: sentences, each function's distribution, ties, agreement, and every completion with its scores.

import { el, setText, table } from "../../ui/dom.js";
import { number } from "../../ui/number.js";
import { cut, dotted } from "../../ui/text.js";
import { advantageBar, allAlike, histogram, score, scoreBar } from "./charts.js";
import { columnsInWords } from "./columns.js";
import { button, page } from "./core.js";
import { goToLine } from "./editor.js";
import { editedName } from "./functions.js";
import { many, orDash, percent, plain, plural, questionOf, seconds, wordsOf } from "./text.js";

// `isTyped`: a person wrote the completions, and sees what they earn before anything else.
export function drawResults(box, answer, isTyped = false) {
  const groups = answer.groups.map((group, n) => groupPanel(group, n, answer));
  box.replaceChildren(
    ...(isTyped ? groups : []),
    ...(answer.sentences?.length
      ? [
          el(
            "ul.sentences",
            ...answer.sentences
              .filter((one) => !answer.loopholes.some((other) => other.sentence === one))
              .map((one) => el("li", plain(one))),
          ),
        ]
      : []),
    el("div.cards.functions-found", ...answer.functions.map(functionCard), tiesCard(answer)),
    agreementTable(answer.agreement) ?? "",
    ...(isTyped ? [] : groups),
  );
}

function functionCard(one) {
  const stats = (one.mean ?? null) === null ? "no score" : `${number(one.mean)} ± ${orDash(one.std, number)}`;

  const metrics = Object.entries(one.metrics ?? {})
    .map(([name, value]) => `${name}: ${number(value)}`)
    .join(" · ");
  return el(
    "section.card",
    { "aria-label": one.name },
    el("div.row.between", el("b.mono", plain(one.name)), el("span.num", stats)),
    isConstant(one) ? allAlike(one.histogram, one.mean) : histogram(one.histogram, `Scores of ${one.name}`),
    el("p", { class: `xs ${one.errors ? "warn" : "mut"}` }, factsOf(one)),
    metrics ? el("p.xs.metrics", { title: "What it gave to log_metric" }, plain(metrics)) : "",
    ...failuresOf(one),
    one.out
      ? el("details", el("summary.xs", "What it printed"), el("pre.mono", { tabindex: "0" }, plain(one.out)))
      : "",
  );
}
const isConstant = ({ mean, std }) => (mean ?? null) !== null && (std ?? 0) < 1e-12;
export const factsOf = ({ errors, none, seconds: took }) =>
  dotted(
    errors ? plural(errors, "error") : "",
    none ? `${many(none)} without a score` : "",
    took ? `took ${seconds(took)}` : "", // its code could not be read: it was not called
  );
// Each kind of failure, of which the worker counted all.
export function failuresOf(one) {
  const edited = one.name === editedName() && !page.open.builtIn;
  const isOfBlocks = edited && Boolean(page.reading?.blocks); // whoever builds sees no lines
  return (one.failures ?? [])
    .slice(0, 5)
    .map((failure) =>
      el(
        "div.failure.s",
        failure.line && !isOfBlocks
          ? edited
            ? button(`line ${failure.line}`, () => goToLine(failure.line), "link s")
            : el("span", `line ${failure.line}`)
          : "",
        " ",
        el("span", plain(cut(failure.message ?? "", 600))),
        failure.count > 1 ? el("span.mut", ` (${many(failure.count)} completions)`) : "",
        failure.traceback
          ? el("details", el("summary.xs", "Traceback"), el("pre.mono", { tabindex: "0" }, plain(failure.traceback)))
          : "",
      ),
    );
}

const TIES = [
  ["bearing", "with a learning signal", "var(--high)"],
  ["all_high", "", "var(--ink-3)"], // by what is possible: the answer has the words
  ["other", "tied otherwise", "var(--line-strong)"],
  ["all_low", "all at lowest score", "var(--low)"],
  ["unscored", "with too few scores to compare", "var(--line)"],
];
function tiesCard({ ties, highest }) {
  if (!ties?.groups) return "";
  const named = TIES.map(([key, words, colour]) => [key, key === "all_high" ? highest : words, colour]);
  const there = named.filter(([key]) => ties[key]);
  const share = there.map(([key, words, colour]) =>
    el("i", { style: `flex:${ties[key]};background:${colour}`, title: `${words}: ${ties[key]}` }),
  );
  return el(
    "section.card",
    { "aria-label": "Groups" },
    el(
      "div.row.between",
      el("b", "Groups with a learning signal"),
      el("span.num", `${ties.bearing} of ${ties.groups}`),
    ),
    el(
      "div.parts",
      { role: "img", "aria-label": there.map(([key, words]) => `${ties[key]} ${words}`).join(", ") },
      ...share,
    ),
    el("p.xs.mut", there.map(([key, words]) => `${ties[key]} ${words}`).join(" · ")),
    el("p.xs.mut", "A group whose completions all earn the same gives no learning signal."),
  );
}

function agreementTable(found) {
  if (!found || found.names.length < 2) return null;
  const digits = (value) => value.toFixed(2).replace("-", "−");
  const row = (name, n) =>
    el(
      "tr",
      el("th.mono", { scope: "row" }, plain(name)),
      ...found.correlation[n].map((value, m) => el("td.n", orDash(m === n ? 1 : value, digits))),
      el("td.n", orDash(found.variance_share?.[name], percent)),
    );
  const head = el(
    "tr",
    el("th", "correlation"),
    ...found.names.map((name) => el("th.n.mono", { scope: "col" }, plain(name))),
    el("th.n", { scope: "col" }, "share of the variance"),
  );
  return el("section.agreement", el("h3", "Agreement"), el("div.scroll", table(head, found.names.map(row))));
}

// ---- the completions ----
const statusWords = { none: "no score", error: "error", timeout: "timed out" };
const asWords = (value) => (typeof value === "string" ? value : JSON.stringify(value));
// What reward functions get beside a group's prompt.
function columnsOf(group) {
  const said = columnsInWords(group.columns ?? {}, 80, questionOf(group.prompt));
  return said.length ? el("p.xs.mut.columns-of", said.join(" · ")) : "";
}
// What a full bar stands for: 1 where scores lie from 0 to 1, so that a third is a third of the bar in every try; else
// the largest score, which is said.
function spanOf(values) {
  const [low, top] = [Math.min(...values, 0), Math.max(...values, 0)];
  return { full: Math.max(1, top, -low), usual: low >= 0 && top <= 1, low };
}
function rangeOf({ full, usual, low }) {
  if (usual) return "";
  const words = low < 0 ? `bars from −${number(full)} to ${number(full)}` : `bars from 0 to ${number(full)}`;
  return el("span.xs.mut.block.range", words);
}
function groupPanel(group, n, answer) {
  const names = answer.functions.map((one) => one.name);
  const spans = Object.fromEntries(
    names.map((name) => [
      name,
      spanOf(answer.groups.flatMap((one) => one.completions.map((each) => each.scores?.[name]?.value ?? 0))),
    ]),
  );
  const widest = Math.max(...group.completions.map((one) => Math.abs(one.advantage ?? 0)), 0);
  const before = answer.groups.slice(0, n).reduce((sum, one) => sum + one.completions.length, 0);
  const prompt = plain(wordsOf(group.prompt));
  const head = el(
    "tr",
    el("th", { scope: "col" }, "completion"),
    ...names.map((name) => el("th.mono", { scope: "col" }, plain(name), rangeOf(spans[name]))),
    el("th.n", { scope: "col" }, "total"),
    el("th", { scope: "col" }, "advantage"),
  );
  return el(
    `section.group${names.length === 1 ? ".few" : ""}`,
    { "aria-label": `Group ${n + 1}` },
    el(
      "div.row.between",
      el(
        "h3.prompt-line",
        { title: cut(prompt, 2000) },
        group.row === null || group.row === undefined ? "" : el("span.mut", `row ${group.row + 1} `),
        cut(prompt.split("\n").filter(Boolean).at(-1) ?? "", 160),
      ),
    ),
    columnsOf(group),
    el(
      "div.scroll",
      table(
        head,
        alike(group.completions.map((one, m) => [one, logged(answer, before + m)])).map(([one, extras, times]) =>
          completionRow(one, names, spans, widest, extras, times),
        ),
      ),
    ),
  );
}
// Completions of which all that is shown is the same are one row, with how many they are.
function alike(completions) {
  const rows = new Map();
  for (const [one, extras] of completions) {
    const key = JSON.stringify([one, extras]);
    rows.set(key, [one, extras, (rows.get(key)?.[2] ?? 0) + 1]);
  }
  return [...rows.values()];
}
// What the functions gave to log_extra about one completion.
function logged(answer, place) {
  return answer.functions
    .flatMap((one) => Object.entries(one.extras ?? {}).map(([name, values]) => [name, values[place]]))
    .filter(([, value]) => value !== null && value !== undefined);
}
function completionRow(one, names, spans, widest, extras, times) {
  const cell = (found, name) =>
    found && found.status === "ok" && found.value !== null
      ? scoreBar(found.value, spans[name].full)
      : el("span", { class: found?.status === "none" ? "mut" : "warn" }, statusWords[found?.status] ?? "no score");
  return el(
    "tr",
    el(
      "td.text",
      one.probe
        ? el("span.xs.mut.block", `${plain(one.probe.replace(/_/g, " "))}${one.about ? `: ${plain(one.about)}` : ""}`)
        : "",
      times > 1 ? el("span.xs.mut.block.times", { title: "the same text and scores" }, `${times} ×`) : "",
      clipped(one.text),
      one.truncated ? el("span.xs.warn", "cut off at the max completion length") : "",
      ...extras.map(([name, value]) =>
        el("span.xs.mut.block.extra", plain(`${name}: ${value === "" ? "(empty)" : cut(asWords(value), 300)}`)),
      ),
    ),
    ...names.map((name) => el("td", { "data-label": name }, cell(one.scores?.[name], name))),
    el("td.n", { "data-label": "total" }, el("b", orDash(one.total, score))),
    el(
      "td",
      { "data-label": "advantage" },
      orDash(one.total === null ? null : one.advantage, (value) => advantageBar(value, widest)),
    ),
  );
}
// A completion in two lines; all of it on a click.
export function clipped(text) {
  const shown = plain(text);
  const long = shown.length > 150 || shown.split("\n").length > 2;
  const words = el(
    "pre.mono.clip",
    { dir: "auto" },
    ...(shown.trim() ? [cut(shown, 400)] : [el("span.mut", shown ? "(only white space)" : "(empty)")]),
  );
  if (!long) return words;
  const more = button(
    "all of it",
    () => {
      const open = words.classList.toggle("open");
      words.replaceChildren(open ? cut(shown, 100_000) : cut(shown, 400));
      setText(more, open ? "less" : "all of it");
      more.setAttribute("aria-expanded", String(open));
    },
    "link xs",
  );
  more.setAttribute("aria-expanded", "false");
  return el("div", words, more);
}
