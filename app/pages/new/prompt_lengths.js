// How long the prompts of the data are: a histogram, and the longest of them.

import { el } from "../../ui/dom.js";
import { countWords, wholeNumber } from "../../ui/number.js";

const theLongest = ({ row, length, text }, unit) =>
  el(
    "details.longest",
    el("summary.s", `The longest: row ${wholeNumber(row + 1)}, ${wholeNumber(length)} ${unit}`),
    el("pre.mono", { tabindex: "0" }, text),
  );
// `lengths`: what a check of the data says of them (edges and counts of bins, their unit, the longest); null of none.
export function drawPromptLengths(box, lengths) {
  box.hidden = !lengths || !lengths.counts.length;
  if (box.hidden) return;
  const most = Math.max(...lengths.counts, 1);
  const unit = lengths.unit;
  const first = lengths.edges[0];
  const last = lengths.longest?.length ?? lengths.edges.at(-1) - 1;
  // a bin ends before the next one begins, and the last one with the longest prompt
  const ends = lengths.edges.slice(1).map((edge) => Math.min(edge - 1, last));
  const binWords = (i) => {
    const [from, to] = [lengths.edges[i], ends[i]].map(wholeNumber);
    return ends[i] > lengths.edges[i] ? `${from} to ${to}` : from;
  };
  const about = (n, i) => `${countWords(n, "prompt")} of ${binWords(i)} ${unit}`;
  const bars = lengths.counts.map((n, i) =>
    el("i", { style: `height:${n ? Math.max(3, (100 * n) / most) : 0}%`, title: about(n, i) }),
  );
  box.replaceChildren(
    el(
      "h3",
      `Length of the prompts in ${unit}: half have at most ${wholeNumber(Math.round(lengths.median))}, ` +
        `95 % at most ${wholeNumber(Math.round(lengths.p95))}`,
    ),
    el(
      "div.bars",
      { role: "img", "aria-label": `Histogram of prompt lengths from ${first} to ${last} ${unit}` },
      ...bars,
    ),
    el(
      "div.row.between.xs.mut",
      el("span", wholeNumber(first)),
      el("span", `highest bar: ${about(most, lengths.counts.indexOf(most))}`),
      el("span", wholeNumber(last)),
    ),
    lengths.longest ? theLongest(lengths.longest, unit) : "",
  );
}
