// All settings of TRL's GRPOConfig and PEFT's LoraConfig: search, then sections; those that were changed stand first.

import { el, setText } from "../../ui/dom.js";
import { find, onView, page, shownAt } from "./core.js";
import { field, fieldOf, forget, showProblems } from "./fields.js";
import { matching, removedAs } from "./setting_search.js";

const MOST = 40; // fields that a search draws
const CHANGED = "Changed from the default";
const BROWSE = "Browse by section";
const box = find(".all input[type=search]");
const list = find(".all .found");
const count = (words) => setText(find(".all .count"), words);
let drawn = null;
let lead = () => {}; // to a field of the form

const settings = () => page.form.fields.filter((one) => one.section);
// Settings of the form that are not of the list, such as kl.target: what leads there is shown for them.
const placeOf = (one) => fieldOf({ field: one.path })?.node;
const elsewhere = () => page.form.fields.filter((one) => !one.section && placeOf(one));
const cards = (which) => el("div.cards", ...which.map((one) => field(one, { full: true })));

function details(title, which, open = false) {
  const node = el("details", { open }, el("summary", title, " ", el("span.mut.xs", String(which.length))));
  const fill = () => {
    if (node.open && !node.querySelector(".cards")) {
      node.append(cards(which));
      showProblems();
    }
  };
  node.addEventListener("toggle", fill);
  fill();
  return node;
}

function draw(asked = box.value.trim()) {
  const all = settings();
  const changed = all.filter((one) => shownAt(one.path) !== "" && shownAt(one.path) !== one.default);
  const key = asked || `sections ${changed.map((one) => one.path)}`;
  if (key === drawn) return;
  if (!asked && list.contains(document.activeElement)) return; // someone is typing there
  drawn = key;
  forget(list);
  if (asked) drawFound(asked, [...all, ...elsewhere()]);
  else drawSections(all, changed);
  showProblems();
}
function drawFound(asked, all) {
  const hits = matching(all, asked);
  const shown = hits.slice(0, MOST);
  const here = shown.filter((one) => one.section);
  const there = shown.filter((one) => !one.section);
  const listed = hits.filter((one) => one.section).length;
  const above = hits.length - listed; // the list has none of them, nor has its count
  count(hits.length ? `${listed} of ${settings().length} settings${above ? `, ${above} above` : ""}` : "");
  const gone = removedAs(asked, page.form.removed);
  const shorter = /\s/.test(asked) ? "Try fewer words." : "Try a shorter word.";
  const nothing = gone ?? `No setting has “${asked}” in its name or help. ${shorter}`;
  list.replaceChildren(...(gone || !hits.length ? [el("p.s.mut", nothing)] : []));
  if (there.length) list.append(el("ul.elsewhere.s", { "aria-label": "Settings above" }, ...there.map(wayTo)));
  if (here.length) list.append(cards(here));
  if (hits.length > MOST) list.append(el("p.s.mut", `${hits.length - MOST} more: type more to narrow it down.`));
}
// Target KL kl.target · above, under Training, Adaptive KL weight
function wayTo(one) {
  const node = placeOf(one);
  const heads = [node.closest(".panel")?.querySelector("h2"), node.closest("details")?.querySelector("summary")];
  const under = heads.map((head) => head?.textContent).filter(Boolean);
  const onclick = () => lead({ field: one.path });
  const where = under.length ? ` · above, under ${under.join(", ")}` : "";
  const link = el("button.link", { type: "button", onclick }, one.label);
  return el("li", link, " ", el("code.xs", one.path), el("span.mut", where));
}
function drawSections(all, changed) {
  count(`${all.length} settings, ${changed.length} changed`);
  const open = new Set([...list.querySelectorAll("details[open] summary")].map((node) => node.firstChild.textContent));
  const sections = [...new Set(all.map((one) => one.section))];
  const of = (name) => all.filter((one) => one.section === name);
  const browse = el(
    "details.browse",
    { open: open.has(BROWSE) },
    el("summary", BROWSE),
    ...sections.map((name) => details(name, of(name), open.has(name))),
  );
  list.replaceChildren(...(changed.length ? [details(CHANGED, changed, open.has(CHANGED))] : []), browse);
}

// `goTo`: leads to the field of a setting.
export function drawAllSettings(goTo) {
  lead = goTo;
  box.addEventListener("input", () => draw());
  onView(() => draw());
  draw();
}
// Makes the field of a path that is not drawn visible.
export function reveal(path) {
  const one = page.form.fields.find((other) => path === other.path || path.startsWith(`${other.path}.`));
  if (!one?.section) return;
  box.value = one.name;
  draw();
}
