// The Rewards page: begins with what the address names, else with what is first in the library.

import { params } from "../../ui/address.js";
import { el, setText } from "../../ui/dom.js";
import { drawWorkbench } from "./workbench.js";
import { drawBuilder } from "./builder.js";
import { call, find, page, root, server, tell, trouble } from "./core.js";
import { makeEditor } from "./editor.js";
import { drawFunctionActions, drawFunctions } from "./functions.js";
import { drawLibrary, drawLibraryActions, openDraft, openFirst, openNamed } from "./library.js";
import { drawHistory, drawRescore } from "./rescore.js";
import { drawSource } from "./source.js";
import { drawTransfer } from "./transfer.js";

async function begin() {
  const got = await call("open_rewards");
  if (!got) {
    setTimeout(begin, 1500);
    return;
  }
  page.about = got;
  sayLevelOfSafety();
  try {
    await makeEditor();
  } catch (problem) {
    trouble(`The editor could not be loaded (${problem.message}). Reload the page.`);
    return;
  }
  drawTransfer();
  drawLibraryActions();
  drawBuilder();
  drawFunctionActions();
  drawWorkbench();
  drawRescore();
  drawLibrary();
  const name = params().get("name");
  const draft = params().get("draft");
  const ofRun = name || draft ? "" : await nameInRun(params().get("run") ?? "");
  const there = ofRun
    ? await openNamed(ofRun)
    : name
      ? await openNamed(name, params().get("version") ?? "")
      : draft
        ? openDraft(draft)
        : false;
  if (!there && !name && !page.open) await openFirst();
  if (!page.open) welcome();
  drawSource();
  drawHistory();
  root.dataset.ready = "yes";
  waitForWorker();
}
// Of the run that the address names, the function that is most likely to be changed: the first of one's own, or the
// first.
async function nameInRun(run) {
  if (!run) return "";
  const { own, built_in: builtIn } = page.about.library;
  const has = (list, { name }) => list.some((one) => one.name === name);
  const listed = (await call("run_rewards", { data: `run:${run}` }))?.rewards ?? [];
  return (listed.find((one) => has(own, one)) ?? listed.find((one) => has(builtIn, one)))?.name ?? "";
}
// Where nothing can be opened yet: in a new home, before the worker has said what ships.
function welcome() {
  const box = find(".welcome");
  box.hidden = false;
  box.replaceChildren(
    el(
      "p.s.mut",
      page.about.complete
        ? "Choose a function, or begin one."
        : "The worker is starting. What ships with Groupwise is here in a moment.",
    ),
  );
}
function waitForWorker(times = 100) {
  if ((page.about.complete && page.about.sandbox.name) || !times || !root.isConnected) return;
  setTimeout(
    async () => {
      const now = await server.open_rewards({}).catch(() => null);
      if (now?.library) {
        Object.assign(page.about, {
          library: now.library,
          complete: now.complete,
          sandbox: now.sandbox,
          kinds: now.kinds,
        });
        tell("library");
        sayLevelOfSafety();
        drawFunctions();
        if (!page.open && !params().get("name")) openFirst();
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
  setText(note, label ? label.charAt(0).toUpperCase() + label.slice(1) : "");
  note.title = sentence ?? "";
}
document.title = "Rewards · Groupwise";
begin();
