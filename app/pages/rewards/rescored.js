// What a re-scoring shows: old against new in sentences, distributions, over the steps, and the groups that change
// most.

import { el, table } from "../../ui/dom.js";
import { finePercent, number } from "../../ui/number.js";
import { cut, dotted } from "../../ui/text.js";
import { advantageBar, histogram, lines, score } from "./charts.js";
import { clipped, factsOf, failuresOf } from "./results.js";
import { many, orDash, plain, plural, wordsOf } from "./text.js";

export function drawRescored(box, found) {
  const figure = (label, value, words) =>
    el("div.card.figure", el("span.xs.mut", label), el("b", value), el("span.xs.mut", words));
  const { advantages, ranks, ties } = found;
  const scored = found.totals.old_mean !== null; // without it no advantage was, and no pair had an order
  box.replaceChildren(
    el("ul.sentences", ...found.sentences.map((one) => el("li", plain(one)))),
    el(
      "div.cards",
      figure(
        "Advantages that flip",
        scored && advantages.total ? finePercent(advantages.share) : "–",
        scored ? `${many(advantages.flipped)} of ${many(advantages.total)} change sign` : "no scores to compare with",
      ),
      figure(
        "Pairs that change order",
        ranks.pairs ? finePercent(ranks.share) : "–",
        ranks.pairs ? pairWords(ranks) : noPairs(scored),
      ),
      figure(
        "Groups with a learning signal",
        `${many(ties.old.bearing)} → ${many(ties.new.bearing)}`,
        `of ${many(ties.new.groups)}`,
      ),
    ),
    el(
      "div.cards",
      oldAndNew(
        "total reward",
        found.totals.edges,
        { mean: found.totals.old_mean, std: found.totals.old_std, counts: found.totals.old },
        { mean: found.totals.new_mean, std: found.totals.new_std, counts: found.totals.new },
      ),
      ...found.functions.map((one) => oldAndNew(one.name, one.edges, one.was_there ? one.old : null, one.new, one)),
    ),
    overSteps(found.steps),
    ...(found.groups.length ? [el("h3", "The groups that change most")] : []),
    ...found.groups.map(changedGroup),
  );
}
// A pair that is tied has no order that could change: how many are so now is told, as the number of pairs goes with it.
const pairWords = ({ swapped, pairs, merged, parted }) =>
  dotted(
    `${many(swapped)} of ${plural(pairs, "pair")} within a group, not counting ties`,
    merged ? `${many(merged)} more tied now` : "",
    parted ? `${many(parted)} no longer tied` : "",
  );
const noPairs = (scored) => (scored ? "no pairs to compare" : "no scores to compare with");
const scoreOr = (value) => orDash(value, score);

function oldAndNew(name, edges, old, now, one = null) {
  const said = (side) => orDash(side?.mean, number);
  const facts = one
    ? dotted(
        one.counts ? "" : "not in the new total",
        one.was_there ? `${many(one.changed)} scores change` : "new to this run",
        factsOf(one),
      )
    : "old as an outline, new filled";
  return el(
    "section.card",
    { "aria-label": name },
    el(
      "div.row.between",
      el("b", { class: one ? "mono" : "" }, plain(name)),
      el("span.num", old ? `${said(old)} → ${said(now)}` : said(now)),
    ),
    histogram({ edges, counts: now.counts }, `${name}, old and new`, old?.counts ?? null),
    el("p", { class: `xs ${one?.errors ? "warn" : "mut"}` }, facts),
    ...(one ? failuresOf(one) : []),
  );
}
function overSteps(steps) {
  if (steps.step.length < 2) return "";
  const of = (values) => steps.step.map((step, n) => [step, values[n]]);
  const drawn = lines(
    [
      { name: "as it was", kind: "before", points: of(steps.old) },
      { name: "as it would have been", kind: "now", points: of(steps.new) },
    ],
    "Mean reward at each step, old and new",
  );
  return drawn ? el("section", el("h3", "Mean reward at each step"), drawn) : "";
}

const changedHead = () =>
  el(
    "tr",
    el("th", { scope: "col" }, "completion"),
    el("th.n", { scope: "col" }, "total"),
    el("th", { scope: "col" }, "advantage then"),
    el("th", { scope: "col" }, "advantage now"),
  );
function changedGroup(group) {
  const prompt = plain(wordsOf(group.prompt));
  const widest = Math.max(
    ...group.completions.flatMap((one) => [one.old.advantage, one.new.advantage].map((value) => Math.abs(value ?? 0))),
  );
  const names = Object.keys(group.completions[0]?.new.scores ?? {});
  const scores = (one) =>
    names
      .filter((name) => one.old.scores[name] !== one.new.scores[name])
      .map((name) => `${name} ${scoreOr(one.old.scores[name])} → ${scoreOr(one.new.scores[name])}`)
      .join(" · ");
  const flips = (one) => one.old.advantage * one.new.advantage < 0;
  const row = (one) =>
    el(
      "tr",
      { class: flips(one) ? "flips" : "" },
      el("td.text", clipped(one.text), el("span.xs.mut", plain(scores(one)))),
      el("td.n", { "data-label": "total" }, `${scoreOr(one.old.total)} → `, el("b", scoreOr(one.new.total))),
      el("td", { "data-label": "advantage then" }, advantageBar(one.old.advantage, widest)),
      el(
        "td",
        { "data-label": "advantage now" },
        advantageBar(one.new.advantage, widest),
        flips(one) ? el("span.xs.warn", " flips") : "",
      ),
    );
  const flipped = group.completions.filter(flips).length;
  return el(
    "details.group",
    el(
      "summary.s",
      el("b", `Step ${many(group.step)}`),
      ` ${cut(prompt.split("\n").filter(Boolean).at(-1) ?? "", 120)} `,
      el(
        "span.mut",
        `advantages move by ${group.change.toFixed(2)} on average${flipped ? ` · ${plural(flipped, "flip")}` : ""}`,
      ),
    ),
    el("div.scroll", table(changedHead(), group.completions.map(row))),
  );
}
