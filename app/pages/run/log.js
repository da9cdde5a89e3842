// The log: its end as it is written, or a stretch of it in which searched words stand. Whole lines are added once, the
// line being written is replaced. Text is always placed as text.

import { params } from "../../ui/address.js";
import { breakable, copy, el, option, setText, showText } from "../../ui/dom.js";
import { countWords, wholeNumber } from "../../ui/number.js";
import { part } from "../../ui/part.js";
import { poll } from "../../ui/poll.js";
import { foldSaved, forgetSaved, isShown } from "./log_checkpoints.js";
import { forgetErrors, markError } from "./log_errors.js";
import { metricsWith } from "./log_found.js";
import { fold, forgetFolds, looksOfLibrary, OF_RANK, sayRepeats } from "./log_folds.js";

const { root: view, find, server } = part("pages/run/log");
const run = params().get("id") ?? "";
const box = find(".lines");
const follow = find(".follow");
const writing = el("div.writing");
const MOST = 1000000; // characters kept before the end is asked for anew
const PAUSE = 250; // ms after the last key before it is searched
let at = 0;
let read = 0; // up to where the log was read
let missed = null; // while paused: up to where new lines were counted, how many there are, and whether there are more
let kept = 0; // characters
let following = true;
let live = false;
let metrics = false; // whether the trainer's metric lines are shown
let warnings = false; // whether what libraries warn of, and their full progress bars, are shown
let metricsForSearch = false; // whether they are only because searched words stand in one
const ranks = find(".ranks");
const chosenRank = () => ranks.querySelector("select").value; // "" for all
// Our own lines tell of the whole run, whichever rank printed them.
const isOfOthers = (node) => !!chosenRank() && !node.matches(".ours") && (node.dataset.rank ?? "") !== chosenRank();
find(".download").href = `/log?${new URLSearchParams({ id: run })}`;

// ---- lines ----
function pair([name, value], isFound) {
  const parts = name === "step" ? [] : [el("span.mut", ...withMarks(name, breakable), " "), ...withMarks(value)];
  const node = name === "step" ? el("b.of-step", ...withMarks(`step ${value}`)) : el("span.pair", ...parts);
  if (isFound && !node.querySelector("mark")) node.replaceChildren(el("mark", ...node.childNodes));
  return node;
}
function line([from, words, values, ownKind]) {
  const node = el(values ? "div.metrics" : ownKind ? "div.ours" : "div", { "data-at": from });
  node.words = words;
  const rank = OF_RANK.exec(words)?.[1] ?? "";
  if (rank) node.dataset.rank = rank;
  node.hidden = isOfOthers(node);
  node.values = values;
  markError(node, ownKind);
  paint(node);
  fold(node);
  return node;
}
// A text with the searched words marked, wherever they stand in it; `rest` makes what holds none.
function withMarks(words, rest = (text) => [text]) {
  const lower = words.toLowerCase();
  const wanted = search.words.toLowerCase();
  if (!wanted || lower.length !== words.length || !lower.includes(wanted)) return rest(words);
  const parts = [];
  let from = 0;
  for (let found = lower.indexOf(wanted); found >= 0; found = lower.indexOf(wanted, from)) {
    parts.push(...rest(words.slice(from, found)), el("mark", words.slice(found, found + wanted.length)));
    from = found + wanted.length;
  }
  return [...parts, ...rest(words.slice(from))];
}
function paint(node) {
  const { values, words } = node;
  const { rank } = node.dataset;
  const found = metricsWith(node, search.words);
  node.classList.toggle("found", hasWords(node, found));
  if (!values) node.replaceChildren(...withMarks(words));
  else node.replaceChildren(rank ? `[rank ${rank}] ` : "", ...values.map((one) => pair(one, found.has(one[0]))));
}
const hasWords = ({ words }, found) =>
  !!search.words && (found.size > 0 || words.toLowerCase().includes(search.words.toLowerCase()));
// Those in which words are marked, and those in which words are to be.
function paintFound() {
  for (const node of box.querySelectorAll("div:not(.writing)"))
    if (node.matches(".found") || hasWords(node, metricsWith(node, search.words))) paint(node);
  for (const node of box.querySelectorAll("div:not(.writing)")) sayRepeats(node);
}
function add(lines) {
  const nodes = lines.map(line);
  writing.before(...nodes);
  foldSaved(nodes);
  kept += lines.reduce((sum, [, words]) => sum + words.length, 0);
  sayFolded();
  offerRanks();
  addHits(nodes);
}
function begin(lines) {
  box.replaceChildren(writing);
  kept = 0;
  forgetFolds();
  forgetSaved();
  forgetErrors();
  add(lines);
}
function sayFolded() {
  sayMetrics();
  sayWarnings();
}
function sayWarnings() {
  const count = box.querySelectorAll(".of-library:not([hidden])").length;
  find(".warnings").hidden = !count;
  box.classList.toggle("without-warnings", !warnings);
  const whose = `${countWords(count, "line")} of libraries (warnings, progress)`;
  setText(find(".warnings span"), `${whose} ${warnings ? "shown" : "hidden"}`);
  setText(find(".warnings button"), warnings ? "Hide" : "Show");
}
find(".warnings button").addEventListener("click", () => {
  warnings = !warnings;
  sayWarnings();
  countShown();
});
find(".found-hidden").addEventListener("click", () => {
  find(".find").focus({ preventScroll: true }); // the button goes
  find(".warnings button").click();
  if (search.now < 0) go(0);
});
function sayMetrics() {
  const count = box.querySelectorAll(".metrics:not([hidden])").length;
  find(".dicts").hidden = !count;
  box.classList.toggle("without-metrics", !metrics);
  setText(find(".dicts span"), `${countWords(count, "metric line")} ${metrics ? "shown as values" : "hidden"}`);
  setText(find(".dicts button"), metrics ? "Hide" : "Show");
}
find(".dicts button").addEventListener("click", () => {
  metrics = !metrics;
  metricsForSearch = false;
  sayMetrics();
});

// ---- the lines of one rank, where several print to this log ----
function offerRanks() {
  const there = new Set([...box.querySelectorAll("[data-rank]")].map(({ dataset }) => dataset.rank));
  if (chosenRank()) there.add(chosenRank());
  const known = [...there].toSorted((a, b) => a - b);
  ranks.hidden = !known.length;
  const select = ranks.querySelector("select");
  if (select.dataset.known === known.join()) return;
  select.dataset.known = known.join();
  const now = select.value;
  select.replaceChildren(option("", "all ranks"), ...known.map((rank) => option(rank, `rank ${rank}`)));
  select.value = now;
}
ranks.addEventListener("change", () => {
  forgetFolds();
  for (const node of box.querySelectorAll("div:not(.writing)")) {
    node.hidden = isOfOthers(node);
    fold(node);
  }
  sayFolded();
  look();
});

// ---- follow, copy ----
function setFollowing(so) {
  following = so;
  missed = so ? null : { at: read, lines: 0, more: false };
  drawFollow();
  if (so) {
    at = 0;
    find(".box").scrollTop = 0; // a reversed column: its end
    wake();
  }
}
function drawFollow() {
  const { lines = 0, more } = missed ?? {};
  follow.hidden = !live && !lines;
  follow.setAttribute("aria-pressed", `${following}`);
  const count = lines ? ` · ${more ? `${wholeNumber(lines)}+ new lines` : countWords(lines, "new line")}` : "";
  setText(follow, following ? "Pause" : `Follow${count}`);
}
follow.addEventListener("click", () => setFollowing(!following));
find(".cut .end").addEventListener("click", () => setFollowing(true));
const copyLines = (button, wanted) =>
  copy(
    [...box.children]
      .filter(wanted)
      .map((node) => `${node.words ?? node.textContent}${node.dataset.times ? ` · ${node.dataset.times}` : ""}`)
      .join("\n"),
    button,
  );
find(".copy").addEventListener("click", ({ currentTarget }) => copyLines(currentTarget, isShown));
// Also those among folded metric lines: they are counted with the others, which hidden lines of libraries are not.
find(".copy-found").addEventListener("click", ({ currentTarget }) =>
  copyLines(
    currentTarget,
    (node) => node.matches(".found:not([hidden])") && (warnings || !node.matches(".of-library")),
  ),
);
function drawCopy() {
  find(".copy").hidden = search.hits.length > 0;
  find(".copy-found").hidden = !search.hits.length;
}

// ---- search ----
// `all`: the lines that have the words; `hits`: where those begin that are shown, or would be.
const search = { words: "", all: [], hits: [], now: -1, more: "", turn: 0, isDone: false };
async function look() {
  const words = find(".find").value.trim();
  const turn = ++search.turn;
  Object.assign(search, { words, all: [], hits: [], now: -1, more: "", isDone: false });
  find(".found-hidden").hidden = true;
  setText(find(".count"), words ? "Searching…" : "");
  find(".moves").hidden = true;
  drawCopy();
  const found = words ? await server.search_log({ run, words, rank: chosenRank() }) : null;
  if (turn !== search.turn) return;
  paintFound();
  box.querySelector(".current")?.classList.remove("current");
  if (metricsForSearch) {
    metrics = metricsForSearch = false;
    sayMetrics();
  }
  if (!words) return;
  if (!found || found.sentence) {
    setText(find(".count"), found?.sentence ?? "The dashboard did not answer.");
    return;
  }
  const { hits, heads, more } = found;
  search.all = hits.map((place, n) => ({ place, ofLibrary: looksOfLibrary(heads[n]) }));
  Object.assign(search, { more, isDone: true });
  countShown();
  if (search.hits.length) await go(0);
}
function countShown() {
  if (!search.isDone) return;
  const place = search.hits[search.now];
  search.hits = search.all.filter(({ ofLibrary }) => warnings || !ofLibrary).map((one) => one.place);
  search.now = search.hits.indexOf(place);
  find(".moves").hidden = !search.hits.length;
  sayCount();
}
function sayCount() {
  const { hits, now, more } = search;
  const count = `${wholeNumber(hits.length)}${more ? "+" : ""} ${hits.length === 1 ? "line" : "lines"}`;
  const place = now < 0 ? count : `${wholeNumber(now + 1)} of ${count}`;
  const hidden = search.all.length - hits.length;
  const words = hits.length ? place : hidden ? "No match in the shown lines" : "No match";
  drawCopy();
  setText(find(".count"), more ? `${words}, ${more}` : words);
  find(".found-hidden").hidden = !hidden;
  setText(find(".found-hidden"), `Show ${wholeNumber(hidden)}${hits.length ? " more" : ""} in hidden lines`);
}
// Lines that came after the search and have its words are found too.
function addHits(nodes) {
  if (!search.isDone) return;
  const last = search.all.at(-1)?.place ?? -1;
  const fresh = nodes.filter((node) => node.matches(".found:not([hidden])") && Number(node.dataset.at) > last);
  if (!fresh.length) return;
  search.all.push(...fresh.map((node) => ({ place: Number(node.dataset.at), ofLibrary: node.matches(".of-library") })));
  countShown();
}
// To one of the lines that were found: where it is not shown, the stretch of the log around it is.
async function go(to) {
  const { hits, turn } = search;
  search.now = (to + hits.length) % hits.length;
  sayCount();
  const place = hits[search.now];
  if (!box.querySelector(`[data-at="${place}"]`)) {
    const around = await server.log_around({ run, at: place });
    if (turn !== search.turn || !around?.lines) return;
    if (following) setFollowing(false);
    writing.textContent = "";
    begin(around.lines);
    find(".cut").hidden = false;
    find(".cut .end").hidden = false;
    setText(find(".cut span"), `Shown: ${around.first} to ${around.last} of ${around.size}.`);
  }
  const node = box.querySelector(`[data-at="${place}"]`);
  if (node?.matches(".metrics") && !metrics) {
    metrics = metricsForSearch = true;
    sayMetrics();
  }
  box.querySelector(".current")?.classList.remove("current");
  node?.classList.add("current");
  node?.scrollIntoView({ block: "center" });
}
let typing = null;
find(".find").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(look, PAUSE);
});
find(".find").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !search.hits.length) return;
  event.preventDefault();
  go(search.now + (event.shiftKey ? -1 : 1));
});
for (const button of view.querySelectorAll("[data-move]"))
  button.addEventListener("click", () => go(search.now + Number(button.dataset.move)));

// ---- the loop ----
// While it is paused, lines that come are counted: those that would be shown.
async function countMissed() {
  const mine = missed;
  const now = await server.tail({ run, at: mine.at });
  if (!now || mine !== missed) return now && 2000;
  const fresh = (now.lines ?? []).filter(([, words, values, ownKind]) => {
    const isOther = chosenRank() && !ownKind && (OF_RANK.exec(words)?.[1] ?? "") !== chosenRank();
    return !isOther && (metrics || !values) && (warnings || ownKind || !looksOfLibrary(words));
  });
  mine.lines += fresh.length;
  mine.more ||= !!now.cut; // they came faster than they were asked for
  mine.at = now.at ?? mine.at;
  live = !!now.live;
  drawFollow();
  return Math.max(now.poll ?? 0, 2000);
}
const wake = poll(view, async () => {
  if (!following) return countMissed();
  const now = await server.tail({ run, at });
  if (!now) return undefined;
  const words = now.sentence ?? now.wait ?? "";
  showText(find(".wait"), words);
  find(".box").hidden = find(".tools").hidden = !!words;
  if (words) return now.poll ?? 5000;
  if (!following) return 700; // it was paused meanwhile
  live = now.live;
  drawFollow();
  if (now.reset) {
    begin(now.lines);
    find(".cut").hidden = !now.cut;
    find(".cut .end").hidden = true;
    setText(
      find(".cut span"),
      `The last part is shown, from ${now.cut} of ${now.size} on. Search and Download take all of it.`,
    );
  } else if (now.at !== at) add(now.lines);
  setText(writing, now.line);
  read = now.at;
  at = kept > MOST ? 0 : read;
  return now.poll;
});
// The box ends where the window does, so that its newest line is in sight and nothing else scrolls.
function fit() {
  if (!box.offsetParent) return;
  const top = Math.round(find(".box").getBoundingClientRect().top + scrollY);
  view.style.setProperty("--top", `${top}px`);
}
new ResizeObserver(fit).observe(document.body);
begin([]);
