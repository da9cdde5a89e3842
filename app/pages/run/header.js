// The head of a run's page: draws its state, offers what can be done, and switches between the tabs.

import { onAddress, params, setParams } from "../../ui/address.js";
import { el, setText, showText } from "../../ui/dom.js";
import { part } from "../../ui/part.js";
import { poll, wakeAll } from "../../ui/poll.js";
import { listenToTabs, markTab } from "../../ui/tabs.js";

const { root: head, find, server } = part("pages/run/header");
const run = params().get("id") ?? "";
const tabs = [...head.querySelectorAll("[role=tab]")];
let drawnActions = "";

// ---- tabs: the address says which; style.css shows the part that body[data-tab] names ----
function showTab() {
  const asked = params().get("tab");
  const current = tabs.find((tab) => tab.dataset.tab === asked) ?? tabs[0];
  markTab(tabs, current);
  if (document.body.dataset.tab === current.dataset.tab) return;
  document.body.dataset.tab = current.dataset.tab;
  reveal();
  wakeAll();
  dispatchEvent(new Event("resize"));
}
// On a phone the tab may be out of sight.
function reveal() {
  const bar = find(".tabs");
  const current = bar.querySelector("[aria-selected=true]");
  bar.scrollLeft = current.offsetLeft - bar.offsetLeft - (bar.clientWidth - current.offsetWidth) / 2;
}
listenToTabs(tabs, (tab) => setParams({ tab: tab === tabs[0] ? null : tab.dataset.tab }, { push: true }));
onAddress(showTab);
showTab();

// ---- what can be done ----
const dialog = find("dialog");
// What kept an action from being done stays until the next one; what kept the head from being read, until it is read.
const problems = { asking: "", reading: "" };
function complain(about, words) {
  problems[about] = words;
  showText(find(".problem"), [...new Set(Object.values(problems))].filter(Boolean).join(" "));
}
async function ask(wish) {
  const reply = await server.command_run({ run, do: wish });
  complain("asking", reply ? (reply.sentence ?? "") : "The dashboard did not answer. Nothing was asked of the run.");
  wake();
}
function button(action) {
  const look = `btn ${action.look ?? ""}`;
  if (action.go) return el("a", { class: look, href: action.go }, action.label);
  return el(
    "button",
    {
      class: look,
      "data-do": action.do,
      onclick: () => {
        if (action.confirm) {
          dialog.returnValue = "";
          dialog.showModal();
        } else ask(action.do);
      },
    },
    action.label,
  );
}
dialog.addEventListener("close", () => {
  if (dialog.returnValue === "stop") ask("stop");
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

// ---- what it says ----
function draw(now) {
  document.title = `${now.label} · ${now.name} · Groupwise`;
  setText(find(".found h1"), now.name);
  find(".found h1").title = now.name;
  find(".title .dot").style.background = `var(${now.colour})`;
  find(".title .pill").className = `pill ${now.kind}`;
  setText(find(".title .pill span"), now.label);
  setText(find(".line"), now.line);
  setText(find(".sentence"), now.sentence);
  showText(find(".note"), now.note);
  const percent = Math.round(now.progress * 1000) / 10;
  find(".bar i").style.width = `${percent}%`;
  find(".bar").setAttribute("aria-valuenow", percent);
  drawActions(now.actions);
  if (dialog.open && !now.actions.some((action) => action.confirm)) dialog.close(); // it ended meanwhile
}

const wake = poll(head, async () => {
  const now = await server.run_status({ run });
  if (!now) return undefined;
  if (now.sentence && !now.name) {
    find(".found").hidden = false;
    complain("reading", now.sentence);
    return 2000;
  }
  complain("reading", "");
  find(".missing").hidden = !now.missing;
  if (find(".found").hidden === !now.missing) {
    find(".found").hidden = !!now.missing;
    reveal();
  }
  document.body.classList.toggle("gw-missing", !!now.missing);
  if (now.missing) {
    setText(find(".why"), now.missing);
    document.title = "No such run · Groupwise";
    return 5000;
  }
  if (document.body.dataset.state !== now.state) {
    document.body.dataset.state = now.state;
    wakeAll();
  }
  draw(now);
  return now.poll;
});
