// The data of a run: where it comes from, and how its columns become prompts and answers.
const SOURCES = { task: "Built-in task", gym: "reasoning-gym", file: "File", hub: "Hub dataset" };

function drawSource() {
  const node = place("data.source", find(".source"));
  const kinds = node.querySelector(".kinds"), which = node.querySelector(".which");
  const parts = {};
  for (const [kind, label] of Object.entries(SOURCES)) {
    const id = `source-${kind}`;
    const radio = el("input", { type: "radio", name: "source-kind", id, value: kind });
    radio.addEventListener("change", () => { show(kind); const first = usual(kind); if (first) edit([{ path: "data.source", value: first }, ...leaving(kind)]); });
    kinds.append(el("label", { class: "choice", for: id }, radio, label));
  }
  const options = (list) => list.map(({ value, label }) => el("option", { value }, label));
  const set = (value) => edit([{ path: "data.source", value }]);

  parts.task = el("select", { class: "input", "aria-label": "Built-in task" }, ...options(page.form.tasks));
  parts.task.addEventListener("change", () => set(parts.task.value));
  parts.file = el("select", { class: "input", "aria-label": "File in the home" });
  parts.file.addEventListener("change", () => set(parts.file.value));
  parts.gym = el("input", { class: "input", type: "text", list: "gym-tasks", "aria-label": "reasoning-gym task", placeholder: "search its tasks", autocomplete: "off" });
  parts.gym.addEventListener("input", () => edit([{ path: "data.source", value: `gym:${parts.gym.value.trim()}` }, { path: "data.parameters", remove: true }], { now: false }));
  parts.hub = el("input", { class: "input", type: "text", "aria-label": "Hub dataset", placeholder: "org/name, such as openai/gsm8k", autocomplete: "off", spellcheck: "false" });
  parts.hub.addEventListener("input", () => edit([{ path: "data.source", value: `hub:${parts.hub.value.trim()}` }], { now: false }));
  const gymList = el("datalist", { id: "gym-tasks" }, ...page.form.gym.map((task) => el("option", { value: task.name }, task.help)));
  const gymNote = el("p", { class: "xs mut" }, page.form.gym.length ? `${page.form.gym.length} tasks are installed; reward them with gym_score, the task's own scorer.` : "reasoning-gym is not installed: pip install 'groupwise[gym]', then restart.");
  const parameters = el("div", { class: "cards parameters" });
  const upload = uploadButton((source) => set(source));
  const hub = el("div", { class: "cards" }, ...["data.config", "data.split", "data.revision", "data.streaming"].map((path) => field(about(path))));
  const bodies = {
    task: el("div", {}, parts.task), file: el("div", {}, el("div", { class: "row tight" }, parts.file, upload.button), upload.note),
    gym: el("div", {}, parts.gym, gymList, gymNote, parameters), hub: el("div", {}, parts.hub, hub),
  };
  which.append(...Object.values(bodies));

  const usual = (kind) => ({ task: page.form.tasks[0]?.value, file: page.form.files[0]?.value, gym: page.form.gym[0] && `gym:${page.form.gym[0].name}`, hub: parts.hub.value && `hub:${parts.hub.value}` })[kind];
  // What only one kind of source has goes with it.
  const leaving = (kind) => [
    ...(kind !== "hub" ? ["data.config", "data.split", "data.revision", "data.streaming"] : []), ...(kind !== "gym" ? ["data.parameters"] : []),
  ].filter((path) => shownAt(path) !== "" || plainAt(path) !== null).map((path) => ({ path, remove: true }));

  let shownKind = null, shownTask = null, seen = null;
  function show(kind) {
    shownKind = kind;
    for (const [other, body] of Object.entries(bodies)) body.hidden = other !== kind;
    kinds.querySelectorAll("input").forEach((radio) => { radio.checked = radio.value === kind; });
  }
  function fill() {
    const source = shownAt("data.source") || "task:arithmetic", [kind, ...rest] = source.split(":"), name = rest.join(":");
    if (!(kind in SOURCES)) return;
    // What a person chose stays until the spec says another source.
    if (source !== seen || shownKind === null) show(kind);
    seen = source;
    if (kind !== shownKind) return;
    if (kind === "task" || kind === "file") {
      if (kind === "file") parts.file.replaceChildren(...options(page.form.files));
      setValue(parts[kind], source);
    } else if (document.activeElement !== parts[kind]) parts[kind].value = name;
    if (kind === "gym" && name !== shownTask) {
      shownTask = name;
      forget(parameters);
      const task = page.form.gym.find((one) => one.name === name);
      parameters.replaceChildren(...(task?.parameters ?? []).map((one) => field(one)));
    }
  }
  onView(fill); fill();
}

// Sends a file to the home's data folder. Gradio's own address takes it; the server then looks at what arrived.
function uploadButton(then) {
  const input = el("input", { type: "file", accept: ".jsonl,.csv,.parquet", hidden: true, "aria-label": "Data file" });
  const button = el("button", { class: "btn", type: "button" }, "Upload a file"), note = el("p", { class: "xs mut", role: "status" }, page.form.upload_advice);
  const tell = (words, wrong) => { say(note, words); note.className = wrong ? "xs verdict-at blocking" : "xs mut"; };
  button.append(input);
  button.addEventListener("click", (event) => { if (event.target !== input) input.click(); });
  input.addEventListener("change", async () => {
    const file = input.files[0];
    input.value = "";
    if (!file) return;
    if (file.size > page.form.upload_limit) return tell(`“${file.name}” is larger than ${page.form.upload_limit_words}. Copy it to the home's data folder instead; then it is in the list.`, true);
    tell(`Uploading ${file.name}…`);
    const body = new FormData();
    body.append("files", file);
    try {
      const reply = await fetch("gradio_api/upload", { method: "POST", body });
      if (!reply.ok) throw new Error(reply.status === 413 ? "it is too large" : `the server said ${reply.status}`);
      const kept = await server.uploaded({ path: (await reply.json())[0] });
      if (!kept || kept.sentence) return tell(kept?.sentence ?? "The server did not answer. Try again.", true);
      page.form.files = kept.files;
      tell(`${kept.name} is in the home now.`);
      then(kept.source);
    } catch (problem) { tell(`The file did not arrive: ${problem.message}. Try again.`, true); }
  });
  return { button, note };
}

// ---- mapping: which columns are asked, which answer, which the rewards get ----
function drawMapping() {
  const asIs = find(".mapping [name=prompt-mode][value=column]"), filled = find(".mapping [name=prompt-mode][value=template]");
  const column = columnSelect("data.prompt_column", "choose a column"), answer = columnSelect("data.answer_column", null, "no answer");
  const pattern = field(about("data.answer_pattern"));
  find(".mapping .as-is").append(column);
  find(".mapping .as-template").append(field(about("data.prompt_template")), chips());
  find(".mapping .answers").append(answer, pattern);
  const show = () => {
    const is = shownAt("data.prompt_column") !== "" || asIs.checked && document.activeElement === asIs;
    asIs.checked = is; filled.checked = !is;
    find(".mapping .as-is").hidden = !is; find(".mapping .as-template").hidden = is;
  };
  filled.addEventListener("change", () => edit([{ path: "data.prompt_column", remove: true }]));
  asIs.addEventListener("change", () => {
    const guess = page.columns.find((name) => /^(prompt|messages|conversations?|chat)$/i.test(name)) ?? page.columns[0];
    if (guess) edit([{ path: "data.prompt_column", value: guess }]);
    show();
  });
  onView(show); show();
}
function columnSelect(path, first, none) {
  const box = el("select", { class: "input" });
  const node = field(about(path), { input: box });
  const fill = () => {
    const now = plainOf(path);
    const names = [...new Set([...page.columns, ...(now ? [now] : [])])];
    const key = JSON.stringify([names, now]);
    if (box.dataset.key === key) return;
    box.dataset.key = key;
    box.replaceChildren(...(first ? [el("option", { value: "" }, first)] : []), ...names.map((name) => el("option", { value: name }, name)), ...(none ? [el("option", { value: "\u0000" }, none)] : []));
    box.value = now === null ? "\u0000" : now ?? "";
  };
  // “no answer” is null, which is not the same as nothing said.
  box.addEventListener("input", (event) => {
    event.stopImmediatePropagation();
    edit([box.value === "\u0000" ? { path, value: null } : box.value === "" ? { path, remove: true } : { path, value: box.value }]);
  }, true);
  fields.find((one) => one.node === node).show = fill;
  onColumns(fill); fill();
  return node;
}
const plainOf = (path) => (page.view?.empty?.[path] === null ? null : shownAt(path) || about(path).default || undefined);

// The columns as buttons: a click writes {column} where the cursor is in the prompt.
function chips() {
  const node = el("div", { class: "row tight chips" });
  onColumns(keepDrawn(() => page.columns, () => {
    const box = find("#f-data-prompt_template");
    node.replaceChildren(...(page.columns.length ? [el("span", { class: "xs mut" }, "Insert")] : []), ...page.columns.map((name) => {
      const chip = el("button", { class: "chip", type: "button" }, `{${name}}`);
      chip.addEventListener("click", () => {
        box.setRangeText(`{${name}}`, box.selectionStart, box.selectionEnd, "end");
        box.focus();
        box.dispatchEvent(new Event("input"));
      });
      return chip;
    }));
  }));
  return node;
}

// Which columns the rewards get: all, or those that are ticked.
function drawColumns() {
  const node = place("data.columns", find(".columns")), list = node.querySelector(".list");
  const fill = () => {
    const chosen = plainAt("data.columns");
    const names = [...new Set([...page.columns, ...(Array.isArray(chosen) ? chosen.map(String) : [])])];
    list.replaceChildren(...names.map((name) => {
      const box = el("input", { type: "checkbox" });
      box.checked = !Array.isArray(chosen) || chosen.includes(name);
      box.addEventListener("change", () => {
        const on = [...list.querySelectorAll("input")].map((other, n) => (other.checked ? names[n] : null)).filter((other) => other !== null);
        edit([on.length === names.length ? { path: "data.columns", remove: true } : { path: "data.columns", value: on }]);
      });
      return el("label", { class: "choice s" }, box, name);
    }));
    if (!names.length) list.replaceChildren(el("span", { class: "s mut" }, "The columns are known once the preview has read them."));
  };
  const show = keepDrawn(() => [plainAt("data.columns"), page.columns], fill);
  onColumns(show); show();
}
