// The tables of Compare: final metrics, settings that differ, reward code.

import { breakable, el, setText } from "../../ui/dom.js";
import { nameOf, shortName } from "../../ui/name.js";
import { countWords, number, percent, seconds, stepRange, wholeNumber } from "../../ui/number.js";
import {
  apartWords,
  bestOf,
  canBeAveraged,
  isOfBefore,
  meanOf,
  mixedWords,
  mostBehind,
  spreadWords,
} from "./measure.js";

export function swatch(look) {
  const dash =
    { solid: "", dash: "6 4", dot: "2 3", dashdot: "6 3 2 3", longdash: "10 4", longdashdot: "10 3 2 3" }[look.dash] ??
    "";
  const holder = el("span.swatch");
  const line = `<line x1="0" y1="4" x2="22" y2="4" stroke-width="3" stroke-dasharray="${dash}"/>`;
  holder.innerHTML = `<svg width="22" height="8" aria-hidden="true">${line}</svg>`;
  holder.querySelector("line").style.stroke = `var(${look.colour})`;
  return holder;
}
export function named(run) {
  return el("span.named", { title: run.name }, swatch(run), nameOf(run.name));
}
export function pill(run, words = run.label) {
  return run.there ? el("span", { class: `pill ${run.kind}` }, el("i"), el("span", words)) : el("span.mut.s", "–");
}
// What is said against a run, below its state: a pill of several lines is none.
const against = (run) => (run.against ? el("div.xs.against", { title: run.label }, run.against) : null);
const address = ({ id }) => `/run?id=${encodeURIComponent(id)}`;
// Why a run failed, was killed or interrupted.
const reason = (run) => (run.reason ? el("div.s.mut.reason", { dir: "auto", title: run.reason }, run.brief) : null);

// The head of a table with a column for each run.
export function head(first, runs) {
  const names = runs.filter(({ there }) => there).map(named);
  return el("thead", el("tr", ...[first, ...names].map((name) => el("th", { scope: "col" }, name))));
}

// On a phone a table is laid out in blocks, of which some browsers tell no table any more unless told so.
const ROLES = { TABLE: "table", THEAD: "rowgroup", TBODY: "rowgroup", TR: "row", TD: "cell" };
function heardAsTable(table) {
  for (const node of [table, ...table.querySelectorAll("thead, tbody, tr, th, td")])
    node.setAttribute("role", ROLES[node.tagName] ?? (node.scope === "row" ? "rowheader" : "columnheader"));
}

const shortened = (name) => shortName(name, 28);
// Words with the names of runs in them, of which long ones lose their middles: a sentence is read for its figures.
export function withNames(words, runs) {
  const quoted = runs.map(({ name }) => name).filter((name) => words.includes(`“${name}”`));
  const first = quoted.sort((a, b) => b.length - a.length)[0];
  if (first === undefined) return [words];
  const others = runs.filter(({ name }) => name !== first);
  const name = () => el("span.quoted", { title: first }, "“", el("bdi", shortened(first)), "”");
  return words.split(`“${first}”`).flatMap((part, i) => [...(i ? [name()] : []), ...withNames(part, others)]);
}

// ---- finals ----
// The steps that a run's figures are means of.
function stepsOf({ final }) {
  return final?.means_of ? el("span.xs.mut.means-of", stepRange(final.means_of)) : null;
}
const share = (value) => (value === null ? "–" : percent(value));
const duration = (value) => (value === null ? "–" : seconds(value));
const whole = (value) => (value === null ? "–" : wholeNumber(value));
// Of each column: its key, head, and how a value is written. Which have a best: measure.js (the least KL and the fewest
// tied groups are those of a run that has not begun to learn).
export const COLUMNS = [
  ["step", "steps", whole],
  ["reward", "reward", number],
  ["held_out", "held-out reward", number],
  ["solved", "solved", share],
  ["kl", "KL", number],
  ["length", "length", number],
  ["tied", "tied groups", share],
  ["time", "time", duration],
  ["tokens", "tokens", whole],
];

function sorted(runs, order) {
  const down = order.startsWith("-");
  const key = order.replace(/^-/, "");
  const of = (run) =>
    key === "name" ? run.name.toLowerCase() : key === "state" ? (run.label ?? "") : (run.final?.[key] ?? null);
  return !key
    ? runs
    : [...runs].sort((a, b) => {
        const left = of(a);
        const right = of(b);
        if (left === null || right === null) return (left === null) - (right === null);
        return (left < right ? -1 : left > right ? 1 : 0) * (down ? -1 : 1);
      });
}

// The head of a column that can be sorted by; `order`: the key that it is sorted by now, with “-” before it
// downwards.
function sortable(key, title, numeric, order, sort) {
  const down = order.startsWith("-");
  const [way, arrow] =
    order.replace(/^-/, "") !== key ? ["none", ""] : down ? ["descending", " ↓"] : ["ascending", " ↑"];
  const button = el("button.sort", { "data-sort": key, onclick: () => sort(key) }, title, arrow);
  return el("th", { scope: "col", class: numeric ? "n" : "", "aria-sort": way }, button);
}

// What the runs of a group came to, on average of those that have a value; of rewards and shares solved also how far
// they usually differ from that, and nothing where those are not one measure.
function meanRow(group, runs) {
  const those = runs.filter(({ id }) => group.ids.includes(id));
  const words = (count) => (those.length === 1 ? "1 run" : `mean of ${countWords(count, "run")}`);
  const cell = ([key, name, write]) => {
    if (!canBeAveraged(those, key))
      return el("td.n", { title: "No mean: not comparable", "data-name": name }, write(null));
    const { n, mean, std } = meanOf(those, key) ?? { n: 0, mean: null, std: null };
    const spread = ["reward", "held_out", "solved"].includes(key) ? spreadWords(std, key) : "";
    const title = `${words(n)}${spread ? ", ± their standard deviation" : ""}`;
    return el("td.n", { title, "data-name": name }, write(mean), spread ? el("span.xs.mut", spread) : null);
  };
  const label = el("span.named", { title: group.label }, swatch(group), nameOf(group.label));
  const mixed = mixedWords(those);
  const about = el("td.s.mut", el("div.about-it", words(those.length), mixed ? el("div.xs.apart", mixed) : null));
  return el("tr", el("td.name", label), about, ...COLUMNS.map(cell));
}

// `groups`: those that the runs are in, where they are grouped.
export function drawFinals(table, runs, order, sort, groups = []) {
  const top = (key, title, numeric) => sortable(key, title, numeric, order, sort);
  const best = Object.fromEntries(COLUMNS.map(([key]) => [key, bestOf(runs, key)]));
  const cell = (run, [key, name, write]) => {
    const value = run.final?.[key] ?? null;
    const at = key === "held_out" ? run.final?.held_out_at : null;
    const first = best[key].get(run.id);
    const most = value === null ? "" : mostBehind(runs, run, key);
    const earlier = value === null ? null : run.final.earlier?.[key]; // its steps, where not those of the row
    return el(
      "td",
      { class: first ? "n best" : "n", "data-name": name },
      first ? el("span.xs", { title: first }, "▲ ") : null,
      write(value),
      most ? el("span.xs.mut", most) : null,
      earlier ? el("span.xs.mut", ` ${stepRange(earlier)}`) : null,
      isOfBefore(run, key)
        ? el("span.xs.mut", " before training")
        : at && at < run.final.step
          ? el("span.xs.mut", ` step ${wholeNumber(at)}`)
          : null,
    );
  };
  const apart = (run) => {
    const words = apartWords(runs, run);
    return words ? el("div.xs.mut.apart", words) : null;
  };
  const focused = table.contains(document.activeElement) ? document.activeElement.dataset.sort : null;
  const parts = [
    el(
      "thead",
      el("tr", top("name", "run"), top("state", "state"), ...COLUMNS.map(([key, title]) => top(key, title, true))),
    ),
    groups.length ? el("tbody.means", ...groups.map((group) => meanRow(group, runs))) : null,
    el(
      "tbody.runs",
      ...sorted(runs, order).map((run) =>
        el(
          "tr",
          { "data-run": run.id },
          el(
            "td.name",
            run.there ? el("a", { href: address(run), "aria-label": run.name }, named(run)) : named(run),
            " ",
            stepsOf(run),
          ),
          el("td", el("div.about-it", pill(run, run.short), against(run), reason(run), apart(run))),
          ...COLUMNS.map((column) => cell(run, column)),
        ),
      ),
    ),
  ];
  table.replaceChildren(...parts.filter(Boolean));
  heardAsTable(table);
  if (focused) table.querySelector(`[data-sort="${focused}"]`)?.focus();
}

// ---- settings ----
const FEW = 8; // settings that are shown before all are asked for; one or two more are no reason to ask
const FEW_RUNS = 3; // of which a phone has each setting as a block
export function drawSettings(table, runs, fields, by, group) {
  const more = table.closest("section").querySelector(".more");
  const shown = more.dataset.all || fields.length <= FEW + 2 ? fields : fields.slice(0, FEW);
  more.hidden = shown.length === fields.length;
  setText(more, `Show all ${countWords(fields.length, "setting")}`);
  more.onclick = () => {
    more.dataset.all = "yes";
    drawSettings(table, runs, fields, by, group);
    table.querySelectorAll("[data-name]")[FEW].focus();
  };
  // Whose value it is stands beside it where there are no columns: the head tells it to whoever hears the table.
  const whose = (run) => el("span.whose", { "aria-hidden": "true" }, named(run));
  const cell = (value, run) =>
    value
      ? el(
          "td",
          { class: value.set ? "" : "mut", title: value.set ? value.words : `${value.words} (the default)` },
          whose(run),
          el("bdi.value", value.words),
        )
      : el("td.mut", whose(run), el("span.value", "–"));
  const here = runs.filter(({ there }) => there);
  table.classList.toggle("few", here.length <= FEW_RUNS);
  const title = "Group the curves by this";
  const look = ({ name }) => ({ dir: "auto", title, "data-name": name, "aria-pressed": `${name === by}` });
  const focused = table.contains(document.activeElement) ? document.activeElement.dataset.name : null;
  table.replaceChildren(
    head("setting", runs),
    el(
      "tbody",
      ...shown.map((field) =>
        el(
          "tr",
          el(
            "th",
            { scope: "row" },
            el("button.link", { ...look(field), onclick: () => group(field.name) }, field.label),
            el("bdi.mono.xs.mut", ...breakable(field.name)),
          ),
          ...field.values.filter((_, i) => runs[i]?.there).map((value, i) => cell(value, here[i])),
        ),
      ),
    ),
  );
  heardAsTable(table);
  if (focused) table.querySelector(`[data-name="${CSS.escape(focused)}"]`)?.focus();
}

// ---- reward code ----
const lineOf = ([kind, words]) =>
  el(
    "span",
    { class: { "+": "added", "-": "removed", "@": "place" }[kind] ?? "" },
    `${kind === "@" ? "" : kind} ${words}\n`,
  );
// How it differs, or else the code itself, where there is any of the two runs.
function codeOf({ name, hashes, lines, code, words }) {
  const versions = new Set(hashes.filter(Boolean)).size;
  const about = [
    `${hashes.filter(Boolean).length} of ${countWords(hashes.length, "run")}`,
    versions > 1 ? `${versions} versions` : "one version",
    words,
  ].filter(Boolean);
  const head = [el("b.mono", name), " ", el("span.s.mut", about.join(" · "))];
  const shown = lines ? lines.map(lineOf) : code ? [el("span", code)] : null;
  return shown
    ? el(
        "details.panel.function",
        { open: !!lines, "data-function": name },
        el("summary", ...head),
        el("pre.diff.mono", { tabindex: "0" }, ...shown),
      )
    : el("div.panel.function", { "data-function": name }, ...head);
}
export function drawCode(box, functions) {
  box.replaceChildren(...functions.map(codeOf));
  if (!functions.length) box.append(el("p.s.mut", "None of these runs has reward code in its folder."));
}
