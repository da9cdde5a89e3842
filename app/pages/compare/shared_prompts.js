// The prompts that the compared runs share, asked for once one looks at them.

import { setParams } from "../../ui/address.js";
import { el, show, showText } from "../../ui/dom.js";
import { countWords } from "../../ui/number.js";
import { drawnIds, find, order, page, runsDrawn, server, state } from "./core.js";
import { offerCsv, promptRows } from "./csv.js";
import { drawPrompt, drawTable, keepPlaces } from "./prompts.js";

const FOLLOW = 15000; // ms; a look at shared prompts reads every run's record
let shared = "";
let reported = {};
let heard = {};
let searching = null;
let drawn = { runs: [], rows: [], asked: "" };

const words = find(".alike input");
let inView = false;
new IntersectionObserver(
  (entries) => {
    inView = entries.at(-1).isIntersecting;
    if (inView) loadPrompts();
  },
  { rootMargin: "300px" },
).observe(find(".alike"));
words.addEventListener("input", () => {
  clearTimeout(searching);
  searching = setTimeout(loadPrompts, 200);
});
const first = find(".alike .order");
first.addEventListener("change", () => setParams({ prompts: first.value }));
// A live run's prompts follow it, but not at its every step.
export function hear() {
  const ids = drawnIds().join();
  const seqs = order.map(({ seq }) => seq).join();
  if (heard.ids !== ids || (heard.seqs !== seqs && Date.now() - heard.at > FOLLOW))
    heard = { ids, seqs, at: Date.now() };
}
const sharedKey = () => JSON.stringify([drawnIds(), words.value, state.prompts, heard.seqs, state.by]);
const reportedKey = () => JSON.stringify([drawnIds(), state.prompt, state.by]);
// A prompt that was chosen opens below the table: its completions are brought into sight, and some of the table stays.
let chosen = false;
function choose(hash) {
  chosen = true;
  if (hash === state.prompt) bringOne();
  else setParams({ prompt: hash }, { push: true });
}
function bringOne() {
  if (!chosen) return;
  chosen = false;
  if (find(".one").getBoundingClientRect().top > innerHeight * 0.6) find(".one").scrollIntoView({ block: "start" });
}
// Whether someone would lose their place in it.
const isRead = (node) =>
  node.matches(":hover, :focus-within") || (!getSelection().isCollapsed && node.contains(getSelection().anchorNode));
// What is said of the shared prompts where the table does not say it all.
function sharedWords({ rows, count, seen }, asked) {
  if (rows.length)
    return count > rows.length ? `${rows.length} of ${countWords(count, "shared prompt")}. Search for others.` : "";
  if (asked)
    return seen
      ? `${countWords(seen, "prompt has", "prompts have")} these words, none shared by two of these runs.`
      : "No prompt of these runs has these words.";
  return seen
    ? "No two of these runs were given the same prompt, so there is nothing to compare."
    : "None of these runs has recorded a prompt yet.";
}
offerCsv(".alike", "prompts", () => promptRows(drawn.runs, drawn.rows));
export async function loadPrompts() {
  first.value = state.prompts;
  if (!inView || order.length < 2) return;
  const key = sharedKey();
  if (shared !== key) {
    const now = await server.shared_prompts({ ids: drawnIds(), words: words.value, order: state.prompts });
    if (!now || key !== sharedKey()) return; // what is asked for by now was asked for when it changed
    shared = key;
    const asked = JSON.stringify([drawnIds(), words.value, state.prompts]);
    const rows = keepPlaces(now.rows ?? [], drawn.asked === asked ? drawn.rows : []);
    drawn = { runs: runsDrawn(), rows, asked };
    showText(find(".told"), now.sentence ?? sharedWords(now, words.value));
    find(".prompts").hidden = !rows.length;
    show(find(".alike .csv"), rows.length, find(".adder input"));
    show(words, rows.length || words.value, find(".adder input"));
    show(first, rows.length > 1, find(".adder input"));
    drawTable(find(".prompts table"), runsDrawn(), rows, state.prompt, choose);
  }
  await loadPrompt();
}
export async function loadPrompt() {
  for (const button of page.querySelectorAll(".prompts [data-hash]"))
    button.closest("tr").ariaCurrent = button.dataset.hash === state.prompt ? "true" : null;
  const key = reportedKey();
  const { seqs } = heard;
  const same = reported.key === key;
  if (same && (reported.seqs === seqs || isRead(find(".one")))) return;
  const now = state.prompt ? await server.prompt_in_runs({ ids: drawnIds(), hash: state.prompt }) : null;
  if (now === undefined || key !== reportedKey() || (same && isRead(find(".one")))) return;
  reported = { key, seqs };
  if (now?.runs) {
    drawPrompt(find(".one"), runsDrawn(), now);
    bringOne();
  } else
    find(".one").replaceChildren(
      el("p.s.mut", now?.sentence ?? (find(".prompts").hidden ? "" : "Choose a prompt to see each run’s completions.")),
    );
}
