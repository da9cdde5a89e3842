// The Groups: slider, list and the chosen group; the address keeps step, group and which prompts.
const { poll, say, setHtml, el, params, setParams, onAddress } = window.groupwise;
const view = element.querySelector(".gw-groups");
const find = (selector) => view.querySelector(selector);
const run = params().get("id") ?? "";
const slider = find("#gw-step"), stepBox = find(".step"), options = find(".options");
const follow = find(".follow"), sorted = find(".sorted");
let mark = null, near = {}, drawn = null;

const asked = () => ({
  step: params().has("step") ? Number.parseInt(params().get("step"), 10) || 0 : null,
  group: Number.parseInt(params().get("group"), 10) || null,
  mode: params().get("mode") === "eval" ? "eval" : "train",
});
follow.checked = asked().step === null;

// ---- moving about: everything goes through the address ----
function goTo(step) { follow.checked = false; setParams({ step, group: null }); }
slider.addEventListener("input", () => goTo(slider.value));
stepBox.addEventListener("change", () => goTo(stepBox.value));
find(".earlier").addEventListener("click", () => near.earlier !== null && goTo(near.earlier));
find(".later").addEventListener("click", () => near.later !== null && goTo(near.later));
follow.addEventListener("change", () => setParams(follow.checked ? { step: null, group: null } : { step: near.step }));
sorted.addEventListener("change", () => { drawn = null; wake(); });
for (const button of view.querySelectorAll(".switch button")) {
  const mode = button.dataset.mode === "eval" ? "eval" : null;
  button.addEventListener("click", () => { follow.checked = true; setParams({ mode, step: null, group: null }); });
}
function pick(id) { follow.checked = false; setParams({ step: near.step, group: id }); }

options.addEventListener("keydown", (event) => {
  const move = { ArrowDown: 1, ArrowUp: -1, Home: -1e9, End: 1e9 }[event.key];
  if (!move) return;
  event.preventDefault();
  const all = [...options.children], now = all.findIndex((option) => option.ariaSelected === "true");
  const next = all[Math.max(0, Math.min(all.length - 1, now + move))];
  if (next) { pick(Number(next.dataset.group)); next.scrollIntoView({ block: "nearest" }); }
});
find(".one").addEventListener("click", (event) => {
  const chip = event.target.closest("[data-group]");
  if (!chip) return;
  follow.checked = false;
  const { step, group, mode } = chip.dataset;
  setParams({ step, group, mode: mode === "eval" ? mode : null }, { push: true });
});

// ---- drawing ----
function drawStep(now) {
  near = now;
  slider.min = now.first; slider.max = now.last;
  slider.disabled = now.first === now.last;
  if (document.activeElement !== slider || follow.checked) slider.value = now.step;
  if (document.activeElement !== stepBox) stepBox.value = now.step;
  find(".earlier").disabled = now.earlier === null;
  find(".later").disabled = now.later === null;
  if (!now.groups) return;
  mark = now.mark;
  say(find(".where"), `group at step ${now.step}`);
  say(find(".told"), now.verdict);
  options.replaceChildren(...now.groups.map(option));
}
function option(group) {
  const look = { class: `option ${group.tied ? "mut" : ""}`, role: "option", id: `gw-group-${group.id}`, "data-group": group.id };
  return el("div", { ...look, onclick: () => pick(group.id) },
    el("span", { dir: "auto", class: "what" }, group.prompt),
    el("span", { class: "n" }, group.mean), el("span", { class: "n" }, group.spread));
}

async function drawGroup() {
  const ids = [...options.children].map((option) => Number(option.dataset.group));
  const id = ids.includes(asked().group) ? asked().group : ids[0];
  for (const option of options.children) option.setAttribute("aria-selected", Number(option.dataset.group) === id);
  options.setAttribute("aria-activedescendant", `gw-group-${id}`);
  const key = `${id} ${sorted.checked}`;
  if (!id || key === drawn) return true;
  const one = await server.group({ run, group: id, sorted: sorted.checked });
  if (!one) return false;
  drawn = key;
  if (one.sentence) find(".one").replaceChildren(el("p", { class: "s problem" }, one.sentence));
  else setHtml(find(".one"), one.html);
  return true;
}

const wake = poll(view, async () => {
  const { step, mode } = asked();
  follow.checked = step === null;
  for (const button of view.querySelectorAll(".switch button")) button.setAttribute("aria-pressed", button.dataset.mode === mode);
  const now = await server.step({ run, mode, mark, ...(step === null ? {} : { step }) });
  if (!now) return undefined;
  const words = now.sentence ?? now.wait ?? "";
  say(find(".wait"), words);
  find(".wait").hidden = !words;
  find(".sides").hidden = !!words;
  find(".picker").classList.toggle("bare", !!words);
  if (words) { mark = null; return now.live ? 1000 : 5000; }
  drawStep(now);
  if (!await drawGroup()) return undefined;
  return now.live ? 700 : 5000;
});
onAddress(() => wake());
