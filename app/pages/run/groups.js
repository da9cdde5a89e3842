// The Groups: slider, list and the chosen group, or this prompt over time; the address keeps what is shown.

import { onAddress, params, setParams } from "../../ui/address.js";
import { el, option, press, setHtml, setText, showText, touched } from "../../ui/dom.js";
import { wholeNumber } from "../../ui/number.js";
import { part } from "../../ui/part.js";
import { poll } from "../../ui/poll.js";
import { Keys } from "./group_keys.js";
import { SamePrompt } from "./same_prompt.js";
import { Stars } from "./stars.js";
import { StepBox } from "./step_box.js";
import { Stepping } from "./stepping.js";
import { whyNothing } from "./why_nothing.js";

const { root: view, find, server } = part("pages/run/groups");
const run = params().get("id") ?? "";
const slider = find("#gw-step");
const options = find(".options");
const one = find(".one");
const follow = find(".follow");
const sorted = find(".sorted");
const diff = find(".diff");
const help = find(".help");
let mark = null;
let near = {};
let drawn = null;
let shown = {};
let prompt = null;
let brought = null;
let seen = "";
let wasAway = null;

const asked = () => {
  const address = params();
  const whole = (name) => Number.parseInt(address.get(name), 10);
  return {
    step: address.has("step") ? whole("step") || 0 : null,
    group: whole("group") || null,
    idx: whole("idx") >= 0 ? whole("idx") : null,
    mode: address.get("mode") === "eval" ? "eval" : "train",
    pick: address.get("pick") ?? "",
    diff: address.get("diff") ?? "",
    made: address.get("order") === "made",
    prompt: address.get("prompt"),
  };
};
follow.checked = asked().step === null;

const complain = (words) => showText(find(".saving"), words);
const stars = new Stars(view, run, server.annotate_completion, complain, () => {
  mark = null;
  wake();
});
const same = new SamePrompt(find(".same"), run, server.prompt_history);

// ---- moving about: everything goes through the address ----
function goTo(step) {
  if (step === null || step === undefined) return;
  follow.checked = false;
  setParams({ step, group: null, idx: null });
}
slider.addEventListener("input", () => goTo(slider.value));
const whose = ({ step, mode }) => `${mode} ${step}`;
const stepping = new Stepping(() => whose(asked()), goTo);
const stepOn = (where, isHeld) => stepping.on(where, isHeld);
const stepBox = new StepBox(find(".step"), { goTo, stepOn, say: sayAstray });
for (const where of ["earlier", "later"]) find(`.${where}`).addEventListener("click", () => stepOn(where));
follow.addEventListener("change", () => setParams({ group: null, idx: null, step: follow.checked ? null : near.step }));
sorted.addEventListener("change", () => setParams({ order: sorted.checked ? null : "made" }));
diff.addEventListener("change", () => setParams({ diff: diff.value }));
find(".keys").addEventListener("click", () => help.showModal());
for (const button of view.querySelectorAll(".modes button")) {
  const mode = button.dataset.mode === "eval" ? "eval" : null;
  button.addEventListener("click", () =>
    // the step that is gone to, though another is still drawn
    setParams({ mode, step: follow.checked ? null : (asked().step ?? near.step), group: null, idx: null }),
  );
}
for (const button of view.querySelectorAll(".picks button"))
  button.addEventListener("click", () => choose(button.dataset.pick));
// The one that is on goes off again; random takes another group each time.
function choose(pick) {
  const ids = [...options.children].map((option) => Number(option.dataset.group));
  const on = asked().pick === pick;
  if (pick !== "random") return setParams({ pick: on ? null : pick, group: null, idx: null });
  const others = ids.filter((id) => id !== current());
  setParams({ pick, step: near.step, group: others[Math.floor(Math.random() * others.length)] ?? null, idx: null });
}
function pick(id) {
  follow.checked = false;
  setParams({ step: near.step, group: id, idx: null });
}
const current = () =>
  Number([...options.children].find((option) => option.ariaSelected === "true")?.dataset.group) || null;

function move(by) {
  const all = [...options.children];
  const now = all.findIndex((option) => option.ariaSelected === "true");
  const next = all[Math.max(0, Math.min(all.length - 1, now + by))];
  if (next) {
    pick(Number(next.dataset.group));
    next.scrollIntoView({ block: "nearest" });
  }
}
options.addEventListener("keydown", (event) => {
  const by = { ArrowDown: 1, ArrowUp: -1, Home: -1e9, End: 1e9 }[event.key];
  if (!by) return;
  event.preventDefault();
  move(by);
});
one.addEventListener("click", ({ target }) => {
  const down = target.closest("[data-prompt]");
  const chip = target.closest(".chip[data-group]");
  if (down) openPrompt();
  else if (chip) {
    follow.checked = false;
    const { step, group, mode } = chip.dataset;
    setParams({ step, group, idx: null, mode: mode === "eval" ? mode : null }, { push: true });
  }
});
function openPrompt() {
  if (prompt) setParams({ prompt, now: shownGroup() }, { push: true });
}
const shownGroup = () => Number(one.querySelector(".comp")?.dataset.group) || null;

// ---- one completion ----
const cards = () => [...view.querySelectorAll(asked().prompt ? ".same .comp" : ".one .comp")];
const here = () => cards().find((card) => card.getAttribute("aria-current") === "true") ?? null;
function stand(card) {
  for (const each of cards()) each.removeAttribute("aria-current");
  card?.setAttribute("aria-current", "true");
}
// Does something to the completion one is at, or to the first.
function onCard(does) {
  const card = here() ?? cards()[0];
  if (!card) return;
  stand(card);
  does(card);
}
function next(by) {
  const all = cards();
  const now = all.indexOf(here());
  const card = all[now < 0 ? 0 : Math.max(0, Math.min(all.length - 1, now + by))];
  if (!card) return;
  stand(card);
  if (!asked().prompt) {
    brought = `${card.dataset.group} ${card.dataset.idx}`;
    setParams({ ...shown, idx: card.dataset.idx });
  }
  card.focus({ preventScroll: true });
  card.scrollIntoView({ block: "nearest" });
}
// Whether a card is of this completion, or of it among others with the very same text.
const isOf = ({ dataset }, idx) => [dataset.idx, ...(dataset.alike ?? "").split(" ")].includes(`${idx}`);
// What the address names is marked, and brought into view once.
function bring() {
  const { idx } = asked();
  const card = idx === null ? null : cards().find((each) => isOf(each, idx));
  stand(card ?? null);
  const key = card ? `${card.dataset.group} ${idx}` : null;
  if (card && key !== brought) card.scrollIntoView({ block: "center" });
  brought = key;
}
view.addEventListener("click", async ({ target }) => {
  const to = target.closest("[data-to]");
  const fold = target.closest(".fold");
  if (to) {
    setParams({ ...shown, idx: to.dataset.to });
    return;
  }
  if (!fold) return;
  const card = fold.closest(".comp");
  const text = card.querySelector("pre");
  const told = await server.full_text({
    run,
    group: Number(card.dataset.group),
    idx: Number(card.dataset.idx),
    diff: asked().prompt ? "" : asked().diff,
  });
  complain(told ? (told.sentence ?? "") : "The dashboard did not answer. Try again.");
  if (told?.html) {
    setHtml(text, told.html);
    text.focus();
  }
});

// ---- keys ----
new Keys(view, help, {
  j: () => move(1),
  k: () => move(-1),
  "[": ({ repeat }) => stepOn("earlier", repeat),
  "]": ({ repeat }) => stepOn("later", repeat),
  n: () => next(1),
  p: () => next(-1),
  s: () => onCard((card) => stars.star(card)),
  a: () => onCard((card) => stars.edit(card)),
  d: () => setParams({ diff: asked().diff ? null : "best" }),
  o: () => (asked().prompt ? same.back() : openPrompt()),
  "?": () => help.showModal(),
});

// ---- drawing ----
// An address that names a step without groups leads to the nearest, which is said until another step is chosen, or one
// leaves: then it is over, also where one comes back to that step.
let astray = "";
function sayAstray(words) {
  astray = whose(asked());
  showText(find(".astray"), words);
}
onAddress(() => {
  if (params().get("tab") !== "groups" || whose(asked()) !== astray) sayAstray("");
});
function leadToNearest({ step }, { step: wanted, mode }) {
  const isStillAsked = whose(asked()) === whose({ step: wanted, mode });
  if (wanted !== null && wanted !== step && isStillAsked) {
    const [there, here] = [wanted, step].map(wholeNumber);
    const number = Number.isFinite(Number.parseInt(params().get("step"), 10));
    const heldOut = mode === "eval";
    const none = heldOut ? `There was no evaluation at step ${there}` : `There is no step ${there} here`;
    const nearest = heldOut ? `the one at step ${here}, the nearest` : `step ${here}, the nearest with groups`;
    setParams({ step });
    stepping.settle(); // it is drawn: one can go on from it
    sayAstray(`${number ? none : "The step in the address is not a number"}: this is ${nearest}.`);
  }
}
function drawStep(now, asked) {
  near = now;
  slider.min = now.first;
  slider.max = now.last;
  slider.disabled = now.first === now.last;
  if (document.activeElement !== slider || follow.checked) slider.value = now.step;
  stepBox.show(now);
  find(".earlier").disabled = now.earlier === null;
  find(".later").disabled = now.later === null;
  if (!now.groups) return;
  mark = now.mark;
  setText(find(".where"), `${asked.mode === "eval" ? "held-out" : "group"} at step ${now.step}`);
  setText(find(".told"), now.verdict);
  options.replaceChildren(...now.groups.map(groupLine));
}
function groupLine(group) {
  const look = {
    class: `option ${group.tied ? "mut" : ""}`,
    role: "option",
    id: `gw-group-${group.id}`,
    "data-group": group.id,
  };
  const starred = group.starred ? el("span.starred", { title: "has a starred completion" }, "★ ") : null;
  const asked = group.prompt.map((part, i) => el("span", i ? null : starred, part)); // the second tells it apart
  return el(
    "div",
    { ...look, onclick: () => pick(group.id) },
    el("span.what", { dir: "auto", title: group.whole }, ...asked),
    el("span.n", { title: `${group.right} right` }, group.right),
    el("span.n", group.mean),
    el("span.n", { title: group.why }, group.spread),
  );
}
function drawDiff(size, chosen) {
  if (diff.children.length !== size + 2)
    diff.replaceChildren(
      option("", "nothing"),
      option("best", "the best"),
      ...Array.from({ length: size }, (_, n) => option(n, `completion ${n + 1}`)),
    );
  if (document.activeElement !== diff) diff.value = chosen;
  if (diff.selectedIndex < 0) diff.value = "";
}

// Draws the group that the address names, or the list's first: false where the server did not answer.
async function drawGroup() {
  const { group, step, mode, diff: against, made } = asked();
  const id = group ?? (Number(options.firstElementChild?.dataset.group) || null);
  for (const option of options.children) option.setAttribute("aria-selected", Number(option.dataset.group) === id);
  options.setAttribute("aria-activedescendant", `gw-group-${id}`);
  const key = `${id} ${made} ${against}`;
  if (!id || key === drawn) {
    bring();
    return true;
  }
  const address = location.search;
  const found = await server.show_group({ run, group: id, sorted: !made, diff: against });
  if (!found) return false;
  if (location.search !== address || writing()) return true; // what is elsewhere, or came meanwhile, is asked next
  if (found.sentence) {
    touched(one);
    one.replaceChildren(el("p.s.problem", whyNothing(found)));
    drawn = prompt = null;
    return true;
  }
  drawn = key;
  prompt = found.prompt;
  shown = { step: found.step, group: id, mode: found.mode === "eval" ? "eval" : null };
  setHtml(one, found.html);
  drawDiff(found.size, against);
  bring();
  // An address that names a group alone leads to its step.
  if (group && (step === null || found.mode !== mode)) setParams({ step: shown.step, mode: shown.mode });
  return true;
}

function drawPicker({ step, mode, made, pick: first }) {
  follow.checked = step === null;
  sorted.checked = !made;
  press(view.querySelectorAll(".modes button"), (button) => button.dataset.mode === mode);
  press(view.querySelectorAll(".picks button"), (button) => button.dataset.pick === first);
}

// Whether a note is being written on what the address names: nothing is drawn over it.
const writing = () => seen === location.search && view.querySelector(".said textarea") !== null;
const wake = poll(view, async () => {
  const now = asked();
  if (writing()) return 700;
  if (wasAway) wasAway = drawn = mark = same.mark = null;
  seen = location.search;
  view.classList.toggle("down", !!now.prompt);
  find(".same").hidden = !now.prompt;
  if (now.prompt) return same.draw(params());
  drawPicker(now);
  const told = await server.groups_at_step({
    run,
    mode: now.mode,
    pick: now.pick,
    mark,
    ...(now.step === null ? {} : { step: now.step }),
  });
  if (!told) return undefined;
  if (writing()) return 700; // since it was asked
  const words = whyNothing(told) ?? told.wait ?? "";
  showText(find(".wait"), words);
  find(".sides").hidden = !!words;
  for (const row of view.querySelectorAll(".picker")) row.classList.toggle("bare", !!words);
  if (words) {
    mark = null;
    return told.live ? 1000 : 5000;
  }
  drawStep(told, now);
  stepping.show(told, whose(now));
  if (whose(asked()) !== whose(now)) return 0; // one has gone on
  leadToNearest(told, now);
  if (!(await drawGroup())) return undefined;
  return told.live ? 700 : 5000;
});
// What is starred or noted elsewhere meanwhile is asked for when one comes back: then, and not when one leaves, as an
// answer that is on its way may still be drawn.
onAddress(() => {
  if (params().get("tab") !== "groups") wasAway = true;
  wake();
});
