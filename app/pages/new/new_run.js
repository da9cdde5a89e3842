// The New run page: draws the form from what is installed, and keeps form, YAML and script one.

import { params } from "../../ui/address.js";
import { setText } from "../../ui/dom.js";
import { tellReady } from "../../ui/part.js";
import { draftOf } from "../../ui/run_drafts.js";
import { noSuchWords } from "../../ui/text.js";
import { drawAllSettings } from "./all_settings.js";
import { drawOffered, findDraft, restoreOwnDraft, standOn, takeReward, tellHanded } from "./arrival.js";
import {
  announceView,
  edit,
  find,
  isDraftChanged,
  keepDraft,
  offline,
  onProblems,
  onView,
  page,
  plainAt,
  root,
  server,
  settled,
  shownAt,
  trouble,
} from "./core.js";
import { drawColumns, drawMapping, drawSource } from "./data.js";
import { about, field, fields, place, showProblems } from "./fields.js";
import { goTo } from "./go_to.js";
import { drawExamples, drawFilter, drawStages } from "./lists.js";
import { listModels } from "./model_list.js";
import { drawNewData, givenBefore } from "./new_data.js";
import { drawPreflight } from "./preflight.js";
import { drawPreview } from "./preview.js";
import { drawReadAs } from "./read_as.js";
import { drawRewards } from "./rewards.js";
import { drawStart } from "./start.js";
import { tellDropped } from "./try_step.js";
import { watchValues } from "./values_before.js";
import { drawViews, unknownView } from "./views.js";

function drawForm() {
  for (const slot of root.querySelectorAll("[data-fields]"))
    slot.append(...slot.dataset.fields.split(" ").map((path) => field(about(path))));
  const model = find("#f-model-id");
  listModels(model, page.form.models);
  // One of the models at hand brings its revision: only that one is on this machine. With another name the one that was
  // typed before is there again.
  let brought = null;
  let typed = "";
  model.addEventListener("input", () => {
    const path = "model.revision";
    const now = shownAt(path);
    const known = page.form.models.find((one) => one.value === model.value);
    if (brought === null || now !== brought) typed = now;
    const wanted = known ? known.revision : typed;
    brought = known ? known.revision : null;
    if (wanted !== now) edit([wanted ? { path, value: wanted } : { path, remove: true }]);
  });

  // All weights or LoRA: what LoRA was set to is kept here while it is put away.
  let away = null;
  const [full, lora] = ["all", "lora"].map((value) => find(`[name=tune][value=${value}]`));
  full.addEventListener("change", () => {
    away = plainAt("lora");
    edit([{ path: "lora", value: null }]);
  });
  lora.addEventListener("change", () => edit([{ path: "lora", value: away ?? page.form.usual_lora }]));
  place("lora", find(".tune"));
  const tune = () => {
    const is = plainAt("lora") !== null;
    lora.checked = is;
    full.checked = !is;
    find(".lora").hidden = !is;
  };
  onView(tune);
  tune();
}

// All settings of the data that the address asks for; null where it asks for none.
function dataAsked() {
  try {
    return JSON.parse(params().get("data"));
  } catch {
    return null;
  }
}
const coming = findDraft();
const open = () =>
  server.open_new_run({
    from: params().get("from") ?? "",
    preset: params().get("preset") ?? "",
    reward: params().get("reward") ?? "",
    keep: params().get("keep") ?? "",
    stage: params().get("stage") ?? "",
    fixed: params().get("fixed") ?? "",
    without: params().get("without") ?? "",
    verdict: params().get("verdict") ?? "",
    at: params().get("at") ?? "",
    data: dataAsked(),
    set: params().getAll("set"),
  });
function drawParts() {
  watchValues();
  drawForm();
  drawRewards();
  drawSource();
  drawReadAs();
  drawNewData();
  drawMapping();
  drawExamples();
  drawFilter();
  drawColumns();
  drawStages();
  drawAllSettings(goTo);
  drawViews(coming.add ? "form" : coming.draft?.view); // a function that is added is seen in the form's list
  drawStart();
  drawPreflight();
  drawPreview();
  onView(() => {
    for (const one of fields) one.show();
  });
  onProblems(showProblems);
}
async function begin() {
  const opened = await open();
  if (!opened) {
    offline(true);
    return setTimeout(begin, 1000);
  }
  offline(false);
  trouble(opened.sentence ?? "");
  if (!opened.form) return setTimeout(begin, 2000);
  Object.assign(page, { form: opened.form, text: opened.text, opened: opened.text, view: opened.view });
  const fresh = { origin: opened.origin, arrival: opened.arrival };
  // What the address asks for is not there: this is the page without it.
  if (opened.missing && !coming.draft) {
    standOn(fresh, "");
    coming.draft = draftOf("", true);
    tellHanded(opened.missing, { wrong: true });
  }
  if (coming.lost && !opened.missing)
    tellHanded(noSuchWords([["draft", coming.lost]], "This is a new one; drafts stay in the tab they were typed in."), {
      wrong: true,
    });
  const strange = unknownView();
  if (strange) tellHanded(noSuchWords([["view", strange]], "Choose Form, YAML or Script."), { wrong: true });
  page.early = !opened.form.complete;
  // What was only looked at is begun as it would be now: a run's settings have another name, say.
  const isOther = coming.draft?.text !== opened.text || opened.arrival?.advised;
  if (!coming.draft?.changed && isOther) coming.draft = null;
  standOn(withFunctionsOfNow(coming.draft?.about ?? fresh, opened));
  page.given = coming.draft?.given ?? (opened.before ? givenBefore(opened.before) : null);
  drawParts();
  if (restoreOwnDraft(coming.draft, fresh)) await showDraft();
  else announceView();
  drawOffered();
  if (page.request) keepDraft();
  if (coming.draft?.early && !page.early) await catchUp(opened);
  else if (coming.add) takeReward(coming.add);
  tellDropped();
  tellReady(root);
  // What was changed is named at the top, which stays in sight; where nothing was, one is led to what is to be changed.
  const isNamed = page.about.arrival?.changes.length > 0;
  if (params().get("at") && !isNamed) goTo({ field: params().get("at") });
  waitForCatalogue();
  return undefined;
}
// The form is not there before it shows the draft: what it would show and take until then belongs to other settings.
function showDraft() {
  setText(find(".loading"), "Restoring the draft…");
  return settled();
}
// What the form stands on; of a draft, functions may have been saved anew since it was left.
function withFunctionsOfNow(about, { arrival }) {
  return about.arrival ? { ...about, arrival: { ...about.arrival, newer: arrival?.newer ?? [] } } : about;
}
// In a new home the worker has not yet said what is installed: the form is drawn again when it has, with what the
// address asks for that was not possible before.
function waitForCatalogue() {
  if (page.form.complete) return;
  find(".waiting").hidden = false;
  const look = async () => {
    const now = await open();
    if (!now?.form?.complete) return setTimeout(look, 1000);
    if (coming.add || isDraftChanged()) await catchUp(now);
    keepDraft();
    dispatchEvent(new Event("groupwise:reload"));
    return undefined;
  };
  setTimeout(look, 1000);
}
// What a person typed meanwhile stays, and gets what the address asked for in vain. `now`: as open_new_run says it.
async function catchUp(now) {
  const isOurs = (path) => page.form.fields.some((one) => one.path === path && !one.section); // possible at once
  const asked = params()
    .getAll("set")
    .map((one) => one.split(/=(.*)/s, 2).map((part) => part.trim()));
  const late = asked.filter(([path, typed]) => typed && !isOurs(path));
  if (late.length) edit(late.map(([path, typed]) => asEdit(path, typed)));
  const reward = coming.add || params().get("reward");
  if (reward) await takeReward(reward);
  page.early = false;
  page.about = { origin: now.origin, arrival: page.about.arrival && now.arrival };
  keepDraft();
}
// A place in the list of rewards takes a function by its name.
const asEdit = (path, typed) =>
  /(^|\.)rewards\.\d+$/.test(path) ? { path, value: { name: typed, weight: 1 } } : { path, typed };
document.title = "New run · Groupwise";
begin();
