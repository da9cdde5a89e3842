// The Overview: asks for what is new, gives it to the charts, and says what is now.

import { openGroup, params } from "../../ui/address.js";
import { Board } from "../../ui/charts/board.js";
import { Chart } from "../../ui/charts/chart.js";
import { el, setText, showText } from "../../ui/dom.js";
import { news } from "../../ui/news.js";
import { atMost, number, percent, seconds, wholeNumber } from "../../ui/number.js";
import { part } from "../../ui/part.js";
import { poll } from "../../ui/poll.js";
import { first } from "../../ui/settings.js";
import { whyNothing } from "./why_nothing.js";

const { root: view, find, server } = part("pages/run/overview");
const run = params().get("id") ?? "";
const board = new Board(find(".board"), ({ names, first, last }) => server.metrics_window({ run, names, first, last }));
const { curves } = board;
let cursor = 0;
let lastEvent = 0;
let waiting = "";
let restarts = false; // it is to go on, but has not begun to: all that is drawn tells of before
let laidOut = false;
let seen = null;
let most = null; // what the reward can come to, where that is known

// ---- the board ----
function layOut(layout) {
  laidOut = true;
  curves.window = layout.window;
  takeTold(layout);
  find(".sections").replaceChildren(
    ...layout.sections.map((section) => {
      const made = section.panels.map((panel) => new Chart(panel, board));
      made.forEach((chart) => board.add(chart));
      const columns = section.panels.length % 3 ? "two" : "three";
      return el(
        "section",
        el("h2", section.title),
        el("div", { class: `grid ${columns}` }, ...made.map((chart) => chart.node)),
      );
    }),
  );
}

// What the code of the reward functions says, which a run has from when it begins: this page may be older.
function takeTold(told) {
  [most, board.known, board.graded] = [told.most, told.known, told.graded];
}

// Before the first step there is nothing to draw: what it waits for is said once, not in a dozen empty boxes.
function showCharts(there) {
  for (const part of [find(".sections"), all]) part.hidden = !there;
}

// A run that is over and logged nothing says so once, not in each chart.
function drawEnded(ended) {
  find(".ended").hidden = !ended;
  for (const part of [find(".charted"), find(".figures"), find(".latest")]) part.hidden = !!ended;
  if (!ended) return;
  setText(find(".ended h2"), ended); // the head says why, and what helps
}

// ---- every metric, drawn on demand ----
const all = find(".all-metrics");
const wanted = new Map();
const WORDLESS = { pattern: "", note: "", unit: "", instead: "", wait: "", missed: "" };
const BARE = { ...WORDLESS, spread: [], colours: [], functions: [] };
// A metric is written, and said not to be known, as in its own chart above: a share in %, say.
function asCharted(name) {
  const charted = board.charts.find(({ panel }) => panel.keys.flat().includes(name));
  const { unit, instead, teller, functions } = charted?.panel ?? BARE;
  return { ...BARE, unit, instead, teller, functions: charted ? [functions[charted.place(name)]] : [] };
}
function listAll() {
  setText(all.querySelector("summary span"), curves.names.length ? `${curves.names.length}` : "");
  if (!all.open) return;
  const asked = all.querySelector("input").value.toLowerCase();
  const names = curves.names.filter((name) => name.toLowerCase().includes(asked));
  const key = names.join("\n");
  const box = all.querySelector(".names");
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  const focused = box.contains(document.activeElement) ? document.activeElement.textContent : null;
  box.replaceChildren(
    ...names.map((name) =>
      el(
        "button.chip.mono",
        { "aria-pressed": `${wanted.has(name)}`, onclick: (event) => toggle(name, event.currentTarget) },
        name,
      ),
    ),
  );
  if (focused) [...box.children].find((chip) => chip.textContent === focused)?.focus({ preventScroll: true });
  if (!names.length)
    box.append(el("span.s.mut", curves.names.length ? "No metric has this in its name." : "Nothing is logged yet."));
}
function toggle(name, chip) {
  const there = wanted.get(name);
  if (there) {
    board.drop(there);
    wanted.delete(name);
  } else {
    const chart = new Chart({ ...asCharted(name), title: name, keys: [[name]], labels: [name] }, board);
    wanted.set(name, chart);
    board.add(chart);
    all.querySelector(".charts").append(chart.node);
    chart.update(new Set([name]));
    if (board.zoom) board.look();
  }
  chip.setAttribute("aria-pressed", `${!there}`);
}
all.addEventListener("toggle", listAll);
all.querySelector("input").addEventListener("input", listAll);

// ---- the side ----
// What a figure is, as its chart says, where one draws it; not what is said of how that draws.
function about(key) {
  const { note, span } = board.charts.find((chart) => chart.panel.keys?.flat().includes(key))?.panel ?? BARE;
  return span ? null : note;
}
const pair = (name, value, key) => [el("dt", { title: about(key) }, name), el("dd", value)];
function drawNow() {
  const rows = [];
  const reward = curves.recent("reward");
  const ofMost = (value) => `${number(value)}${atMost(most)}`;
  const evaluated = curves.lastAt("eval_reward");
  const when = evaluated === 0 ? " before training" : ` at step ${wholeNumber(evaluated)}`;
  setText(find(".when"), restarts ? "Before the resume" : board.live ? "Now" : "At the end");
  // Where the last steps scored nothing, the window is that of what they do have, and how old the rest is stands by it.
  const LENGTH = "completions/mean_length";
  const lastOf = (key) => curves.lastAt(key) ?? 0;
  const newest = lastOf(LENGTH) > lastOf("reward") ? LENGTH : "reward";
  if (reward) rows.push(pair("Reward", ofMost(reward.mean) + curves.earlierWords("reward"), "reward"));
  const shown = reward && curves.recent(newest);
  setText(find(".window"), shown ? curves.windowWords(shown) : "");
  const add = (name, key, write) => {
    const value = curves.now(key);
    if (value !== undefined) rows.push(pair(name, write(value), key));
  };
  add("Held-out reward", "eval_reward", (value) => number(value) + when);
  add("KL", "kl", number);
  const tied = ["groups/tied", "frac_reward_zero_std"].find((key) => curves.hasNumbers(key));
  if (tied) add("Tied groups", tied, (value) => percent(value) + curves.earlierWords(tied));
  else if (rows.length || curves.get("frac_reward_zero_std")) rows.push(pair("Tied groups", "–", "groups/tied"));
  add("Length", LENGTH, (value) => `${number(value)} tokens`);
  add("Truncated", "completions/clipped_ratio", percent);
  add("Step time", "step_time", seconds);
  add("Tokens seen", "num_tokens", (value) => number(Math.round(value)));
  find(".now").replaceChildren(...rows.flat());
  setText(find("aside .wait"), rows.length ? "" : "Nothing is logged yet.");
}

function drawLatest(group) {
  const box = find(".latest .body");
  const focused = box.contains(document.activeElement);
  setText(find(".latest h2 span"), group ? `step ${group.step.toLocaleString("en")}` : "");
  if (!group) {
    box.replaceChildren(el("p.mut", "No group has been scored."));
    return;
  }
  const address = new URLSearchParams({ id: run, tab: "groups", step: group.step, group: group.id });
  const link = el("a", { href: `?${address}` }, "Open the group");
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    openGroup({ step: group.step, group: group.id });
  });
  // a bar is full at the most that can be earned, where that is known, as in Groups
  const top = Math.max(...group.bars.map(([, value]) => Math.abs(value)), most ?? 0) || 1;
  const shareOfTop = (value) => Math.max(0, value / top);
  box.replaceChildren(
    el("p.mut", { dir: "auto" }, `“${group.prompt}”${group.tied ? " · tied" : ""}`),
    ...group.bars.map(([words, value]) =>
      el("div.score.wide", el("span", words), el("div.b", el("i", { style: `width:${shareOfTop(value) * 100}%` }))),
    ),
    el("p", link),
  );
  if (focused) link.focus({ preventScroll: true });
}

function eventLine(event) {
  const trace = () =>
    el("details.s", el("summary", "Traceback"), el("pre", { dir: "auto", tabindex: "0" }, event.trace));
  return el(
    "li",
    { class: `event ${event.kind}` },
    el("span.mut.xs", `${event.at} · step ${event.step} · ${event.kind}`),
    el("span", { dir: "auto" }, event.message),
    ...(event.trace ? [trace()] : []),
  );
}
// The newest first; the end, which is no event of the record, before them all, until the run is resumed.
let drawnEnd = "";
function addEvents(events, end) {
  const told = JSON.stringify(end ?? null);
  if (!events.length && told === drawnEnd) return;
  const list = find(".events");
  list.querySelector("[data-end]")?.remove();
  for (const event of events) {
    lastEvent = Math.max(lastEvent, event.id);
    list.prepend(eventLine(event));
  }
  drawnEnd = told;
  if (end) {
    const line = eventLine(end);
    line.dataset.end = "";
    list.prepend(line);
  }
  find(".none").hidden = list.childElementCount > 0;
}

// ---- the loop ----
function take(now) {
  if (now.sections) layOut(now);
  if ("known" in now) takeTold(now);
  if (now.colours) board.colours = new Map(Object.entries(now.colours));
  addEvents(now.events ?? [], now.end);
  const before = board.live;
  const changed = board.take(now);
  const turned = before !== board.live || restarts !== now.restarts;
  const news = changed.size > 0 || now.wait !== waiting || now.marks || turned;
  [waiting, restarts] = [now.wait, now.restarts];
  drawEnded(curves.names.length ? null : now.ended);
  showCharts(curves.names.length > 0);
  if (news) {
    board.update(changed);
    showText(find(".controls .wait"), curves.logged ? "" : waiting);
    drawNow();
    listAll();
  }
  if ("latest" in now) drawLatest(now.latest);
  else if (!cursor && !now.seq) drawLatest(null);
  cursor = curves.tooLong ? 0 : now.seq;
  if (now.head) dispatchEvent(new CustomEvent("groupwise:charted", { detail: now.head }));
}

async function look() {
  const now = await server.draw_board({ run, after: cursor, event: lastEvent, drawn: laidOut, empty: !curves.logged });
  seen = now?.seen ?? null;
  if (!now) return undefined;
  // Nothing that could be read: then there is nothing to draw, and no empty panel stands beside the reason.
  const blank = Boolean(now.unreadable) && !curves.names.length;
  for (const part of [find(".charted"), find("aside")]) part.hidden = blank;
  showText(find(".problem"), whyNothing(now));
  if (now.sentence) return 2000;
  take(now);
  view.dataset.seq = cursor;
  return now.poll;
}
if (first.board?.sections) {
  layOut(first.board);
  if (first.head) showCharts(first.head.seq > 0);
  view.dataset.laid = "yes";
}
poll(view, look, async () => seen !== null && news(run, seen));

addEventListener("groupwise:theme", () => board.charts.forEach((chart) => chart.redraw()));
// A click on a point of a chart leads to the groups of that step.
addEventListener("groupwise:step", ({ detail }) => openGroup(detail));
