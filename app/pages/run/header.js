// The head of a run's page: draws its state, offers what can be done, and switches between the tabs.

import { onAddress, params, setParams } from "../../ui/address.js";
import { el, setText, showText } from "../../ui/dom.js";
import { part } from "../../ui/part.js";
import { poll, wakeAll } from "../../ui/poll.js";
import { first } from "../../ui/settings.js";
import { listenToTabs, markTab } from "../../ui/tabs.js";
import { noSuchWords } from "../../ui/text.js";
import { Labels } from "./labels.js";

const { root: head, find, server } = part("pages/run/header");
const run = params().get("id") ?? "";
const tabs = [...head.querySelectorAll("[role=tab]")];
let drawnActions = "";

// ---- tabs: the address says which; header.css shows the part that body[data-tab] names ----
function showTab() {
  const asked = params().get("tab");
  const named = tabs.find((tab) => tab.dataset.tab === asked);
  const current = named ?? tabs[0];
  showText(find(".no-tab"), noSuchWords(asked && !named ? [["tab", asked]] : [], "This is the Overview."));
  markTab(tabs, current);
  if (document.body.dataset.tab === current.dataset.tab) return;
  document.body.dataset.tab = current.dataset.tab;
  wakeAll();
  dispatchEvent(new Event("resize"));
}
// On a phone the tab may be out of sight.
function reveal() {
  const bar = find(".tabs");
  const current = bar.querySelector("[aria-selected=true]");
  bar.scrollLeft = current.offsetLeft - bar.offsetLeft - (bar.clientWidth - current.offsetWidth) / 2;
}
// Once it is drawn, and whenever it or a tab has another width: as the page shows, a font is there, a phone is turned.
const widths = new ResizeObserver(reveal);
for (const box of [find(".tabs"), ...tabs]) widths.observe(box);
listenToTabs(tabs, (tab) => setParams({ tab: tab === tabs[0] ? null : tab.dataset.tab }, { push: true }));
onAddress(showTab);
showTab();

// ---- what can be done ----
const dialogs = [...head.querySelectorAll("dialog.confirm")];
let last = null; // what the server said last
let asked = null; // what was asked here, until the server says what became of it
// What kept an action from being done stays until the next one, or until the run goes on for all that and it could be
// read; what kept the head from being read, until it is read.
const problems = { asking: "", reading: "" };
const READ_IN = 5000; // ms
let refused = null; // {state: of the run as it was asked, at: when it was refused}
function complain(about, words) {
  problems[about] = words;
  showText(find(".found > .problem"), [...new Set(Object.values(problems))].filter(Boolean).join(" "));
}
// The page answers at once; a second click while it waits asks nothing.
async function ask(wish, more = {}) {
  if (asked || !last) return;
  const { state } = last;
  asked = { wish, state };
  complain("asking", "");
  draw(last);
  const reply = await server.command_run({ run, do: wish, ...more });
  complain("asking", reply ? (reply.sentence ?? "") : "The dashboard did not answer. The run was not changed.");
  refused = { state, at: performance.now() };
  if (!reply || reply.sentence) asked = null;
  draw(last);
  wake();
}
function forgetRefusal({ state }) {
  const goesOn = ["starting", "running"].includes(state) && state !== refused?.state;
  if (refused && goesOn && performance.now() - refused.at > READ_IN) complain("asking", "");
}
// Another part of the page asks something of the run: to resume from a checkpoint.
addEventListener("groupwise:ask", ({ detail: { do: wish, ...more } }) => ask(wish, more));
// Until the server has seen it, the page shows what was asked as it will.
function withAsked(now) {
  if (asked && (now.asked === asked.wish || now.state !== asked.state)) asked = null;
  const told = asked && now.meanwhile?.[asked.wish];
  return told ? { ...now, label: told[0], sentence: told[1], end: null, ahead: null, actions: [] } : now;
}
// On the Overview the head tells of the same moment as the charts, the box of now and the latest group beside it: of
// two answers the one that they were drawn from counts.
let charted = null; // what the charts were drawn from: {seq, line, progress}
addEventListener("groupwise:charted", ({ detail }) => {
  charted = detail;
  draw(last);
  if (last?.state === "starting") wake(); // what is charted may be its beginning already
});
function asCharted(now) {
  const beside = charted && document.body.dataset.tab === "overview";
  return beside && now.seq !== charted.seq ? { ...now, ...charted } : now;
}
// … and beside the state it has the words of the diagnostics that stand there, not those of another moment.
let pills = {}; // by the state of a run that trains: {label, kind}
addEventListener("groupwise:diagnosed", ({ detail }) => {
  pills = detail;
  draw(last);
});
function asDiagnosed(now) {
  const beside = document.body.dataset.tab === "overview" && !asked && !now.asked;
  return beside ? { ...now, ...pills[now.state] } : now;
}
// A link to another tab of this page needs no other page.
function stayHere(event) {
  const { pathname, searchParams } = new URL(event.currentTarget.href);
  if (pathname !== location.pathname || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  setParams({ tab: searchParams.get("tab") }, { push: true });
}
function button(action) {
  const look = `btn ${action.look ?? ""}`;
  if (action.go) return el("a", { class: look, href: action.go, onclick: stayHere }, action.label);
  return el(
    "button",
    {
      class: look,
      "data-do": action.do,
      onclick: () => {
        if (!action.confirm) return ask(action.do);
        const dialog = dialogs.find((one) => one.dataset.of === action.confirm);
        dialog.returnValue = "";
        return dialog.showModal();
      },
    },
    action.label,
  );
}
for (const dialog of dialogs)
  dialog.addEventListener("close", () => {
    if (dialog.returnValue === dialog.dataset.of) ask(dialog.dataset.of);
  });

function drawActions(actions) {
  const key = JSON.stringify(actions);
  if (key === drawnActions) return;
  drawnActions = key;
  const box = find(".actions");
  const at = [...box.children].findIndex((one) => one.contains(document.activeElement));
  box.replaceChildren(...actions.map(button));
  if (at >= 0) (box.children[at] ?? box.lastElementChild)?.focus({ preventScroll: true });
}

// ---- how it ended, and what helps ----
let drawnEnd = "";
function drawEnd(end) {
  const box = find(".ending");
  box.hidden = !end;
  const key = JSON.stringify(end);
  if (!end || key === drawnEnd) return;
  drawnEnd = key;
  setText(box.querySelector("h2"), end.headline);
  box.querySelector("h2").title = end.said;
  showText(box.querySelector(".rest"), end.rest);
  box.querySelector(".rest").title = end.whole;
  const { helps } = end;
  box.querySelector(".helps").hidden = !helps;
  if (helps) {
    const ways = [{ ...helps, look: "pri" }, helps.second].filter(Boolean).map(button);
    box.querySelector(".helps").replaceChildren(...ways, el("span.s.mut", { dir: "auto" }, helps.note));
  }
  box.querySelector("details").hidden = !end.trace;
  setText(box.querySelector("pre"), end.trace);
}

// ---- what it says ----
// Where the trained model is, is a link to where it can be had; a run that waits leads to the one it waits for.
function drawSentence(words, hasModel, ahead) {
  const node = find(".sentence");
  if (ahead) {
    const known = node.querySelector("a");
    if (node.dataset.words === words && known?.getAttribute("href") === ahead.href) return;
    node.dataset.words = words;
    const [before, ...after] = words.split(ahead.name);
    const named = after.length > 0;
    const link = el("a", { href: ahead.href, dir: "auto" }, named ? ahead.name : `Open ${ahead.name}`);
    node.replaceChildren(named ? before : `${words} `, link, after.join(ahead.name));
    node.hidden = false;
    return;
  }
  if (!hasModel && node.querySelector("a")) node.replaceChildren(); // the same words, and no link any more
  showText(node, words);
  const [before, after] = words.split("final/");
  if (!hasModel || after === undefined || node.querySelector("a")) return;
  const there = `/run?${new URLSearchParams({ id: run, tab: "checkpoints" })}`;
  node.replaceChildren(before, el("a", { href: there, onclick: stayHere }, "final/"), after);
}
// How long ago the last step was is not known while the dashboard is away; when that was, is.
let lostAt = null;
function lineWhenLost(line) {
  const [known, updated] = line.split(" · updated ");
  return updated ? `${known} · not connected since ${lostAt}` : line;
}
const clock = () => new Date().toLocaleTimeString("sv", { hour: "2-digit", minute: "2-digit" });
function draw(given) {
  if (!given) return;
  last = given;
  const told = withAsked(given);
  const now = asDiagnosed(asCharted(told));
  document.title = `${now.label} · ${now.name} · Groupwise`;
  setText(find(".found h1"), now.name);
  find(".found h1").title = now.name;
  labels.draw(now.labels ?? null);
  find(".title .dot").style.background = `var(${now.colour})`;
  find(".title .pill").className = `pill ${now.kind}`;
  setText(find(".title .pill span"), now.label);
  find(".title .pill").title = now.label;
  setText(find(".line"), lostAt ? lineWhenLost(now.line) : now.line);
  find(".line").title = now.about ?? "";
  drawSentence(now.end ? "" : now.sentence, now.state === "finished" && !!now.labels, now.ahead);
  find(".found").toggleAttribute("data-asked", told.label !== given.label || Boolean(now.asked));
  drawEnd(now.end);
  showText(find(".note"), now.note);
  const percent = Math.round(now.progress * 1000) / 10;
  find(".bar i").style.width = `${percent}%`;
  find(".bar").setAttribute("aria-valuenow", percent);
  drawActions(now.actions.filter((action) => !action.do || action.do !== now.end?.helps?.do));
  for (const dialog of dialogs)
    // it ended meanwhile
    if (dialog.open && !now.actions.some((action) => action.confirm === dialog.dataset.of)) dialog.close();
}

// ---- no run, or a deleted one, which can be restored here ----
function drawMissing({ missing, deleted }) {
  const words = deleted ? "This run was deleted" : "No such run";
  setText(find(".missing h1"), words);
  setText(find(".why"), missing);
  find(".missing .restore").hidden = !deleted;
  find(".missing .all").classList.toggle("pri", !deleted);
  document.title = `${words} · Groupwise`;
}
find(".missing .restore").addEventListener("click", async ({ target }) => {
  target.disabled = true;
  const reply = await server.put_back({ run });
  showText(
    find(".missing .problem"),
    reply ? reply.sentence : "The dashboard did not answer. The run was not restored.",
  );
  target.disabled = false;
  wake();
});

// Takes an answer of the server; how long it holds, in ms.
function take(now) {
  if (now.sentence && !now.name) {
    find(".found").hidden = false;
    complain("reading", now.sentence);
    return 2000;
  }
  complain("reading", "");
  forgetRefusal(now);
  find(".missing").hidden = !now.missing;
  find(".found").hidden = !!now.missing;
  document.body.classList.toggle("gw-missing", !!now.missing);
  if (now.missing) {
    drawMissing(now);
    return 5000;
  }
  const record = now.unreadable ? "unreadable" : "";
  const { dataset } = document.body;
  const goesOn = `${now.asked === "resume"}`; // then nothing on the page tells of an end any more
  if (dataset.state !== now.state || dataset.record !== record || dataset.goesOn !== goesOn) {
    Object.assign(dataset, { state: now.state, record, goesOn });
    wakeAll();
  }
  draw(now);
  return now.poll;
}
const labels = new Labels(find, server, run, () => wake());
if (first.head) take(first.head);
const wake = poll(head, async () => {
  const now = await server.run_status({ run }).catch(() => null);
  lostAt = now ? null : (lostAt ?? clock());
  if (now) return take(now);
  draw(last);
  return undefined;
});
