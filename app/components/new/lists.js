// Settings that are lists: reward functions with their weights, worked examples, conditions on rows, stages.
const remover = (label, onclick) => el("button", { class: "btn quiet s remove", type: "button", "aria-label": label, title: label, onclick }, "×");
const adder = (label, onclick) => el("button", { class: "btn s add", type: "button", onclick }, label);
// Draws a list when its value changes, but never under the hands of someone who is typing in it: then when they leave.
function keepDrawn(node, read, draw) {
  let drawn = null;
  return () => {
    const key = JSON.stringify(read());
    if (key === drawn) return;
    drawn = key;
    draw(read());
  };
}
function drawUnlessTyping(list, read, draw) {
  const show = keepDrawn(list, read, draw);
  const typing = () => list.contains(document.activeElement) && document.activeElement.matches("input[type=text], textarea, select");
  onView(() => { if (!typing()) show(); });
  // Not at once: what takes the focus may be a press on one of its buttons, which must still be there at its end.
  list.addEventListener("focusout", () => setTimeout(() => { if (!typing()) show(); }, 400));
  show();
}

// ---- rewards: a box and a weight each ----
function rewardRows(chosen, send) {
  const list = chosen ?? [], names = list.map((one) => one.name);
  const others = page.form.rewards.filter((one) => !names.includes(one.name));
  const rows = [...list.map((one) => ({ ...one, on: true })), ...others.map((one) => ({ name: one.name, weight: 1, on: false }))];
  const node = el("tbody", {});
  const read = () => [...node.children].filter((row) => row.querySelector("[type=checkbox]").checked).map((row) => {
    const typed = row.querySelector("[type=text]").value.trim();
    const before = list.find((one) => one.name === row.dataset.name) ?? {};
    return { ...before, name: row.dataset.name, weight: typed !== "" && Number.isFinite(Number(typed)) ? Number(typed) : typed };
  });
  node.append(...rows.map((one) => {
    const id = `reward-${send.id}-${one.name}`;
    const box = el("input", { type: "checkbox", id });
    box.checked = one.on;
    const weight = el("input", { type: "text", class: "input weight", inputmode: "decimal", "aria-label": `weight of ${one.name}` });
    weight.value = one.weight ?? 1;
    const row = el("tr", { "data-name": one.name, class: one.on ? "" : "off" }, el("td", {}, box),
      el("td", { class: "what" }, el("label", { for: id }, el("b", {}, one.name), " ", el("span", { class: "mut" }, page.form.rewards.find((other) => other.name === one.name)?.help ?? ""))),
      el("td", { class: "n" }, weight));
    box.addEventListener("change", () => { row.classList.toggle("off", !box.checked); send(read()); });
    weight.addEventListener("input", () => send(read(), false));
    return row;
  }));
  return el("table", {}, el("thead", {}, el("tr", {}, el("th", {}), el("th", { scope: "col" }, "function"), el("th", { scope: "col", class: "n" }, "weight"))), node);
}
function drawRewards() {
  const node = place("rewards", find(".rewards")), table = node.querySelector(".table");
  let mine = null;
  const send = Object.assign((value, now = true) => { mine = JSON.stringify(value); edit([{ path: "rewards", value }], { now }); }, { id: "run" });
  drawUnlessTyping(table, () => plainAt("rewards"), (value) => { if (JSON.stringify(value) !== mine || !table.firstChild) table.replaceChildren(rewardRows(value, send)); });
}

// ---- worked examples that stand before every prompt ----
function drawExamples() {
  const node = place("data.examples", find(".examples")), list = node.querySelector(".list");
  const read = () => [...list.children].map((row) => ({ prompt: row.querySelector(".asked").value, completion: row.querySelector(".said-so").value }));
  const send = (now = true) => edit([{ path: "data.examples", value: read() }], { now });
  const row = (one, n) => {
    const part = (name, label, value) => {
      const box = el("textarea", { class: `input ${name}`, rows: 2, "aria-label": `${label} of example ${n + 1}`, placeholder: label });
      box.value = value ?? "";
      box.addEventListener("input", () => send(false));
      return box;
    };
    const made = el("div", { class: "example" }, part("asked", "Question", one.prompt), part("said-so", "What a good answer looks like", one.completion),
      remover(`Remove example ${n + 1}`, () => { made.remove(); send(); }));
    return made;
  };
  drawUnlessTyping(list, () => plainAt("data.examples") ?? [], (value) => {
    if (JSON.stringify(value) !== JSON.stringify(read()) && Array.isArray(value)) list.replaceChildren(...value.map(row));
  });
  node.querySelector(".adds").append(adder("Add an example", () => { list.append(row({}, list.children.length)); list.lastChild.querySelector("textarea").focus(); }));
}

// ---- conditions: only rows that meet all of them are used ----
function drawFilter() {
  const node = place("data.filter", find(".filter")), list = node.querySelector(".list");
  const options = (names, value) => [...new Set([...names, value].filter((name) => name !== undefined && name !== ""))].map((name) => el("option", { value: name, ...(name === value ? { selected: true } : {}) }, name));
  const read = () => [...list.children].map((row) => ({ column: row.querySelector(".column").value, operator: row.querySelector(".operator").value, value: row.querySelector(".value").value }));
  const send = (now = true) => edit([{ path: "data.filter", conditions: read() }], { now });
  const row = (one, n) => {
    const column = el("select", { class: "input column", "aria-label": `Column of condition ${n + 1}` }, ...options(page.columns, one.column));
    const operator = el("select", { class: "input operator", "aria-label": `Operator of condition ${n + 1}` }, ...options(page.form.operators, one.operator ?? "="));
    const value = el("input", { type: "text", class: "input value", "aria-label": `Value of condition ${n + 1}` });
    value.value = one.value ?? "";
    const empty = () => { value.hidden = /empty$/.test(operator.value); };
    empty();
    column.addEventListener("change", () => send());
    operator.addEventListener("change", () => { empty(); send(); });
    value.addEventListener("input", () => send(false));
    const made = el("div", { class: "row tight condition" }, column, operator, value, remover(`Remove condition ${n + 1}`, () => { made.remove(); send(); }));
    return made;
  };
  drawUnlessTyping(list, () => page.view?.conditions ?? [], (value) => list.replaceChildren(...value.map(row)));
  node.querySelector(".adds").append(adder("Add a condition", () => {
    list.append(row({ column: page.columns[0], operator: "is not empty", value: "" }, list.children.length));
    list.lastChild.querySelector("select").focus();
    send();
  }));
}

// ---- stages: each trains on from the one before, with rewards and settings of its own ----
function drawStages() {
  const node = place("stages", find(".stages")), list = node.querySelector(".list");
  let drawn = null;
  const typed = {}; // by stage: the words as they were typed, and as the spec says them
  const send = (value, now = true) => edit([{ path: "stages", stages: value }], { now });
  const draw = (stages) => list.replaceChildren(...stages.map((stage, n) => {
    const name = el("input", { type: "text", class: "input", id: `stage-${n}-name`, placeholder: `stage ${n + 1}` });
    name.value = stage.name ?? "";
    name.addEventListener("input", () => { stage.name = name.value || null; send(stages, false); });
    const settings = el("textarea", { class: "input mono", rows: 3, id: `stage-${n}-training`, spellcheck: "false", placeholder: "max_steps: 100\nlearning_rate: 5e-6" });
    settings.value = stage.training_text ?? "";
    settings.addEventListener("input", () => { stage.training_text = settings.value; typed[n] = { words: settings.value, shown: null }; send(stages, false); });
    const rewards = Object.assign((value, now = true) => { stage.rewards = value.length ? value : null; send(stages, now); }, { id: `stage-${n}` });
    const card = el("div", { class: "stage" },
      el("div", { class: "row between" }, el("h3", {}, `Stage ${n + 1}`), remover(`Remove stage ${n + 1}`, () => { stages.splice(n, 1); Object.keys(typed).forEach((one) => delete typed[one]); send(stages); })),
      el("label", { for: name.id, class: "s" }, "Name"), name,
      el("div", { class: "s rewards-of" }, rewardRows(stage.rewards ?? plainAt("rewards"), rewards)),
      el("label", { for: settings.id, class: "s" }, "Training settings that differ, one to a line"), settings);
    return place(`stages.${n}`, card);
  }));
  // What was typed of a stage's settings stays as it was typed while it means what the spec says.
  drawUnlessTyping(list, () => page.view?.stages ?? [], (value) => {
    if (JSON.stringify(value) === drawn) return;
    forget(list);
    const stages = structuredClone(value);
    stages.forEach((stage, n) => { if (typed[n]?.shown === stage.training_text) stage.training_text = typed[n].words; });
    drawn = JSON.stringify(value);
    draw(stages);
    showProblems();
  });
  const title = node.closest("details").querySelector("summary");
  const count = () => { const n = (page.view?.stages ?? []).length; say(title, n ? `Stages (${n})` : "Stages"); if (n) title.parentElement.open = true; };
  onView(count); count();
  onView(() => (page.view?.stages ?? []).forEach((stage, n) => { if (typed[n]) typed[n].shown = stage.training_text; }));
  node.querySelector(".adds").append(adder("Add a stage", () => {
    const stages = structuredClone(page.view?.stages ?? []);
    if (!stages.length) stages.push({ name: "first", rewards: null, training_text: "" });
    stages.push({ name: null, rewards: null, training_text: "" });
    send(stages);
  }));
}
