// Whether the figures of runs are the same measure: among which of them there is a best, and what keeps them apart.

import { atMost, countWords, number, numberInWords, percent, wholeNumber } from "../../ui/number.js";
import { listed } from "../../ui/text.js";

// By which mark of app/pages/compare/compare.py a column's values can be compared, besides what all are measured on.
const MARKS = { reward: ["reward"], held_out: ["reward", "held_out"], solved: ["solved"] };
const CALLED = {
  ...{ data: "data", temperature: "temperature", sampling: "sampling settings", limit: "length limit" },
  ...{ reward: "reward functions", solved: "measure of solved", held_out: "held-out rows", span: "steps" },
};
const MEASURED_ON = ["data", "temperature", "sampling", "limit"];
const share = (value) => (value === null ? "–" : percent(value));
const WRITE = { reward: number, held_out: number, solved: share };
const plainly = (value) => value.toLocaleString("en", { maximumSignificantDigits: 3 });

// Whether a run's value of a column is from before its training, and so says nothing of what it came to.
export const isOfBefore = ({ final }, key) => key === "held_out" && final?.held_out_at === 0 && final.step > 0;
// Of how many steps a run's reward and solved are means: of others where runs are logged at other intervals.
const OF_SPAN = ["reward", "solved"];
const spanOf = ({ final }) => (final?.means_of ? final.means_of[1] - final.means_of[0] + 1 : null);
const markOf = (run, name) => (name === "span" ? spanOf(run) : run.alike[name]);
const marksOf = (key) => [...MARKS[key], ...MEASURED_ON, ...(OF_SPAN.includes(key) ? ["span"] : [])];
// The runs with a value in a column, in lots within which it means the same.
function lotsOf(runs, key, marks = marksOf(key)) {
  const lots = new Map();
  for (const run of runs) {
    if ((run.final?.[key] ?? null) === null || isOfBefore(run, key)) continue;
    const known = run.alike?.[MARKS[key][0]];
    const mark = known ? JSON.stringify(marks.map((name) => markOf(run, name))) : run.id;
    lots.set(mark, [...(lots.get(mark) ?? []), run]); // of unknown rewards: like no other's
  }
  return [...lots.values()];
}
// By which column's measure the values of a metric are compared; of the others each is what its name says.
const COLUMN_OF = {
  ...{ reward: "reward", reward_std: "reward", eval_reward: "held_out", eval_reward_std: "held_out" },
  ...{ "groups/spread": "reward", "groups/best": "reward", "groups/worst": "reward", "groups/solved": "solved" },
};
// Whether a mean over these runs is of one measure: of a column,
export function canBeAveraged(runs, key) {
  return !MARKS[key] || lotsOf(runs, key).length < 2;
}
// or of a metric's line, which is of the same steps whatever the figures at its end are of.
export function lineCanBeAveraged(runs, metric) {
  const key = COLUMN_OF[metric];
  return !key || lotsOf(runs, key, [...MARKS[key], ...MEASURED_ON]).length < 2;
}
// Those of a lot that trained about as long as the longest of them: what others would have come to is not known.
const AS_LONG = 0.9;
const stepsOf = ({ final }) => final.step ?? 0;
function asLong(lot) {
  const least = AS_LONG * Math.max(...lot.map(stepsOf));
  return lot.filter((run) => stepsOf(run) >= least);
}
// The runs with the best value of a column, each with what its sign means; none where one is alone, all are equal,
// another may be behind by chance alone, or is written alike, or one that trained for fewer steps is no worse.
export function bestOf(runs, key) {
  const best = new Map();
  const lots = MARKS[key] ? lotsOf(runs, key) : [];
  for (const all of lots) {
    const lot = asLong(all);
    const values = lot.map((run) => run.final[key]);
    const top = Math.max(...values);
    if (values.every((value) => value === top) || all.some((run) => !lot.includes(run) && run.final[key] >= top))
      continue;
    const first = lot.find((run) => run.final[key] === top);
    const alike = lot.some((run) => run.final[key] < top && WRITE[key](run.final[key]) === WRITE[key](top));
    if (alike || behindByChance(first, lot, key).length) continue;
    const which = [lots.length > 1 && "are measured alike", lot.length < all.length && "trained as long"];
    const of = which.some(Boolean)
      ? `the ${countWords(lot.length, "run")} here that ${listed(which.filter(Boolean))}`
      : "these runs";
    for (const run of lot) if (run.final[key] === top) best.set(run.id, `the best of ${of} at the end`);
  }
  return best;
}

// ---- what differs ----
function distinct(runs, value) {
  return [...new Set(runs.map((run) => value(run) ?? null))];
}
// Each way in which the runs' figures are measured otherwise: [its name, what it is called].
function ways(runs) {
  const spans = distinct(runs, spanOf);
  const differ = (name) => distinct(runs, (run) => run.alike?.[name]).length > 1;
  const values = (name, unit = "") =>
    valueWords(
      distinct(runs, (run) => run.alike?.[name]),
      unit,
    );
  return [
    differ("data") && ["data", "data"],
    differ("reward") && ["reward", "reward functions (which, weights, parameters or code)"],
    differInSolved(runs) && ["solved", `what counts as solved (${solvedApartWords(runs)})`],
    differ("temperature") && ["temperature", `temperature${values("temperature")}`],
    differ("sampling") && ["sampling", "other sampling settings"],
    differ("limit") && ["limit", `length limit${values("limit", " tokens")}`],
    spans.length > 1 && ["span", `how many steps their figures are means of${valueWords(spans, "")}`],
  ].filter(Boolean);
}
const solversOf = (runs) => runs.map(({ alike }) => alike).filter((alike) => alike?.solved);
const differInSolved = (runs) => distinct(solversOf(runs), ({ solved }) => solved).length > 1;
// In which of its parts what counts as solved differs: by another function nothing else is to be compared.
function solvedApartWords(runs) {
  const values = (name) => distinct(solversOf(runs), (alike) => alike.solved_of[name]);
  const by = distinct(solversOf(runs), (alike) => alike.solved_by).map((name) => `“${name}”`);
  if (by.length > 1) return `by ${listed(by)}`;
  const parts = [
    values("code").length > 1 && `the code of ${by[0]}`,
    values("parameters").length > 1 && `the parameters of ${by[0]}`,
    values("score").length > 1 && `the least score that counts: ${valueList(values("score"))}`,
  ];
  return listed(parts.filter(Boolean));
}
function valueWords(values, unit) {
  if (values.includes(null)) return "";
  return ` (${valueList(values)}${unit})`;
}
// Values in words, in the order of the runs, so that what is said of two runs is of the same one each time; many as the
// least and the greatest.
function valueList(values) {
  if (values.length <= 4) return listed(values.map(plainly));
  const sorted = [...values].sort((a, b) => a - b);
  return `${plainly(sorted[0])} to ${plainly(sorted.at(-1))}`;
}
// What keeps the runs' figures from being compared, in one line; "" where nothing does.
export function differWords(runs) {
  const some = runs.filter(({ final }) => (final?.reward ?? null) !== null);
  const isKnown = ({ alike }) => Boolean(alike?.reward);
  const unknown = some.filter((run) => !isKnown(run)).map(({ name }) => `“${name}”`);
  if (!unknown.length) return differ(some, "These runs");
  const rest = differ(some.filter(isKnown), "The others");
  const own = unknown.length > 1 ? "their" : "its";
  return `The settings of ${listed(unknown)} cannot be read, so ${own} figures cannot be compared. ${rest}`.trim();
}
// The same of runs whose settings are known, which are called `they`.
function differ(some, they) {
  const found = ways(some);
  const steps = valueWords(
    distinct(some, ({ final }) => final.step),
    "",
  );
  const apart = distinct(some, ({ final }) => final.step).length > 1;
  if (!found.length) return apart ? `${they} have trained for different numbers of steps${steps}.` : "";
  const names = found.map(([name]) => name);
  const what = names.some((name) => MEASURED_ON.includes(name))
    ? "their figures"
    : listed(
        [
          (names.includes("reward") || names.includes("span")) && "total rewards",
          (names.includes("solved") || (names.includes("span") && solversOf(some).length)) && "shares solved",
        ].filter(Boolean),
      );
  const said = found.map(([, words]) => words);
  if (!partedLots(some).some((lot) => lot.length > 1))
    return `${they} differ in ${listed(apart ? [...said, `steps${steps}`] : said)}, so ${what} cannot be compared.`;
  const long = apart ? ` They have trained for different numbers of steps${steps}.` : "";
  const so = "can be compared only among runs that are alike in that";
  return `${they} differ in ${listed(said)}, so ${what} ${so}.${long}`;
}
// The lots of each column in which there are several.
const partedLots = (runs) =>
  ["reward", "solved"].map((key) => lotsOf(runs, key)).flatMap((lots) => (lots.length > 1 ? lots : []));
// What ▲ means in the table; "" where no run has it.
export function bestWords(runs) {
  if (!Object.keys(MARKS).some((key) => bestOf(runs, key).size)) return "";
  const lots = Object.keys(MARKS).flatMap((key) => lotsOf(runs, key));
  const which = [
    partedLots(runs).length && "are measured alike",
    lots.some((lot) => asLong(lot).length < lot.length) && "trained as long",
  ].filter(Boolean);
  const among = which.length ? ` among runs that ${listed(which)}` : "";
  return `▲ the best at the end${among}, where that is more than chance`;
}
// Why the mean of some runs is of no one measure; "" where it is.
export function mixedWords(runs) {
  const names = ways(runs.filter(({ final }) => (final?.reward ?? null) !== null)).map(([name]) => name);
  if (!names.length) return "";
  const which = names.some((name) => MEASURED_ON.includes(name)) ? "" : `${listed(names)} `;
  return `${which}not comparable: they differ in ${listed(names.map((name) => CALLED[name]))}`;
}
// Whether a run's value of a column is compared with no other's, while those of others are with each other's.
export function isApart(runs, { id }, key) {
  const lots = MARKS[key] ? lotsOf(runs, key) : [];
  return lots.some((lot) => lot.length > 1) && lots.some((lot) => lot.length === 1 && lot[0].id === id);
}
// Why a run has no part in who is best, while others have: what of it is measured otherwise; "" of one that has.
export function apartWords(runs, run) {
  const apart = apartIn(runs, run);
  if (!apart.length) return "";
  const told = ["reward", "solved"].filter((key) => (run.final?.[key] ?? null) !== null);
  const which = apart.length < told.length ? `${listed(apart)} not compared` : "not compared";
  return `${which}: ${apartReasonOf(runs, run)}`;
}
const apartIn = (runs, run) => ["reward", "solved"].filter((key) => isApart(runs, run, key));
// What of it is measured otherwise than of most; "" of one that has a part.
export function apartReasonOf(runs, run) {
  const [key] = apartIn(runs, run);
  if (!key) return "";
  if (!run.alike?.reward) return "its settings cannot be read";
  const [others] = lotsOf(runs, key).sort((a, b) => b.length - a.length);
  const marks = marksOf(key).filter((name) => markOf(run, name) !== markOf(others[0], name));
  return `other ${listed(marks.map((name) => CALLED[name]))}`;
}

// ---- what there is to see first ----
// Names stand in it between “ and ”, as a whole (tables.js draws them as there is room).
// One sentence each: who did best, as far as that can be said, on held-out prompts first, and what keeps them apart.
// `groups`: those that the runs are in, where they are grouped: then their means are told of.
export function shortWords(runs, groups = []) {
  const rank = (key, title) => rankWords(runs, groups, key, title);
  const heldOut = rank("held_out", "Held-out reward, on prompts that are not trained on");
  const where = heldOut ? " in training" : "";
  const solved = rank("solved", `Solved${where} at the end`);
  const reward = rank("reward", `Reward${where} at the end`);
  return [heldOut, solved || reward, differWords(runs)].filter(Boolean);
}
// Who did not end well, a line each, those with problems first; none where that is all of them. Why one failed, and
// what else there is to say of it, its row of the table has.
const NAMED_FIRST = 4;
export function firstLines(runs) {
  const ill = ["bad", "warn"].flatMap((kind) => runs.filter((run) => run.kind === kind));
  if (ill.length === runs.length) return [];
  const said = (run) => (endedWithVerdict(run) ? run.verdict : run.label);
  const lines = ill.slice(0, NAMED_FIRST).map((run) => `“${run.name}”: ${said(run)}`);
  const more = ill.length - lines.length;
  return more ? [...lines, `and ${wholeNumber(more)} more`] : lines;
}
const endedWithVerdict = ({ state, verdict }) => state === "finished" && verdict;
// What is said of each of several runs: where all of them finished, each with a verdict, the verdict alone.
export function verdictsAlone(runs) {
  const are = runs.length > 1 && runs.every(endedWithVerdict);
  return ({ label, verdict }) => (are ? verdict : label);
}
function rankWords(runs, groups, key, title) {
  const lots = lotsOf(runs, key);
  if (lots.length !== 1 || lots[0].length < 2) return "";
  const some = groups.length ? meansOf(groups, lots[0], key) : lots[0];
  const shown = (one) => WRITE[key](one.final[key]);
  // What reads the same has no order of its own: it stands as in the table.
  const order = [...some].sort((a, b) => (shown(a) === shown(b) ? 0 : b.final[key] - a.final[key]));
  const said = (one) => `“${one.name}”: ${one.told ?? WRITE[key](one.final[key])}`;
  const few = order.length <= 3 ? order.map(said) : [said(order[0]), said(order[1]), "…", said(order.at(-1))];
  const how = order.some((one) => shown(one) !== shown(order[0])) ? ", best first" : "";
  return `${title}${groups.length ? ", mean of each group" : ""}${how}: ${few.join(", ")}.${chanceWords(order, key)}`;
}
// ---- what rewards can come to ----
const REWARDS = ["reward", "held_out"];
const mostKnown = (runs) => distinct(runs, ({ most }) => most).filter((most) => most > 0);
// What stands behind a run's reward where the runs can come to different ones: “ of at most 3”. What is not known of a
// run is not said.
export const mostWords = (runs, { most }) => (mostKnown(runs).length > 1 ? atMost(most) : "");
// The same behind a figure of the column with this key.
export const mostBehind = (runs, run, key) => (REWARDS.includes(key) ? mostWords(runs, run) : "");
// What there is to say of that beside the chart of a metric.
const DRAWN = ["reward", "eval_reward"];
export function mostsWords(runs, metric) {
  const known = mostKnown(runs).sort((a, b) => a - b);
  if (!DRAWN.includes(metric) || known.length < 2) return "";
  const said = known.length > 4 ? `${plainly(known[0])} to ${plainly(known.at(-1))}` : listed(known.map(plainly));
  return `these runs can reach different rewards: at most ${said}`;
}
// Under the chart of the share solved: by which functions it is.
export function solvedWords(runs, metric) {
  const by = distinct(runs, ({ alike }) => alike?.solved_by)
    .filter(Boolean)
    .map((name) => `“${name}”`);
  if (metric !== "groups/solved" || !by.length) return "";
  return `scored correct by ${by.length > 1 ? "each run’s own function: " : ""}${listed(by)}`;
}

// ---- groups of runs ----
// What the runs of a group came to in a column: their mean, how far they usually differ from it (null of one alone),
// and by how much the mean may be off by chance: by how much its runs differ, and by no less than each of them is.
export function meanOf(runs, key) {
  const some = runs.filter((run) => (run.final?.[key] ?? null) !== null && !isOfBefore(run, key));
  const values = some.map((run) => run.final[key]);
  const n = values.length;
  if (!n) return null;
  const mean = values.reduce((a, b) => a + b, 0) / n;
  const std = n > 1 ? Math.sqrt(values.reduce((a, b) => a + (b - mean) ** 2, 0) / (n - 1)) : null;
  const own = Math.hypot(...some.map((run) => run.final.errors?.[key] ?? 0)) / n;
  return { n, mean, std, error: Math.max(own, (std ?? 0) / Math.sqrt(n)) };
}
export function spreadWords(std, key) {
  if (std === null) return "";
  return ` ± ${key === "solved" ? percent(std) : numberInWords(Number(std.toPrecision(2)))}`;
}
// The groups as if each were a run, for a column in which all of these runs are measured alike.
function meansOf(groups, runs, key) {
  return groups.flatMap(({ label, ids }) => {
    const found = meanOf(
      runs.filter(({ id }) => ids.includes(id)),
      key,
    );
    if (!found) return [];
    const told = `${WRITE[key](found.mean)}${spreadWords(found.std, key)} (${countWords(found.n, "run")})`;
    return [{ id: label, name: label, told, final: { [key]: found.mean, errors: { [key]: found.error } } }];
  });
}
// Which runs are no worse than the best for sure: two standard errors of the difference apart, or less.
const SURE = 2;
function behindByChance(best, runs, key) {
  const off = (run) => run.final.errors?.[key] ?? 0;
  const near = runs.filter((run) => best.final[key] - run.final[key] <= SURE * Math.hypot(off(best), off(run)));
  return near.filter((run) => run.final[key] < best.final[key]);
}
function chanceWords([best, ...others], key) {
  const isLevel = (one) => WRITE[key](one.final[key]) === WRITE[key](best.final[key]);
  const level = others.filter(isLevel);
  const apart = behindByChance(best, others, key).filter((one) => !isLevel(one));
  const names = (some) => listed(some.map(({ name }) => `“${name}”`));
  if (level.length && level.length === others.length) return " There is no difference to see.";
  if (apart.length + level.length === others.length && others.length > 1) return " The differences may be chance.";
  const none = level.length ? ` Between ${names([best, ...level])} there is no difference to see.` : "";
  return apart.length ? `${none} “${best.name}” may be ahead of ${names(apart)} by chance.` : none;
}
