// The Completions: the form and the address say the same; what the address asks for is fetched, drawn and exported.

import { onAddress, openGroup, params, setParams } from "../../ui/address.js";
import { el, option, setHtml, setText, show, showText, touched } from "../../ui/dom.js";
import { typedNumber, withPoint } from "../../ui/number.js";
import { part } from "../../ui/part.js";
import { poll } from "../../ui/poll.js";
import { whyNothing } from "./why_nothing.js";

const { root: view, find, server } = part("pages/run/completions");
const all = (selector) => [...view.querySelectorAll(selector)];
const run = params().get("id") ?? "";
const FILTERS = ["q", "regex", "reward", "function", "steps", "length", "truncated", "starred", "mode"];
const ASKED = [...FILTERS, "sort", "page"];
const RANGES = ["reward", "steps", "length"];
const LIVE = 2000; // ms between two looks for newer ones
let drawn = null;
let newest = 0;

// What the address asks of the completions, and nothing else that is in it.
function asked(names = ASKED) {
  const now = params();
  const out = new URLSearchParams();
  for (const name of names) if (now.get(name)) out.set(name, now.get(name));
  return out.toString();
}
const onTab = () => params().get("tab") === "completions";

// ---- the form, to the address ----
const scored = (name) => find(`.of [data-part=${name}]`);
// A box may hold a whole range, as the address has it.
function range(low, high) {
  if (low === high || (low.includes("..") && !high)) return low;
  return `${low}..${high}`;
}
const ends = (words) => {
  const [low, high] = (words ?? "").split(/\.\.(.*)/s);
  return words?.includes("..") ? [low, high] : [low, low];
};
const RANGE_BOXES = "[name=reward], [name=steps], [name=length], .of .range input";
const isNoNumber = ({ value }) => !value.includes("..") && value.trim() !== "" && typedNumber(value) === null;
// A step or a number of tokens is whole, and none is below 0.
const isNoCount = ({ name, value }) => {
  const typed = ["steps", "length"].includes(name) ? typedNumber(value) : null;
  return typed !== null && (typed < 0 || !Number.isInteger(typed));
};
// A box of a range whose least is above its most.
const isTurned = (box) => {
  const ends = [...box.parentElement.querySelectorAll("input")].map(({ value }) => typedNumber(value));
  return !ends.includes(null) && ends[0] > ends[1];
};
// The boxes that hold no such number, or a range that ends before it begins, are marked, and the first that has a
// decimal comma is offered with a point.
function markBoxes() {
  const boxes = all(RANGE_BOXES);
  for (const box of boxes)
    box.setAttribute("aria-invalid", String([isNoNumber, isNoCount, isTurned].some((is) => is(box))));
  const comma = boxes.find((box) => isNoNumber(box) && withPoint(box.value) !== null);
  const button = find(".as-number");
  show(button, !!comma, find(".words"));
  if (!comma) return;
  const meant = withPoint(comma.value);
  setText(button, `Use ${meant}`);
  button.onclick = () => {
    comma.value = meant;
    comma.focus();
    changed(0);
  };
}
function read() {
  const of = (name) => find(`[name=${name}]`);
  const two = (name) => all(`[name=${name}]`).map((input) => input.value.trim());
  const name = scored("name").value;
  const status = scored("status").value;
  const score = status || range(scored("low").value.trim(), scored("high").value.trim());
  return {
    q: of("q").value,
    regex: of("regex").checked ? "1" : "",
    sort: of("sort").value,
    truncated: of("truncated").value,
    mode: of("mode").value,
    starred: of("starred").checked ? "1" : "",
    function: name && `${name}:${score}`, // with the colon in any case: a name may have some
    ...Object.fromEntries(RANGES.map((name) => [name, range(...two(name))])),
  };
}
let typing = null;
function changed(wait) {
  clearTimeout(typing);
  typing = setTimeout(() => {
    typing = null;
    markBoxes();
    write(read());
  }, wait);
}
function write({ mode, ...typed }) {
  setParams({ ...typed, ...(onTab() ? { mode } : {}), page: null }); // the other tabs have a mode as well
}
find("form").addEventListener("input", ({ target }) => {
  showOf();
  changed(target.matches("select, [type=checkbox]") ? 0 : 300);
});
find("form").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches("input")) {
    event.preventDefault();
    changed(0);
  }
});
for (const button of all(".clear"))
  button.addEventListener("click", () => {
    clearTimeout(typing);
    typing = null;
    setParams(Object.fromEntries([...FILTERS, "page"].map((name) => [name, null])), { push: true });
    fill();
    find(".words").focus();
  });
for (const [button, isPattern] of Object.entries({ ".as-pattern": true, ".as-text": false }))
  find(button).addEventListener("click", () => {
    find("[name=regex]").checked = isPattern;
    changed(0); // with what was typed a moment ago
  });
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || !onTab() || !view.isConnected) return;
  if (event.target.closest?.("input, textarea, select, [contenteditable]")) return;
  event.preventDefault();
  find(".words").select();
  find(".words").focus();
});

// ---- the address, to the form ----
const put = (input, value) => {
  if (input.value !== value) input.value = value;
};
function fill() {
  if (typing) return; // the address is a moment behind
  const now = params();
  const get = (name) => now.get(name) ?? "";
  put(find("[name=q]"), get("q"));
  for (const name of ["sort", "truncated", "mode"]) {
    const select = find(`[name=${name}]`);
    put(select, get(name));
    if (select.selectedIndex < 0) select.selectedIndex = 0; // as it is asked for where it has another name, or none
  }
  for (const name of ["regex", "starred"]) find(`[name=${name}]`).checked = get(name) === "1";
  for (const name of RANGES) all(`[name=${name}]`).forEach((input, i) => put(input, ends(get(name))[i] ?? ""));
  const [, name, rest] = get("function").match(/^(.*):([^:]*)$/s) ?? [null, get("function"), ""];
  const status = ["error", "timeout", "none"].includes(rest) ? rest : "";
  if (name && ![...scored("name").options].some((option) => option.value === name)) scored("name").append(option(name));
  put(scored("name"), name);
  put(scored("status"), status);
  ["low", "high"].forEach((end, i) => put(scored(end), status ? "" : (ends(rest)[i] ?? "")));
  showOf();
  markBoxes();
  // A function of which any score will do keeps nothing out.
  const isSet = (key) => (key === "function" ? !!(scored("name").value && rest) : get(key));
  const set = FILTERS.filter((key) => key !== "q" && key !== "regex" && isSet(key)).length;
  setText(find(".filters summary span"), set ? `(${set})` : "");
  find(".filters .clear").hidden = !FILTERS.some(get);
  for (const link of all("[data-format]"))
    link.href = `/export?id=${encodeURIComponent(run)}&format=${link.dataset.format}&${asked([...FILTERS, "sort"])}`;
}
function showOf() {
  scored("status").hidden = !scored("name").value;
  find(".of .range").hidden = !scored("name").value || !!scored("status").value;
}
function listFunctions(names) {
  const key = names.join("\n");
  const select = scored("name");
  if (select.dataset.key === key) return;
  const chosen = select.value;
  select.dataset.key = key;
  select.replaceChildren(option("", "any"), ...names.map((name) => option(name)));
  if (chosen && !names.includes(chosen)) select.append(option(chosen));
  select.value = chosen;
}

// ---- what was found ----
function draw(now) {
  newest = now.newest;
  const hits = find(".hits");
  setHtml(hits, now.rows);
  setText(find(".told"), now.told);
  find(".listed").hidden = !now.rows;
  find(".none").hidden = !now.none;
  setText(find(".none p"), now.none);
  show(find(".as-pattern"), now.pattern, find(".words"));
  find(".none .clear").hidden = !FILTERS.some((name) => params().get(name));
  show(find(".more"), false, find(".told"));
  find(".pages").hidden = now.pages < 2;
  setText(find(".pages span"), `page ${now.page} of ${now.pages.toLocaleString("en")}`);
  allow(find(".before"), now.page > 1, find(".after"));
  allow(find(".after"), now.page < now.pages, find(".before"));
  find(".before").onclick = () => turn(now.page - 1);
  find(".after").onclick = () => turn(now.page + 1);
  drawBins(now.bins);
}
function allow(button, so, other) {
  if (!so && document.activeElement === button) {
    other.disabled = false;
    other.focus({ preventScroll: true });
  }
  button.disabled = !so;
}
function turn(page) {
  setParams({ page: page > 1 ? page : null }, { push: true });
  find(".result").scrollIntoView({ block: "start" });
}
// Of what matches the other filters: so from one bar another can be chosen, and the chosen one be let go.
function drawBins({ of, low, high }) {
  const bars = find(".bars");
  const focused = [...bars.children].indexOf(document.activeElement);
  find(".bins").hidden = !of.length;
  setText(find(".ends .low"), low);
  setText(find(".ends .high"), high);
  const slots = Array.from({ length: 24 }, () => el("i"));
  for (const bin of of) {
    slots[bin.at] = el(
      "button",
      {
        type: "button",
        title: bin.words,
        "aria-label": `Only ${bin.words}`,
        "aria-pressed": String(bin.chosen),
        onclick: () =>
          setParams({ reward: params().get("reward") === bin.range ? null : bin.range, page: null }, { push: true }),
      },
      el("i", { style: `height:${Math.max(3, bin.share * 100)}%` }),
    );
  }
  bars.classList.toggle(
    "some",
    of.some(({ chosen }) => chosen),
  );
  bars.replaceChildren(...slots);
  if (focused >= 0) slots[focused].focus({ preventScroll: true });
}
const trouble = (words) => showText(find(".problem"), words);
let listed = ""; // what the list that is shown was asked by
// Whether nothing but the boxes that are wrong says otherwise than when the list was asked for: then it is what they
// would narrow.
function isBeforeWrong(query) {
  const wrong = all(RANGE_BOXES).filter((box) => box.getAttribute("aria-invalid") === "true");
  const narrowed = wrong.map((box) => box.name || "function");
  const [now, then] = [query, listed].map((words) => new URLSearchParams(words));
  const others = FILTERS.filter((name) => !narrowed.includes(name));
  return !wrong.length || others.every((name) => (now.get(name) ?? "") === (then.get(name) ?? ""));
}

// All of a row leads where its text does, unless text of it was just selected.
find(".hits").addEventListener("click", async (event) => {
  const hit = event.target.closest(".hit");
  const button = event.target.closest(".star");
  if (button) return setStar(hit, button);
  const link = hit?.querySelector("a.text");
  const isBeside = !event.target.closest("a, button");
  if (!link || event.shiftKey || event.button || (isBeside && !getSelection().isCollapsed)) return;
  if (event.ctrlKey || event.metaKey) {
    if (isBeside) open(link.href, "_blank", "noopener");
    return;
  }
  event.preventDefault();
  const to = new URL(link.href).searchParams;
  const get = (name) => to.get(name);
  openGroup({ step: get("step"), group: get("group"), idx: get("idx"), mode: get("mode"), pick: null });
});
async function setStar(hit, button) {
  const on = button.getAttribute("aria-pressed") !== "true";
  let now = null;
  try {
    now = await server.annotate_completion({
      run,
      group: Number(hit.dataset.group),
      idx: Number(hit.dataset.idx),
      star: on,
    });
  } catch {
    /* said below */
  }
  trouble(now ? now.sentence : "The dashboard did not answer. Nothing was starred.");
  if (!now || now.sentence) return;
  button.setAttribute("aria-pressed", `${now.starred}`);
  setText(button, now.starred ? "★" : "☆");
  touched(button);
}
find(".more").addEventListener("click", () => {
  drawn = null;
  setParams({ page: null });
  wake();
});
for (const kind of ["toggle", "click"])
  document.addEventListener(kind, (event) => {
    const menu = find(".export");
    if (menu?.open && !menu.contains(event.target)) menu.open = false;
  });
find(".export").addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    find(".export").open = false;
    find(".export summary").focus();
  }
});
// Folded on a phone, where they fill the screen; a wide page has no fold, so there they are always open.
const phone = matchMedia("(max-width: 760px)");
find(".filters").open = !phone.matches;
phone.addEventListener("change", () => {
  if (!phone.matches) find(".filters").open = true;
});

const wake = poll(view, async () => {
  const query = asked();
  if (query === drawn) return lookForNews();
  find(".result").setAttribute("aria-busy", "true");
  const now = await server.find_completions({ run, query });
  if (!now) return undefined;
  if (query !== asked()) return 0; // typed on meanwhile
  find(".result").setAttribute("aria-busy", "false");
  if (now.functions) listFunctions(now.functions);
  if (now.functions) fill();
  const wait = now.wait ?? "";
  showText(find(".wait"), wait);
  find("form").hidden = !!wait;
  trouble(now.problem ?? whyNothing(now));
  show(find(".as-text"), now.as_text, find(".words"));
  // Beside what cannot be asked stays the list from before it, greyed.
  const isPast = Boolean(now.problem) && find(".hits").childElementCount > 0 && isBeforeWrong(query);
  find(".result").classList.toggle("past", isPast);
  if (isPast) setText(find(".told"), "The list from before this filter");
  find(".result").hidden = !!(wait || (now.problem && !isPast) || now.sentence);
  if (now.sentence || wait) return now.live ? 1000 : 5000;
  drawn = query;
  if (!now.problem) {
    listed = query;
    draw(now);
  }
  return now.live ? LIVE : null;
});
async function lookForNews() {
  const now = await server.newest_completion({ run });
  if (!now) return undefined;
  if (now.newest !== undefined) find(".more").hidden = now.newest <= newest;
  return now.live ? LIVE : null;
}
onAddress(() => {
  if (!onTab()) {
    drawn = null;
    return;
  } // what is starred may change meanwhile
  fill();
  if (asked() !== drawn) wake();
});
fill();
