// All settings of TRL's GRPOConfig and PEFT's LoraConfig: search, then sections; those that were changed stand first.

import { el, setText } from "../../ui/dom.js";
import { find, onView, page, shownAt } from "./core.js";
import { field, forget, showProblems } from "./fields.js";
import { matching, removedAs } from "./setting_search.js";

const MOST = 40; // fields that a search draws
const CHANGED = "Changed from the default";
const BROWSE = "Browse by section";
const box = find(".all input[type=search]");
const list = find(".all .found");
const count = (words) => setText(find(".all .count"), words);
let drawn = null;

const settings = () => page.form.fields.filter((one) => one.section);
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
  if (asked) drawFound(asked, matching(all, asked), all.length);
  else drawSections(all, changed);
  showProblems();
}
function drawFound(asked, hits, all) {
  count(hits.length ? `${hits.length} of ${all}` : "");
  const gone = removedAs(asked, page.form.removed);
  const nothing = gone ?? `No setting has “${asked}” in its name or help. Try a shorter word.`;
  list.replaceChildren(...(gone || !hits.length ? [el("p.s.mut", nothing)] : []));
  if (hits.length) list.append(cards(hits.slice(0, MOST)));
  if (hits.length > MOST) list.append(el("p.s.mut", `${hits.length - MOST} more: type more to narrow it down.`));
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

export function drawAllSettings() {
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
