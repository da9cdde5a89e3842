// The Rewards page: begins with what the address names, else with what is first in the library.

import { params } from "../../ui/address.js";
import { el, setText } from "../../ui/dom.js";
import { takeClicks, tellReady } from "../../ui/part.js";
import { cut } from "../../ui/text.js";
import { keepAges, takeLibrary } from "./ages.js";
import { drawWorkbench } from "./workbench.js";
import { drawBuilder } from "./builder.js";
import { drawDeleted } from "./deleted.js";
import { drawLive } from "./live.js";
import { button, call, find, on, page, root, server, tell, trouble } from "./core.js";
import { goToLine, makeEditor } from "./editor.js";
import { drawFunctionActions, drawFunctions, takeParameters } from "./functions.js";
import { sayHowItFailed, sayWhatLedHere } from "./led_here.js";
import { beginBuilding, drawLibrary, drawLibraryActions, openDraft, openFirst, openNamed } from "./library.js";
import { drawRenaming } from "./renaming.js";
import { drawHistory, drawRescore } from "./rescore.js";
import { drawSaving } from "./saving.js";
import { drawSource } from "./source.js";
import { guardPastes } from "./pastes.js";
import { plain } from "./text.js";
import { drawTransfer } from "./transfer.js";

async function begin() {
  const got = await call("open_rewards");
  if (!got) {
    setTimeout(begin, 1500);
    return;
  }
  page.about = got;
  takeLibrary(got.library);
  sayLevelOfSafety();
  try {
    await makeEditor();
  } catch (problem) {
    trouble(`The editor could not be loaded (${problem.message}). Reload the page.`);
    return;
  }
  guardPastes();
  drawTransfer();
  drawLibraryActions();
  drawDeleted(openNamed);
  drawSaving();
  drawRenaming();
  keepAges();
  drawBuilder();
  drawLive();
  drawFunctionActions();
  drawWorkbench();
  drawRescore();
  drawLibrary();
  takeClicks(root); // also while another function is still being opened
  const name = params().get("name");
  const draft = params().get("draft");
  const isNew = !name && !draft && params().has("new");
  if (isNew) beginBuilding();
  const listed = await rewardsOfRun(params().get("run"));
  takeParameters(listed); // a try from a run's page calls them as the run did
  const ofRun = name || draft || isNew ? "" : nameInRun(listed);
  const there = ofRun
    ? await openNamed(ofRun, "", { own: true })
    : name
      ? await openNamed(name, params().get("version") ?? "")
      : draft
        ? openDraft(draft)
        : false;
  if (!there && !name && !draft && !page.open && page.about.library.own.length) await openFirst();
  const line = Number(params().get("line")); // where a run said that the function failed
  if (there && line > 0) goToLine(line);
  if (!page.open) {
    if (name) trouble(""); // the panel says it
    welcome(sayMissing(name, draft));
  }
  drawSource();
  drawHistory();
  sayWhatLedHere();
  sayHowItFailed();
  tellReady(root);
  waitForWorker();
}
// What the run that the address names is scored by; nothing of a run that is gone, which says so where data is chosen.
async function rewardsOfRun(run) {
  return run ? ((await call("run_rewards", { data: `run:${run}` }, () => {}))?.rewards ?? []) : [];
}
// Of these, the function that is most likely to be changed: the first of one's own, or the first.
function nameInRun(listed) {
  const { own, built_in: builtIn } = page.about.library;
  const has = (list, { name }) => list.some((one) => one.name === name);
  return (listed.find((one) => has(own, one)) ?? listed.find((one) => has(builtIn, one)))?.name ?? "";
}
// What there is to do where the address names a function that is not there, or a draft of another browser.
const sayMissing = (name, draft) =>
  name
    ? missingFunction(name)
    : draft
      ? [
          el("h2", "This draft is not in this browser"),
          el("p.s.mut", "Drafts stay in the browser that they were typed in, until they are saved or discarded."),
        ]
      : [];
function missingFunction(name) {
  const { own, built_in: builtIn } = page.about.library;
  const names = [...own, ...builtIn].map((one) => one.name);
  const wanted = name.toLowerCase();
  const isNear = (one) => wanted.length > 2 && (one.includes(wanted) || wanted.includes(one)); // a letter means nothing
  const near = names.filter((one) => isNear(one.toLowerCase())).slice(0, 3);
  return [
    el("h2", "There is no function “", el("span.mono", plain(cut(name, 60))), "”"),
    el("p.s", "It may have been deleted or renamed, or was never saved. Choose one from the list, or begin one:"),
    near.length
      ? el(
          "p.s",
          "Did you mean ",
          ...near.flatMap((one, n) => [n ? ", " : "", button(one, () => openNamed(one), "link s mono")]),
          "?",
        )
      : "",
  ];
}
// Where nothing is open: the ways to begin a function, or first why the one that was asked for is not there.
function welcome(missing = []) {
  const ways = [
    ["build", "Build without code", "Put it together from blocks, and see three real rows scored as you go."],
    ["templates", "Write Python", "Begin with a template in TRL's own form."],
    [
      "import",
      "Paste or upload code",
      "A function, a script or a whole notebook, pasted or as a file: its reward functions are taken out of it.",
    ],
  ];
  const box = find(".welcome");
  box.hidden = false;
  box.classList.toggle("missing", missing.length > 0);
  box.replaceChildren(
    ...(missing.length
      ? missing
      : [
          el("h2", "A reward function says how good an answer is"),
          el("p.s.mut", "The model learns what earns the most. Begin one, or open a built-in one from the list."),
        ]),
    el(
      "div.ways-to-begin",
      ...ways.map(([name, title, words]) =>
        el(
          "button.take.boxed",
          { type: "button", onclick: () => find(`[data-do=${name}]`).click() },
          el("b", title),
          el("span.s.mut", words),
        ),
      ),
    ),
  );
}
function waitForWorker(times = 100) {
  if ((page.about.complete && page.about.sandbox.name) || !times || !root.isConnected) return;
  setTimeout(
    async () => {
      const now = await server.open_rewards({}).catch(() => null);
      if (now?.library) {
        takeLibrary(now.library);
        Object.assign(page.about, { complete: now.complete, sandbox: now.sandbox, kinds: now.kinds });
        tell("library");
        sayLevelOfSafety();
        drawFunctions();
      }
      waitForWorker(times - 1);
    },
    page.about.complete ? 5000 : 1500,
  );
}
// What one's own code runs in, and where there is no sandbox, that it does not run.
function sayLevelOfSafety() {
  const { name, label, sentence } = page.about.sandbox;
  const none = name === "none";
  const banner = find(".banner");
  banner.hidden = !none;
  if (none)
    setText(
      banner,
      sentence ?? "There is no sandbox here: functions of your own cannot run, those that are built in can.",
    );
  const note = find(".sandbox");
  note.hidden = none || !label;
  setText(note, label ? `Your functions run isolated from your files and secrets (${label})` : "");
  note.title = sentence ?? "";
}
// The way back to an address that names a function which is gone by now.
on("missing", () => {
  for (const part of [".writing", ".workbench", ".side"]) find(part).hidden = true;
  trouble("");
  welcome(sayMissing(params().get("name"), params().get("draft")));
});
document.title = "Rewards · Groupwise";
begin();
