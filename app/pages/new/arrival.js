// What the form stands on, always said: a preset, a run's settings and what was changed of them, an import, a draft
// that was restored; what another page hands over; and drafts that were never launched.

import { params } from "../../ui/address.js";
import { el, show } from "../../ui/dom.js";
import { countWords } from "../../ui/number.js";
import {
  asOwnDraft,
  currentDraft,
  draftOf,
  dropDraft,
  dropOffered,
  handOver,
  offeredDrafts,
  requestOf,
  setAside,
  setRequest,
} from "../../ui/run_drafts.js";
import { listed } from "../../ui/text.js";
import { changedLine, changedStanding } from "./changed_functions.js";
import {
  edit,
  find,
  isDraftChanged,
  keepDraft,
  onView,
  page,
  plainAt,
  replaceText,
  restoreDraft,
  server,
  settled,
  shownAt,
} from "./core.js";
import { drawOtherData, noteDataOf } from "./other_data.js";
import { showView } from "./views.js";

const arrival = find(".arrival");
const handed = find(".handed");
const offered = find(".offered");
const origin = find(".origin");

// What the arrival says: {said, from, before: changed on another page, typed: or on this one, kept: its changes that
// still stand}.
let standing = null;
const LEAST_LEFT = 0.25; // of the settings of an import, for as long as the form is said to be of it
const OF_RUN = ["data.limit", "data.holdout"]; // how many rows are used is the run's affair
const MOST_OUT = 4; // functions that can be taken out where another was added

const link = (label, onclick) => el("button.link.s", { type: "button", onclick }, label);
const closer = (onclick) => el("button.btn.quiet.s", { type: "button", "aria-label": "Dismiss", onclick }, "×");

// ---- which draft an address leads to ----
// {draft: this tab's, null where there is none; add: the reward function that is to be among its rewards, or ""; lost:
// the draft that it names and this tab has not, or ""}. An
// address that asks for nothing, or for no more than a function, goes on with what this tab is at. An `early` draft in
// which nothing was changed is begun again: more of what its address asks for may be possible now.
export function findDraft() {
  const comesAnew = document.documentElement.dataset.came === "navigate"; // see ui/mount.js
  const asked = requestOf();
  const reward = params().get("reward") ?? "";
  const hands = comesAnew && asked !== "" && asked === new URLSearchParams({ reward }).toString();
  const current = comesAnew && (asked === "" || hands) ? currentWork(hands) : null;
  page.request = current ? current.request : asked;
  if (current) setRequest(current.request);
  if (current && hands) handOver(current.request, reward); // the address does not say it any more
  const kept = current ?? draftOf(asked, comesAnew);
  const add = hands && kept ? reward : (kept?.handing ?? "");
  const lost = kept ? "" : (new URLSearchParams(asked).get("draft") ?? "");
  return { draft: kept?.early && !kept.changed ? null : kept, add, lost };
}

// What this tab is at. A run's settings that were only looked at are not work: “New run” begins anew.
function currentWork(hands) {
  const draft = currentDraft();
  const asked = new URLSearchParams(draft?.request ?? "");
  const onlySeen = draft && !draft.changed && asked.has("from") && !asked.has("set");
  return onlySeen && !hands ? null : draft;
}

// ---- what the form stands on ----
export function showOrigin(...more) {
  origin.replaceChildren(el("span", originNow() && more.length ? `${originNow()} · ` : originNow()), ...more);
}
// Nothing where it was an import of which hardly a setting is left, as when the whole YAML was written anew.
function originNow() {
  const { origin: words = "", imported } = page.about;
  const now = new Set(settingLines(page.text));
  const left = (imported ?? []).filter((line) => now.has(line)).length;
  return imported?.length && left < imported.length * LEAST_LEFT ? "" : words;
}
// The lines of a YAML that say a value, without where they stand.
export const settingLines = (text) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /^(- )?[\w.]+:\s+\S|^- \S/.test(line));
onView(() => {
  const said = origin.firstElementChild;
  if (!said || !page.about.imported || page.view.unreadable) return;
  said.textContent = originNow() && origin.children.length > 1 ? `${originNow()} · ` : originNow();
});
// `about`: {origin, arrival} as open_new_run says it; `request`: what the address asks for from now on; `typed`:
// something was changed on this page since.
export function standOn(about, request = page.request, typed = false) {
  page.about = about;
  page.request = request;
  setRequest(request);
  showOrigin();
  arrival.hidden = true;
  if (about.arrival) drawArrival(about.arrival, about.origin, typed);
}

// Max completion length 48 → 96; Reward “format”: added, weight 1
const change = ({ label, before, after }) => {
  if (!before) return el("li", `${label}: `, el("b.mono", after));
  return el("li", el("span.label", label), " ", el("s.mut.mono", before), " → ", el("b.mono", after));
};
// Data: “Aufgaben.xlsx”, as in Rewards; each of its settings is behind that.
function changeOfData(name, changes, asThere) {
  const words = [el("b", `Data: “${name}”`), asThere ? ", as in Rewards" : ""];
  if (!changes.length) return el("li", ...words);
  const unfolded = arrival.querySelector(".changes details")?.open ?? false;
  const summary = el("summary", ...words, el("span.s.mut", ` · ${countWords(changes.length, "setting")}`));
  return el("li", el("details", { open: unfolded }, summary, el("ul.changes", ...changes.map(change))));
}
// The changes that still stand, those that came with other data as one.
function changeLines(said) {
  const kept = changesKept(said);
  const isOfData = ({ field }) => Boolean(said.data) && field.startsWith("data.");
  const [ofData, others] = [kept.filter(isOfData), kept.filter((one) => !isOfData(one))];
  const isThere = ofData.some(({ field }) => field === "data.source"); // other data was chosen here else
  const ofThere = (changes) => changes.filter((one) => isOfData(one) && !OF_RUN.includes(one.field)).length;
  const asThere = ofThere(kept) === ofThere(said.changes);
  const first = isThere
    ? [
        changeOfData(
          said.data,
          ofData.filter(({ field }) => field !== "data.source"),
          asThere,
        ),
      ]
    : [];
  return [...first, ...others.map(change)];
}

// `said`: {run, name, changes, refused, newer} as presets.Beginning says it; `from`: where the settings are from, if
// from no run.
function drawArrival(said, from, before) {
  const typed = before || isDraftChanged();
  const { run, name, refused } = said;
  const changes = changeLines(said);
  standing = { said, from, before, typed, kept: keptOf(said) };
  const where = run ? el("a", { href: `/run?id=${encodeURIComponent(run.id)}` }, run.name) : "";
  const advised = adviceStanding(said);
  const newer = changedStanding(said);
  const unchanged = newer.length ? "" : `, with nothing changed${advised ? " yet" : ""}`;
  const none = changes.length ? ", with:" : run ? `${typed ? ", with what you changed since" : unchanged}.` : ".";
  const apart = `This is a new run${typed ? "" : `, named ${name}`}. That one stays as it is.`;
  const told = [
    changes.length ? el("ul.changes", ...changes) : "",
    advised ? el("p.s", el("b", `${advised.label}: `), `${advised.choose} below. ${advised.why}`) : "",
    ...newer.map((one) => changedLine(one, run)),
    refused ? el("p.s.warn", refused) : "",
    failureStands(run) && !changes.length ? el("p.s.warn", `That run failed: ${run.failed.replace(/\.?$/, ".")}`) : "",
    typed && changes.length ? el("p.s.mut", "And with what you changed since.") : "",
    run ? el("p.s.mut", apart, " ", link("Start with the quickstart", beginAnew)) : "",
  ];
  const top = arrival.querySelector(".told")?.scrollTop ?? 0;
  arrival.classList.toggle("advises", advised !== null);
  arrival.replaceChildren(
    el("div.row.tight.between", el("p", el("b", run ? "From run " : from), where, none), closer(dismiss)),
    el("div.told.scrolls", { role: "group", "aria-label": "What the form stands on", tabindex: "0" }, ...told),
  );
  arrival.querySelector(".told").scrollTop = top;
  arrival.hidden = false;
}
// What was changed on the way here, but for what was changed here again.
const changesKept = ({ changes }) => changes.filter(({ field, shown }) => shownAt(field) === (shown ?? shownAt(field)));
// What is to be chosen, until something is.
const adviceStanding = ({ advised }) => (advised && shownAt(advised.field) === advised.shown ? advised : null);
// Why the run failed, until the file that it did not find is there, or other data is chosen.
function failureStands(run) {
  if (!run?.lost) return Boolean(run?.failed);
  const isMissing = ({ field, level }) => field === "data.source" && level === "blocking";
  return shownAt("data.source") === run.lost && (page.view?.problems ?? []).some(isMissing);
}
const keptOf = (said) => {
  const counts = [changesKept(said).length, changedStanding(said).length];
  return [...counts, adviceStanding(said) !== null, failureStands(said.run)].join();
};
// What is changed here is said, and no longer once it is undone.
onView(() => {
  if (arrival.hidden || !standing) return;
  const { said, from, before, typed, kept } = standing;
  if ((before || isDraftChanged()) !== typed || keptOf(said) !== kept) drawArrival(said, from, before);
});
// What was changed here is kept, and offered there.
function beginAnew() {
  setAside(page.request);
  location.href = "/new";
}
function dismiss() {
  show(arrival, false, find("#f-name"));
  page.about = { ...page.about, arrival: null };
  keepDraft();
}

// Puts this tab's draft back, if something was changed in it; whether it did. `fresh`: what the page stands on where
// one starts over.
export function restoreOwnDraft(draft, fresh) {
  if (!draft?.changed || (draft.text === page.opened && !draft.pending.length)) return false;
  restoreDraft(draft);
  if (page.about.arrival) drawArrival(page.about.arrival, page.about.origin, true);
  const startOver = () => {
    dropDraft(page.request);
    standOn(fresh);
    page.given = null; // what other data brought went with it
    replaceText(page.opened);
  };
  // a page that loaded itself anew, once it was known what is installed, had not been left
  const hasStayed = document.documentElement.hasAttribute("data-stayed");
  if (!hasStayed) showOrigin(el("span", "Draft restored. "), link("Start over", startOver));
  return true;
}

// ---- what another page hands over ----
// `words`: what came of it; `actions`: what can be done about it.
export function tellHanded(words, { wrong = false, actions = [] } = {}) {
  const close = closer(() => show(handed, false, find("#f-name")));
  const said = el(wrong ? "p.warn" : "p", { "data-wrong": wrong }, words);
  handed.replaceChildren(
    el("div.row.tight.between", said, close),
    actions.length ? el("div.row.tight.wrap", ...actions) : "",
    drawOtherData(),
  );
  handed.hidden = false;
}
// Adds a reward function to the draft that is here, and says so.
export async function takeReward(name) {
  page.handing = name; // a reload does not lose it
  await settled();
  const got = await server.add_reward({ text: page.text, reward: name });
  if (got && (got.done || page.form.complete)) page.handing = "";
  keepDraft();
  if (!got || got.sentence)
    return tellHanded(
      got?.sentence ?? `The server did not answer: “${name}” was not added. Add it below, under Rewards.`,
      { wrong: true },
    );
  if (got.text !== page.text) replaceText(got.text, { notes: page.notes });
  if (!got.unreadable) noteDataOf(name);
  if (got.stay.length) return tellOfOthers(got.words, got.stay);
  return tellHanded(got.words, { wrong: !got.done, actions: got.unreadable ? wayOut(name) : [] });
}
// What was added, with those that it was added to, as long as they are there.
function tellOfOthers(words, names) {
  const quoted = names.slice(0, MOST_OUT).map((name) => `“${name}”`);
  if (names.length > MOST_OUT) quoted.push(`${names.length - MOST_OUT} more`);
  const stay = names.length ? ` ${listed(quoted)} ${names.length === 1 ? "stays" : "stay"}.` : "";
  tellHanded(words + stay, { actions: waysWithout(words, names) });
}
// A function is often added in place of one that scores much the same, such as a changed copy of a built-in.
function waysWithout(words, names) {
  return names.slice(0, MOST_OUT).map((name) => {
    const out = el("button.btn.s", { type: "button" }, `Remove ${name}`);
    out.addEventListener("click", async () => {
      out.disabled = true;
      await settled();
      const at = (plainAt("rewards") ?? []).findIndex((one) => one?.name === name);
      if (at >= 0) edit([{ path: `rewards.${at}`, remove: true }]);
      const others = names.filter((one) => one !== name);
      tellOfOthers(words, others);
    });
    return out;
  });
}
function wayOut(name) {
  const fix = el("button.btn.s", { type: "button" }, "Fix the YAML");
  fix.addEventListener("click", () => showView("yaml", page.view?.unreadable?.line ?? 1));
  const anew = el("button.btn.s", { type: "button" }, `Start from the quickstart with ${name}`);
  anew.addEventListener("click", () => {
    setAside(page.request);
    location.href = `/new?reward=${encodeURIComponent(name)}`;
  });
  return [fix, anew, el("span.s.mut", "This draft is kept, and offered there.")];
}

// ---- drafts of other tabs, and of this one's other beginnings ----
const when = (at, timeStyle) => new Date(at).toLocaleString("sv", { dateStyle: "short", timeStyle });
const OPEN = 2; // drafts that are listed at once: more would push the form out of sight
export function drawOffered() {
  const drafts = offeredDrafts(page.request).filter((one) => one.text !== page.text);
  const list = el(
    "ul",
    { "aria-label": "Unfinished drafts" },
    ...drafts.map((one) =>
      offer(
        one,
        drafts.find((other) => other !== one && other.name === one.name),
      ),
    ),
  );
  const unfolded = offered.querySelector("details")?.open ?? false;
  offered.hidden = !drafts.length;
  offered.replaceChildren(drafts.length > OPEN ? fold(list, drafts, unfolded) : list);
}
function fold(list, drafts, open) {
  const discardAll = () => {
    for (const { id } of drafts) dropOffered(id);
    show(offered, false, find("#f-name"));
  };
  const words = el("b", countWords(drafts.length, "unfinished draft"));
  return el("details", { open }, el("summary.s", words), list, link("Discard all", discardAll));
}
const MOST_SHOWN = 60; // letters of a line that tells a draft from another
// When a draft was left; and what it has that another of its name has not.
function apart(draft, namesake) {
  if (!namesake) return ` · ${when(draft.at, "short")}`;
  const others = new Set(namesake.text.split("\n").map((line) => line.trim()));
  const own = draft.text.split("\n").find((line) => line.trim() && !others.has(line.trim()));
  const has = own ? ` · with “${own.trim().slice(0, MOST_SHOWN)}”` : "";
  return `${has} · ${when(draft.at, "medium")}`;
}
// `namesake`: another that is offered beside it, of the same name.
function offer(draft, namesake) {
  const take = () => {
    standOn(draft.about ?? {}, asOwnDraft(draft.request ?? ""), draft.changed);
    page.given = draft.given ?? null;
    replaceText(draft.text, draft);
    dropOffered(draft.id);
    showOrigin(el("span", "Draft restored. Undo brings back what was here."));
    drawOffered();
  };
  const discard = () => {
    dropOffered(draft.id);
    drawOffered();
  };
  const from = draft.request && draft.about?.origin ? ` · ${draft.about.origin.replace(/\.$/, "")}` : "";
  const words = el("span.s", el("b", "Unfinished draft "), draft.name, el("span.mut", from + apart(draft, namesake)));
  return el("li.row.tight.wrap", words, link("Continue with it", take), link("Discard", discard));
}
