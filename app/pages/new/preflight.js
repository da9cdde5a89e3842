// Beside the form, always current: what the run will do, what it takes, what is wrong and what to do about it; and the
// two buttons that start something.

import { el, setText } from "../../ui/dom.js";
import { number } from "../../ui/number.js";
import {
  askWorker,
  find,
  onProblems,
  onView,
  page,
  pending,
  problems,
  sentence,
  server,
  settleIn,
  settled,
  workerSaid,
} from "./core.js";
import { fixButtons, showProblems } from "./fields.js";
import { goTo } from "./go_to.js";
import { showView } from "./views.js";

const box = find(".preflight");
const inBox = (selector) => box.querySelector(selector);
const go = find("[data-do=launch]");
const attempt = find("[data-do=try]");
let built = null;
let buildKey = null;
let modelKey = null;
let drawn = "";

function draw() {
  const view = page.view;
  if (!view) return;
  const found = problems();
  const blocking = found.filter((problem) => problem.level === "blocking");
  const unreadable = view.unreadable;
  find(".left").classList.toggle("unreadable", Boolean(unreadable));
  find(".left .view-form fieldset").disabled = Boolean(unreadable);
  find(".unreadable-note").hidden = !unreadable;
  if (unreadable)
    setText(
      find(".unreadable-note span"),
      `The YAML cannot be read${unreadable.line ? ` (line ${unreadable.line})` : ""}: ` +
        `${unreadable.message.replace(/\.?$/, ".")} The form waits until it can.`,
    );
  go.classList.toggle("blocked", Boolean(blocking.length || unreadable));
  setText(
    inBox(".count"),
    unreadable
      ? "The YAML cannot be read: mend it first."
      : blocking.length
        ? `${blocking.length} ${blocking.length === 1 ? "problem" : "problems"} to mend before this can be launched.`
        : "",
  );
  const key = JSON.stringify([view.sentences, view.figures, found, Boolean(unreadable)]);
  if (key === drawn) return;
  drawn = key;
  const lines = view.sentences ?? [];
  inBox(".happening").replaceChildren(
    ...(lines.length
      ? lines.map((line) => el("p.s", line))
      : [el("p.s.mut", "As soon as the problems below are mended, this says what the run will do.")]),
  );
  inBox(".figures").replaceChildren(
    ...(view.figures ?? []).map((one) => figure(one.label, one.value, one.detail, one.level)),
  );
  arrange(inBox(".verdicts"), found.map(cardOf));
  showProblems();
}
const figure = (label, value, detail = "", level = "") =>
  el("div", { class: `figure ${level}` }, el("span.xs.mut", label), el("b", value), el("span.xs.mut", detail));
// A problem that stays keeps its card: a button must not be exchanged under the pointer that presses it.
const cards = new Map();
function cardOf(problem) {
  const key = JSON.stringify(problem);
  if (!cards.has(key)) cards.set(key, card(problem));
  return cards.get(key);
}
function arrange(parent, nodes) {
  nodes.forEach((node, n) => {
    if (parent.children[n] !== node) parent.insertBefore(node, parent.children[n] ?? null);
  });
  while (parent.children.length > nodes.length) parent.lastChild.remove();
  if (cards.size > 200) cards.clear();
}
const WORDS = { blocking: "Blocks the launch", warning: "Warning", advice: "Advice" };
function card(problem) {
  const place = [problem.field || "the YAML", problem.line ? `, line ${problem.line}` : ""];
  const title = el("button.link.where.mono", { type: "button", onclick: () => goTo(problem) }, ...place);
  return el(
    "div",
    { class: `verdict ${problem.level}` },
    el("p.xs.level", el("b", WORDS[problem.level] ?? problem.level), " ", problem.field ? title : ""),
    el("p.s", sentence(problem.message)),
    el("div.row.tight.fixes", ...fixButtons(problem)),
  );
}

// TRL's own word on these settings, and what only the worker can tell of the model.
async function build() {
  const key = page.view?.keys?.build;
  if (!key || key === buildKey || page.view.unreadable) return;
  buildKey = key;
  const found = await askWorker("build");
  if (!found) return;
  if (found.lost) {
    buildKey = null;
    soon = setTimeout(build, 2000);
    return;
  }
  built = found.error ? null : found.question;
  workerSaid(
    "build",
    key,
    found.error ? [{ field: "", message: found.error, level: "warning", fixes: [] }] : found.problems,
  );
}
async function describe() {
  const key = page.view?.keys?.model;
  if (!key || key === modelKey || page.view.unreadable) return;
  modelKey = key;
  const found = await askWorker("model");
  if (found?.lost) {
    modelKey = null;
    setTimeout(describe, 2000);
    return;
  }
  if (found && !found.error) workerSaid("model", key, found.problems);
}
let soon = null;

// ---- launch: only what TRL has said yes to ----
let launching = false;
async function launch() {
  await settled();
  const note = (words) => setText(inBox(".launch-note"), words);
  const wrong = () => problems().filter((problem) => problem.level === "blocking");
  if (page.view?.unreadable) return showView("yaml", page.view.unreadable.line);
  if (!find(".trouble").hidden || pending.length)
    return note("Not everything that was typed is in the settings yet. See what is said on top.");
  if (wrong().length) return goTo(wrong()[0]);
  if (!page.view.quickstart) await page.previewed();
  if (wrong().length) return goTo(wrong()[0]);
  const { text } = page;
  for (let tries = 0; tries < 5; tries += 1) {
    const done = await server.launch_run({ text: page.text, built, known: page.known });
    if (done?.url) {
      location.href = done.url;
      return;
    }
    if (done?.unasked) {
      note("Asking TRL whether it takes these settings…");
      const key = page.view?.keys?.build;
      buildKey = key; // or the page's own asking, a moment later, would withdraw this one
      const found = await askWorker("build", {}, note);
      if (!found || found.lost || found.error) buildKey = null;
      if (found?.error) return note(found.error);
      if (page.text !== text) return note("The settings changed meanwhile. Launch again.");
      if (found?.lost) await new Promise((done) => setTimeout(done, 1000)); // the worker's helper is starting anew
      if (!found || found.lost) continue; // or another question about the same settings took its place
      built = found.question;
      workerSaid("build", key, found.problems);
      if (wrong().length) return goTo(wrong()[0]);
      continue;
    }
    await refresh();
    if (wrong().length) return goTo(wrong()[0]);
    return note(done?.sentence ?? "The server did not answer. Nothing was launched; try again.");
  }
  return note("The worker did not confirm these settings. Launch again.");
}
async function refresh() {
  settleIn(0);
  await new Promise((done) => setTimeout(done, 20));
  await settled();
}

// ---- try one step ----
let trying = null;
const result = find(".tried");

async function tryOneStep() {
  if (trying !== null) {
    await server.cancel_question({ question: trying });
    return;
  }
  await settled();
  const blocked = problems().filter((problem) => problem.level === "blocking");
  if (blocked.length) return goTo(blocked[0]);
  const asked = await server.try_step({ text: page.text });
  if (!asked || asked.sentence) {
    result.hidden = false;
    result.replaceChildren(el("p.s", asked?.sentence ?? "The server did not answer. Try again."));
    return;
  }
  trying = asked.question;
  attempt.textContent = "Stop trying";
  result.hidden = false;
  for (;;) {
    const now = await server.read_answer({ question: trying });
    if (now?.answer) {
      showTried(result, now.answer);
      break;
    }
    if (now?.gone) {
      result.replaceChildren(el("p.s.mut", "Stopped. Nothing is left of it."));
      break;
    }
    if (now?.waiting) result.replaceChildren(el("p.s.mut", { role: "status" }, now.waiting));
    await new Promise((done) => setTimeout(done, 300));
  }
  trying = null;
  attempt.textContent = "Try one step";
}

export function drawPreflight() {
  new IntersectionObserver((seen) => {
    const { isIntersecting } = seen.at(-1);
    if (isIntersecting && page.preflightUnseen) settleIn(0);
    page.preflightUnseen = !isIntersecting;
  }).observe(box);
  onView(() => {
    clearTimeout(soon);
    soon = setTimeout(() => {
      build();
      describe();
    }, 300);
  });
  onProblems(draw);
  go.addEventListener("click", async () => {
    if (launching) return;
    launching = true;
    go.classList.add("busy");
    setText(inBox(".launch-note"), "");
    try {
      await launch();
    } finally {
      launching = false;
      go.classList.remove("busy");
    }
  });
  attempt.addEventListener("click", tryOneStep);
}

function failedStep(answer) {
  const problem = { field: answer.field ?? "", message: answer.error, level: "blocking", fixes: [] };
  const where = el("button.link.s", { type: "button", onclick: () => goTo(problem) }, "Show the field");
  return el(
    "div.verdict.blocking",
    el("p.s", el("b", "One step failed. "), sentence(answer.error)),
    answer.field ? where : "",
  );
}
function showTried(node, answer) {
  if (answer.error) {
    node.replaceChildren(failedStep(answer));
    return;
  }
  const gb = (bytes) => (bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.round(bytes / 1e6)} MB`);
  const seconds = (value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} s`;
  node.replaceChildren(
    el("p.s", el("b", "One step works. "), answer.sentence ?? ""),
    el(
      "div.figures",
      figure("A step took", seconds(answer.seconds.step), "one generation, one update"),
      figure("Loading took", seconds(answer.seconds.load)),
      figure("Memory at its peak", gb(answer.memory.peak), answer.memory.device),
    ),
    el(
      "div.completions",
      ...answer.completions.slice(0, 16).map((one, n) =>
        el(
          "details.tried-one",
          { open: n < 2 },
          el(
            "summary.s",
            el("b", `Reward ${one.reward === null ? "none" : number(one.reward)}`),
            " ",
            el(
              "span.mut",
              Object.entries(one.rewards)
                .map(([name, score]) => `${name} ${score === null ? "–" : number(score)}`)
                .join(" · "),
              ` · ${one.tokens} tokens${one.truncated ? ", cut off" : ""}`,
            ),
          ),
          el("pre.mono.prompt-text", one.prompt),
          el("pre.mono", one.text || "(empty)"),
        ),
      ),
    ),
  );
}
