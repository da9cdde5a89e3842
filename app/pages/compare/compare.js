// Compare: what the address says is compared; asks for it again and again, and draws what came.
const { poll, say, show, el, params, setParams, onAddress } = window.groupwise;
const page = element.querySelector(".gw-compare");
const find = (selector) => page.querySelector(selector);
const MOST = 20;
const FOLLOW = 15000; // ms; a look at shared prompts reads every run's record
const runs = new Map(); // id → the server's last word on it, its curves and final kept where it had nothing new
let state = {}, order = [], charts = new Map(), fields = [], names = [], leftOut = 0, asking = "", settled = "", coded = "", shared = "", reported = {};
let over = "step"; // what the curves that came are over; state.x: what they are to be
let told = { ids: [], fields: [] }, heard = {};
const drawnIds = () => order.map(({ id }) => id); // after a change of the address, the old ones until the new have come

// ---- the address ----
function readAddress() {
  const now = params(), list = (name) => (now.get(name) ?? "").split(",").map((word) => word.trim()).filter(Boolean);
  const all = [...new Set(list("ids"))];
  leftOut = Math.max(0, all.length - MOST);
  state = {
    ids: all.slice(0, MOST), x: ["tokens", "time", "attempt"].includes(now.get("x")) ? now.get("x") : "step", by: now.get("by") ?? "",
    metrics: list("metrics"), band: now.get("band") === "std" ? "std" : "range", smooth: now.get("smooth") !== "0",
    hidden: new Set(list("hide")), sort: now.get("sort") ?? "", prompt: now.get("prompt") ?? "", a: now.get("a") ?? "", b: now.get("b") ?? "",
    chosen: Parallel.read(now.get("pick") ?? ""), zoom: Plots.zoomOf(now.get("zoom")),
  };
}
// The steps in sight, for which the server has finer lines; over tokens and time it has not.
// The stretch of the axis in sight, and the steps at its edges, so that lines reach them.
const inSight = () => (state.zoom && ["step", "attempt"].includes(state.x) ? Plots.around(state.zoom) : state.zoom);
const setIds = (ids) => setParams({ ids: ids.join(",") }, { push: true });
const nothingToSet = (axes) => Parallel.why(order.filter(({ there }) => there), axes);
// The runs beside the stretches of settings and finals that are chosen below, where these are drawn.
function besideChosen() {
  const axes = Parallel.axes(order, fields);
  if (!state.chosen.size || nothingToSet(axes)) return new Set();
  const through = new Set(Parallel.through(order, axes, state.chosen));
  return new Set(order.filter((run) => run.there && !through.has(run)).map(({ id }) => id));
}
function shown() {
  const beside = besideChosen();
  return order.filter((run) => run.there && !state.hidden.has(run.id) && !beside.has(run.id));
}

// ---- the legend ----
function looksOf() {
  const look = new Map(order.map((run) => [run.id, run]));
  for (const group of grouped()) for (const id of group.ids) look.set(id, { ...look.get(id), colour: group.colour, dash: group.dash });
  return look;
}
const grouped = () => (state.by ? Lines.groups(order, fields, state.by) : []);

function drawLegend() {
  const look = looksOf(), beside = besideChosen(), key = JSON.stringify([[...beside], [...look.values()].map(({ id, name, colour, dash, label, problem }) => [id, name, colour, dash, label, problem]), [...state.hidden], state.by && grouped().map(({ label }) => label)]);
  if (page.dataset.legend === key) return;
  page.dataset.legend = key;
  const focused = document.activeElement?.closest?.(".chosen")?.dataset.run, which = document.activeElement?.className;
  const chip = (run) => el("div", { class: `chosen${state.hidden.has(run.id) ? " off" : ""}${beside.has(run.id) ? " beside" : ""}`, "data-run": run.id },
    el("button", { class: "toggle", "aria-pressed": `${!state.hidden.has(run.id)}`, title: `${run.name}: show or hide its curves`, onclick: () => toggle(run.id) }, CompareTables.swatch(look.get(run.id)), el("bdi", {}, run.name)),
    run.there ? el("a", { class: "open", href: `/run?id=${encodeURIComponent(run.id)}`, title: `Open ${run.name}` }, CompareTables.pill(run)) : null,
    run.problem ? el("span", { class: "s warn" }, run.problem) : null,
    el("button", { class: "away", "aria-label": `Remove ${run.name}`, title: "Remove", onclick: () => setIds(state.ids.filter((id) => id !== run.id)) }, "×"));
  const groups = grouped();
  find(".legend").replaceChildren(...(groups.length ? groups.map((group) => el("div", { class: "together" },
    el("span", { class: "s label" }, CompareTables.swatch(group), el("b", { dir: "auto", title: group.label }, group.label), el("span", { class: "mut" }, ` ${group.ids.length} ${group.ids.length === 1 ? "run" : "runs"}`)),
    ...group.ids.map((id) => chip(order.find((run) => run.id === id))))).concat(order.filter((run) => !run.there).map(chip)) : order.map(chip)));
  if (focused) [...page.querySelectorAll(".chosen")].find((one) => one.dataset.run === focused)?.querySelector(`.${which || "toggle"}`)?.focus();
}
function toggle(id) {
  const next = new Set(state.hidden);
  if (!next.delete(id)) next.add(id);
  setParams({ hide: [...next].filter((one) => state.ids.includes(one)).join(",") });
}

// ---- the curves ----
function zoomTo(range, x) {
  if (range && x !== state.x) return; // what is drawn is over the former axis until the curves over the other have come
  setParams({ zoom: range ? range.map((end) => +end.toPrecision(6)).join("..") : null });
}
find(".all-of-it").addEventListener("click", () => zoomTo(null));
function series(name) {
  const lines = (id) => runs.get(id)?.curves?.[name] ?? [];
  if (!state.by) return shown().map((run) => ({ key: run.id, label: run.name, colour: run.colour, dash: run.dash, lines: lines(run.id) }));
  const ids = new Set(shown().map(({ id }) => id));
  return grouped().map((group) => ({ ...group, group: true, ids: group.ids.filter((id) => ids.has(id)) })).filter((group) => group.ids.length)
    .map((group) => ({ ...group, key: group.label, lines: group.ids.flatMap(lines) }));
}
function layCharts(abouts) {
  const key = abouts.map(({ name }) => name).join("\n");
  if (page.dataset.charts === key) return;
  page.dataset.charts = key;
  for (const chart of charts.values()) Plots.drop(chart.plot);
  charts = new Map(abouts.map((about) => [about.name, new CompareChart(about, zoomTo)]));
  find(".charts").replaceChildren(...[...charts.values()].map(({ node }) => node));
}
function drawCurves() {
  const former = over !== state.x, view = former ? { ...state, x: over, zoom: null } : state;
  find(".charts").setAttribute("aria-busy", `${former}`);
  for (const [name, chart] of charts) chart.show(series(name), view);
  const there = order.filter((run) => run.seq > 0), without = there.filter((run) => !Object.keys(run.curves ?? {}).length);
  const lacks = { tokens: "tokens", time: "time" }[over];
  const words = there.length && !charts.size ? "None of these runs has logged a metric yet."
    : lacks && without.length ? `${without.map(({ name }) => name).join(", ")}: no ${lacks} recorded, so no curve over it.` : "";
  say(find(".unlaid"), words);
  find(".unlaid").hidden = !words;
}
function drawNames() {
  const box = find(".all .names"), asked = find(".all input").value.toLowerCase(), drawn = [...charts.keys()];
  say(find(".all summary span"), names.length ? `${names.length}` : "");
  const found = names.filter((name) => name.toLowerCase().includes(asked)), key = `${found.join("\n")}\n\n${drawn.join("\n")}`;
  if (!find(".all").open || box.dataset.key === key) return;
  box.dataset.key = key;
  const focused = box.contains(document.activeElement) ? document.activeElement.textContent : null;
  box.replaceChildren(...found.map((name) => el("button", { class: "chip mono", "aria-pressed": `${drawn.includes(name)}`, onclick: () => choose(name) }, name)));
  if (!found.length) box.append(el("span", { class: "s mut" }, "No metric has this in its name."));
  if (focused !== null) [...box.children].find((one) => one.textContent === focused)?.focus();
}
function choose(name) {
  const drawn = [...charts.keys()];
  const next = drawn.includes(name) ? drawn.filter((one) => one !== name) : [...drawn, name];
  setParams({ metrics: next.join(",") });
}
find(".all").addEventListener("toggle", drawNames);
find(".all input").addEventListener("input", drawNames);

// ---- controls ----
for (const button of page.querySelectorAll(".x button")) button.addEventListener("click", () => setParams({ x: button.dataset.x === "step" ? null : button.dataset.x, zoom: null }));
for (const button of page.querySelectorAll(".band button")) button.addEventListener("click", () => setParams({ band: button.dataset.band === "range" ? null : "std" }));
find(".smooth").addEventListener("change", (event) => setParams({ smooth: event.target.checked ? null : "0" }));
find(".by").addEventListener("change", (event) => setParams({ by: event.target.value }));
function drawControls() {
  for (const button of page.querySelectorAll(".x button")) button.setAttribute("aria-pressed", `${button.dataset.x === state.x}`);
  for (const button of page.querySelectorAll(".band button")) button.setAttribute("aria-pressed", `${button.dataset.band === state.band}`);
  find(".band").hidden = !state.by;
  show(find(".all-of-it"), state.zoom, find(".smooth"));
  find(".smooth").checked = state.smooth;
  options(find(".by"), [["", "nothing"], ["settings", "all settings but seeds"], ...fields.map(({ name }) => [name, name])], state.by);
  for (const [which, other] of [["a", 0], ["b", 1]]) options(find(`.code .${which}`), order.filter(({ there }) => there).map(({ id, name }) => [id, name]), pair()[other]);
}
function options(select, wanted, value) {
  const key = JSON.stringify(wanted);
  if (select.dataset.key !== key) select.replaceChildren(...wanted.map(([id, name]) => el("option", { value: id }, name)));
  select.dataset.key = key;
  if (select.value !== value) select.value = value;
}
const pair = () => {
  const ids = order.filter(({ there }) => there).map(({ id }) => id), a = ids.includes(state.a) ? state.a : ids[0] ?? "";
  return [a, ids.includes(state.b) ? state.b : ids.find((id) => id !== a) ?? a];
};
for (const which of ["a", "b"]) find(`.code .${which}`).addEventListener("change", (event) => setParams({ [which]: event.target.value }));

// ---- adding a run ----
const adder = find(".adder input"), foundBox = find(".adder .found");
let waiting = null, searching = null, offers = 0;
// Whether it lists what was found: not where it was closed, or asked for something else, before the answer came.
async function offer() {
  const mine = ++offers, reply = await server.search({ words: adder.value, ids: state.ids });
  if (mine !== offers) return false;
  const full = state.ids.length >= MOST;
  const line = (run) => el("button", { class: "option", onclick: () => { adder.value = ""; close(); setIds([...state.ids, run.id]); adder.focus(); } },
    el("span", { class: "dot", style: `background:var(${run.colour})` }), el("bdi", {}, run.name), el("span", { class: "s mut" }, run.about));
  foundBox.replaceChildren(...(full ? [] : (reply?.runs ?? []).map(line)));
  if (!foundBox.children.length) foundBox.append(el("p", { class: "s mut" }, full ? `${MOST} runs are the most that can be compared at once. Remove one first.`
    : reply ? reply.sentence ?? (adder.value ? "No other run has this in its name, state, model or data." : "There is no other run.") : "The dashboard did not answer."));
  foundBox.hidden = false;
  return true;
}
const close = () => { clearTimeout(waiting); offers += 1; foundBox.hidden = true; };
adder.addEventListener("focus", offer);
adder.addEventListener("input", () => { clearTimeout(waiting); offers += 1; waiting = setTimeout(offer, 120); });
find(".adder").addEventListener("keydown", (event) => {
  const all = [adder, ...foundBox.querySelectorAll("button")], move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === "Escape") { adder.focus(); close(); }
  if (event.key === "Enter" && event.target === adder) { clearTimeout(waiting); offer().then((listed) => listed && foundBox.querySelector("button")?.click()); }
  if (!move) return;
  event.preventDefault();
  all[Math.max(0, Math.min(all.length - 1, all.indexOf(document.activeElement) + move))].focus();
});
document.addEventListener("pointerdown", (event) => { if (!find(".adder").contains(event.target)) close(); });
find(".adder").addEventListener("focusout", (event) => { if (event.relatedTarget && !find(".adder").contains(event.relatedTarget)) close(); });

// ---- what is asked once for these runs ----
function drawFinals() {
  const key = JSON.stringify([order.map(({ id, name, colour, dash, label, final }) => [id, name, colour, dash, label, final]), state.sort]);
  if (page.dataset.finals === key) return;
  page.dataset.finals = key;
  CompareTables.finals(find("table.finals"), order.filter(({ there }) => there), state.sort, (key) => {
    const usual = ["name", "state"].includes(key) ? key : `-${key}`;
    setParams({ sort: state.sort === usual ? (usual.startsWith("-") ? key : `-${key}`) : usual });
  });
  drawParallel();
}
function drawParallel() {
  const axes = Parallel.axes(order, fields), why = nothingToSet(axes);
  say(find(".sweep .why"), why);
  find(".sweep .why").hidden = !why;
  find(".sweep .panel").hidden = !!why;
  const chosen = !why && state.chosen.size;
  show(find(".kept"), chosen, find(".smooth"));
  show(find(".sweep .every"), chosen, find(".sweep .plot"));
  if (why) return;
  const beside = besideChosen(), count = order.filter(({ there }) => there).length;
  say(find(".kept span"), `${count - beside.size} of ${count} runs pass through what is chosen under “Settings against finals”; the others are faint, and in no curve.`);
  const figure = () => Parallel.figure(order.map((run, index) => ({ ...run, index })).filter((run) => run.there && !state.hidden.has(run.id)), axes, state.chosen, besideChosen());
  Plots.draw(find(".sweep .plot"), figure, (plot) => Parallel.listen(plot, () => Parallel.axes(order, fields), pick));
  axisWalk.again();
}
const axisWalk = new AxisWalk(find(".sweep .plot"), () => ({ axes: Parallel.axes(order, fields), runs: order, chosen: state.chosen }), pick);
function pick(full, ends) {
  const next = new Map(state.chosen);
  if (ends) next.set(full, ends);
  else next.delete(full);
  setParams({ pick: Parallel.write(next) });
}
for (const button of page.querySelectorAll(".every")) button.addEventListener("click", () => setParams({ pick: null }));
// The settings that were told of other runs, or in another order, as these runs have them; null where that is not known.
const inOrder = ({ ids, fields }) => fields.map((field) => ({ ...field, values: drawnIds().map((id) => field.values[ids.indexOf(id)] ?? null) }));
async function loadSettings() {
  const key = JSON.stringify([state.ids, state.by]);
  if (settled === key) return;
  const now = await server.differences({ ids: state.ids, by: state.by === "settings" ? "" : state.by });
  if (!now?.fields) return;
  settled = key;
  told = now;
  fields = inOrder(now);
  const problems = Object.entries(now.problems).map(([id, words]) => `${runs.get(id)?.name ?? id}: ${words}`);
  if (now.left_out) problems.push(`${now.left_out} more differ.`);
  if (!fields.length) problems.unshift(state.ids.length - Object.keys(now.problems).length > 1 ? "They have the same settings." : "");
  say(find(".settled"), problems.join(" "));
  find(".settled").hidden = !problems.length;
  find("table.settings").parentElement.hidden = !fields.length;
  CompareTables.settings(find("table.settings"), order, fields, state.by, (name) => setParams({ by: state.by === name ? null : name }));
  drawAll();
  drawParallel();
}
const codeKey = () => JSON.stringify([state.ids, ...pair()]);
async function loadCode() {
  const [a, b] = pair(), key = codeKey();
  if (coded === key) return;
  const now = await server.code({ ids: state.ids, a, b });
  if (!now?.functions || key !== codeKey()) return;
  coded = key;
  CompareTables.code(find(".functions"), now.functions);
  find(".code .pair").hidden = !now.functions.length;
}

// ---- the same prompts, once one looks ----
const words = find(".alike input");
let inView = false;
new IntersectionObserver((entries) => { inView = entries.at(-1).isIntersecting; if (inView) loadPrompts(); }, { rootMargin: "300px" }).observe(find(".alike"));
words.addEventListener("input", () => { clearTimeout(searching); searching = setTimeout(loadPrompts, 200); });
// A live run's prompts follow it, but not at its every step.
function hear() {
  const ids = drawnIds().join(), seqs = order.map(({ seq }) => seq).join();
  if (heard.ids !== ids || (heard.seqs !== seqs && Date.now() - heard.at > FOLLOW)) heard = { ids, seqs, at: Date.now() };
}
const sharedKey = () => JSON.stringify([drawnIds(), words.value, heard.seqs]);
const reportedKey = () => JSON.stringify([drawnIds(), state.prompt]);
// Whether someone would lose their place in it.
const isRead = (node) => node.matches(":hover, :focus-within") || (!getSelection().isCollapsed && node.contains(getSelection().anchorNode));
async function loadPrompts() {
  if (!inView || order.length < 2) return;
  const key = sharedKey();
  if (shared !== key) {
    const now = await server.prompts({ ids: drawnIds(), words: words.value });
    if (!now || key !== sharedKey()) return; // what is asked for by now was asked for when it changed
    shared = key;
    say(find(".told"), now.sentence ?? (now.rows.length ? (now.count > now.rows.length ? `${now.rows.length} of ${now.count.toLocaleString("en")} shared prompts. Search for others.` : "")
      : words.value ? "No prompt that two of these runs had has these words in it." : "No prompt was had by two of these runs."));
    find(".told").hidden = !find(".told").textContent;
    find(".prompts").hidden = !now.rows?.length;
    ComparePrompts.table(find(".prompts table"), order, now.rows ?? [], state.prompt, (hash) => setParams({ prompt: hash }, { push: true }));
  }
  await loadPrompt();
}
async function loadPrompt() {
  for (const button of page.querySelectorAll(".prompts [data-hash]")) button.closest("tr").ariaCurrent = button.dataset.hash === state.prompt ? "true" : null;
  const key = reportedKey(), { seqs } = heard, same = reported.key === key;
  if (same && (reported.seqs === seqs || isRead(find(".one")))) return;
  const now = state.prompt ? await server.prompt({ ids: drawnIds(), hash: state.prompt }) : null;
  if (now === undefined || key !== reportedKey() || (same && isRead(find(".one")))) return;
  reported = { key, seqs };
  if (now?.runs) ComparePrompts.draw(find(".one"), order, now);
  else find(".one").replaceChildren(el("p", { class: "s mut" }, now?.sentence ?? (find(".prompts").hidden ? "" : "Choose a prompt to see what each run made of it.")));
}

// ---- the loop ----
function drawAll() {
  drawLegend();
  drawControls();
  drawCurves();
  drawNames();
  drawFinals();
}
function hint() {
  const here = order.filter(({ there }) => there).length;
  const some = !state.ids.length ? "Choose runs on the Runs page, or add them above." : here < 2 ? "Add another run to compare it with." : "";
  const more = leftOut ? `${MOST} runs are the most that can be compared at once: ${leftOut} of the address ${leftOut === 1 ? "is" : "are"} left out.` : "";
  say(find(".hint"), [some, more].filter(Boolean).join(" "));
  find(".hint").hidden = !find(".hint").textContent;
  find(".choose").hidden = state.ids.length > 0;
  find(".whole").hidden = !here;
  for (const part of page.querySelectorAll(".several")) part.hidden = here < 2;
  document.title = here ? `${here} ${here === 1 ? "run" : "runs"} compared · Groupwise` : "Compare · Groupwise";
}
function take(now) {
  order = now.runs.map((run) => ({ ...(runs.get(run.id) ?? {}), problem: undefined, ...run }));
  runs.clear();
  for (const run of order) runs.set(run.id, run);
  over = state.x;
  fields = inOrder(told);
  hear();
  names = now.names;
  layCharts(now.charts);
  hint();
  drawAll();
}
const wake = poll(page, async () => {
  const key = JSON.stringify([state.x, state.metrics, inSight()]), ids = state.ids;
  if (key !== asking) { asking = key; for (const run of runs.values()) run.seq = null; }
  const seen = Object.fromEntries(ids.filter((id) => runs.get(id)?.seq).map((id) => [id, runs.get(id).seq]));
  const now = await server.compared({ ids, x: state.x, metrics: state.metrics, zoom: inSight(), seen });
  if (!now) return undefined;
  find(".problem").hidden = !now.sentence;
  say(find(".problem"), now.sentence ?? "");
  if (now.sentence) return 2000;
  if (key !== JSON.stringify([state.x, state.metrics, inSight()]) || ids.join() !== state.ids.join()) return 0;
  take(now);
  await loadSettings();
  await loadCode();
  await loadPrompts();
  Plots.ready.then(() => { page.dataset.drawn = "yes"; });
  return now.poll;
});
function follow() {
  const before = JSON.stringify([state.ids, state.x, state.metrics, state.by, state.a, state.b, state.zoom]);
  readAddress();
  if (before !== JSON.stringify([state.ids, state.x, state.metrics, state.by, state.a, state.b, state.zoom])) wake();
  if (order.length) { drawAll(); drawParallel(); loadPrompt(); }
}
onAddress(follow);
readAddress();
hint();
