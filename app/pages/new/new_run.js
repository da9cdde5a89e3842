// The New run page: draws the form from what is installed, and keeps form, YAML and script one.

import { params } from "../../ui/address.js";
import { el, option, setText } from "../../ui/dom.js";
import { drawAllSettings } from "./all_settings.js";
import {
  announceView,
  draft,
  dropDraft,
  edit,
  find,
  keepDraft,
  offline,
  onProblems,
  onView,
  page,
  plainAt,
  replaceText,
  root,
  server,
  settleIn,
  shownAt,
  trouble,
} from "./core.js";
import { drawColumns, drawMapping, drawSource } from "./data.js";
import { about, field, fields, place, showProblems } from "./fields.js";
import { goTo } from "./go_to.js";
import { drawExamples, drawFilter, drawStages } from "./lists.js";
import { drawPreflight } from "./preflight.js";
import { drawPreview } from "./preview.js";
import { drawRewards } from "./rewards.js";
import { drawStart } from "./start.js";
import { drawViews } from "./views.js";

function drawForm() {
  for (const slot of root.querySelectorAll("[data-fields]"))
    slot.append(...slot.dataset.fields.split(" ").map((path) => field(about(path))));
  const model = find("#f-model-id");
  model.setAttribute("list", "models");
  model.after(el("datalist", { id: "models" }, ...page.form.models.map(({ value, label }) => option(value, label))));
  // One of the models at hand brings its revision: only that one is on this machine.
  model.addEventListener("input", () => {
    const known = page.form.models.find((one) => one.value === model.value);
    if (known && known.revision !== shownAt("model.revision"))
      edit([
        known.revision ? { path: "model.revision", value: known.revision } : { path: "model.revision", remove: true },
      ]);
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

async function begin() {
  const opened = await server.open_new_run({
    from: params().get("from") ?? "",
    preset: params().get("preset") ?? "",
    reward: params().get("reward") ?? "",
    set: params().getAll("set"),
  });
  if (!opened) {
    offline(true);
    return setTimeout(begin, 1000);
  }
  offline(false);
  trouble(opened.sentence ?? "");
  if (!opened.form) return setTimeout(begin, 2000);
  Object.assign(page, {
    form: opened.form,
    text: opened.text,
    opened: opened.text,
    from: opened.origin,
    view: opened.view,
  });
  drawForm();
  drawRewards();
  drawSource();
  drawMapping();
  drawExamples();
  drawFilter();
  drawColumns();
  drawStages();
  drawAllSettings();
  drawViews();
  drawStart();
  drawPreflight();
  drawPreview();
  onView(() => {
    for (const one of fields) one.show();
  });
  onProblems(showProblems);
  const kept = draft();
  if (kept && kept !== opened.text) {
    page.text = kept;
    setText(find(".origin"), "What you had typed is back. ");
    const over = el("button.link.s", { type: "button" }, "Start over");
    over.addEventListener("click", () => {
      dropDraft();
      replaceText(opened.text);
      setText(find(".origin"), page.from);
    });
    find(".origin").append(over);
    settleIn(0);
  } else announceView();
  root.dataset.ready = "yes";
  if (params().get("at")) goTo({ field: params().get("at") });
  waitForCatalogue();
  return undefined;
}
// In a new home the worker has not yet said what is installed: the form is drawn again when it has.
function waitForCatalogue() {
  if (page.form.complete) return;
  find(".waiting").hidden = false;
  const look = async () => {
    const now = await server.open_new_run({ from: "", preset: "", reward: "" });
    if (!now?.form?.complete) return setTimeout(look, 1000);
    if (page.text !== page.opened) keepDraft(); // what the address asks for may be possible now
    location.reload();
    return undefined;
  };
  setTimeout(look, 1000);
}
document.title = "New run · Groupwise";
begin();
