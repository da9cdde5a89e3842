// The doctor: one sentence on how the run stands, and what looks wrong, each with its evidence and what to change.

import { params, setParams, without } from "../../ui/address.js";
import { el, setText } from "../../ui/dom.js";
import { part } from "../../ui/part.js";
import { poll, wakeAll } from "../../ui/poll.js";
import { BEGINS_ANEW } from "./begins_anew.js";

const { root: view, find, server } = part("pages/run/doctor");
const run = params().get("id") ?? "";
const AT_ONCE = 3; // verdicts; the rest is folded away
const drawn = new Map(); // key → what is on the page, so that an open “why” stays open
const SOON = 300; // ms, where the charts show more than this tells of
let seq = -1;
let toldOf = 0; // the last batch of the record that this tells of, and that the charts are drawn from
let charted = 0;

// ---- the evidence: a chart on this page, or another tab with what is meant in its address ----
function toChart(metric) {
  setParams({ tab: null }, { push: true });
  // A chart says which metrics it draws; one of them may be a pattern such as rewards/*/mean.
  const matches = (name) =>
    name === metric ||
    (name.includes("*") && metric.startsWith(name.split("*")[0]) && metric.endsWith(name.split("*")[1]));
  const figure = [...document.querySelectorAll(".gw-overview figure.chart")].find((one) =>
    (one.dataset.metrics ?? "").split(/[ ,]/).some(matches),
  );
  if (!figure) return fromAll(metric);
  figure.scrollIntoView({ block: "center", behavior: "smooth" });
  figure.tabIndex = -1;
  figure.focus({ preventScroll: true }); // whoever came by keyboard goes on from here
  figure.classList.remove("pointed-at");
  requestAnimationFrame(() => figure.classList.add("pointed-at"));
  return undefined;
}
// A metric without a chart of its own is one of “All metrics”.
function fromAll(metric) {
  const all = document.querySelector(".gw-overview .all-metrics");
  const search = all?.querySelector("input");
  if (!search) return;
  all.open = true;
  search.value = metric;
  search.dispatchEvent(new Event("input", { bubbles: true }));
  setTimeout(() => {
    const chip = [...all.querySelectorAll(".names button")].find((button) => button.textContent === metric);
    if (chip?.getAttribute("aria-pressed") === "false") chip.click();
    all.scrollIntoView({ block: "start", behavior: "smooth" });
  }, 100);
}
const SHOWN = "step group mode pick prompt idx q regex reward function steps length truncated starred sort page";
function link({ label, tab, params: more, chart }) {
  const there = chart ? { id: run } : { id: run, tab, ...more };
  const node = el("a", { href: `?${new URLSearchParams(there)}` }, label);
  node.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (chart) {
      toChart(chart);
      return;
    }
    setParams({ ...without(SHOWN), tab, ...more }, { push: true });
    wakeAll();
    scrollTo({ top: 0 });
  });
  return node;
}

// ---- a verdict ----
const ABOUT = {
  "New run": "Start a new run with this run’s settings and this change",
  Rewards: "Edit the reward functions and try them on this run’s completions",
};
// What changes something is a button; what a person must choose is a sentence, with a link to where.
function change({ label, to, go, choose }) {
  if (!choose) return el("a.btn.s", { href: go, title: ABOUT[to] }, `${to}: `, el("b", label));
  const title = "Opens a new run with this run’s settings, where you choose. Nothing is changed for you.";
  return el("span.s.advised", `${label}: `, el("a", { href: go, title }, `${choose} in a new run`));
}
function make() {
  const parts = {
    level: el("span.level.xs"),
    sign: el("i.sign", { "aria-hidden": "true" }),
    title: el("h3", { dir: "auto" }),
    sentence: el("p.s", { dir: "auto" }),
    links: el("div.links.s"),
    changes: el("div.changes"),
    why: el("p.s.mut"),
  };
  const node = el(
    "article",
    el("div.what", parts.sign, parts.level, parts.title),
    parts.sentence,
    el("div.foot", parts.changes, parts.links, el("details", el("summary.s.mut", "Why this is shown"), parts.why)),
  );
  return { node, parts, told: "" };
}
function draw(verdict) {
  const one = drawn.get(verdict.key) ?? make();
  const { node, parts } = one;
  drawn.set(verdict.key, one);
  node.dataset.level = verdict.level;
  node.dataset.key = verdict.key;
  setText(parts.level, verdict.label);
  setText(parts.title, verdict.title);
  setText(parts.sentence, verdict.sentence);
  setText(parts.why, `${verdict.threshold} From: ${verdict.source}.`);
  const told = JSON.stringify([verdict.links, verdict.changes]);
  if (told === one.told) return node;
  one.told = told;
  parts.links.hidden = !verdict.links.length;
  parts.links.replaceChildren(el("span.mut", "See the evidence:"), ...verdict.links.map(link));
  const buttons = verdict.changes.filter(({ choose }) => !choose);
  const advice = verdict.changes.filter(({ choose }) => choose);
  parts.changes.replaceChildren(...[...buttons, ...advice].map(change));
  return node;
}
// Only what is not yet where it belongs is moved: focus and open details stay.
function place(box, nodes) {
  for (const child of [...box.children]) if (!nodes.includes(child)) child.remove();
  nodes.forEach((node, at) => {
    if (box.children[at] !== node) box.insertBefore(node, box.children[at] ?? null);
  });
}

// What follows a run that ended well: the words that lead there, and why.
function drawNext(next) {
  const told = JSON.stringify(next ?? null);
  const line = find(".next");
  line.hidden = !next;
  if (line.dataset.told === told) return;
  line.dataset.told = told;
  line.replaceChildren();
  if (!next) return;
  const title = next.trained ? BEGINS_ANEW : null;
  line.append("Next: ", next.go ? el("a", { href: next.go, title }, next.label) : link(next), `${next.why}.`);
}

// Bold is what it comes to; what that rests on follows as plain text.
function drawHeadline({ headline, opening }) {
  const known = find(".headline");
  const bold = opening || headline;
  if (known.textContent === headline && known.firstChild?.textContent === bold) return;
  known.replaceChildren(el("b", bold), headline.slice(bold.length));
}

function take(now) {
  dispatchEvent(new CustomEvent("groupwise:diagnosed", { detail: now.pills ?? {} }));
  view.dataset.kind = now.kind;
  view.dataset.gravest = now.level;
  find("section").hidden = !now.headline;
  drawHeadline(now);
  setText(find(".at"), now.at);
  drawNext(now.next);
  const nodes = now.verdicts.map(draw);
  const rest = nodes.slice(AT_ONCE);
  for (const key of [...drawn.keys()]) if (!now.verdicts.some((verdict) => verdict.key === key)) drawn.delete(key);
  place(view.querySelector("section > .verdicts"), nodes.slice(0, AT_ONCE));
  place(find(".more .verdicts"), rest);
  find(".more").hidden = !rest.length;
  setText(find(".more summary"), `${rest.length} more`);
  find(".calm").hidden = !now.calm.length;
  setText(
    find(".calm summary"),
    `Good to know: ${now.calm.map(({ title }) => title.charAt(0).toLowerCase() + title.slice(1)).join(", ")}`,
  );
  const lines = JSON.stringify(now.calm);
  if (find(".calm ul").dataset.told === lines) return;
  find(".calm ul").dataset.told = lines;
  find(".calm ul").replaceChildren(
    ...now.calm.map(({ title, sentence, links }) =>
      el("li", { dir: "auto" }, el("b", `${title}. `), `${sentence} `, ...links.slice(0, 1).map(link)),
    ),
  );
}

const wake = poll(view, async () => {
  const now = await server.diagnose_run({ run, after: seq });
  if (!now) return undefined;
  if (now.sentence) {
    // The run's head says why a record cannot be read.
    const headline = now.unreadable ? "No diagnostics: the record cannot be read." : now.sentence;
    take({ kind: "waiting", level: "waiting", headline, at: "", verdicts: [], calm: [] });
    seq = -1;
    return 5000;
  }
  if (now.headline !== undefined) {
    [seq, toldOf] = [now.seq, now.tells_of];
    take(now);
  }
  view.dataset.seq = seq;
  return toldOf < charted ? SOON : now.poll;
});
// What is said of the run follows the charts beside it.
addEventListener("groupwise:charted", ({ detail }) => {
  if (detail.seq === charted) return;
  charted = detail.seq;
  if (toldOf < charted) wake();
});
