// What a spec begins with: a preset, a run's settings, an import; and how one's own presets are kept.

import { params, setParams } from "../../ui/address.js";
import { el, remover, setText, showText } from "../../ui/dom.js";
import { asOwnDraft } from "../../ui/run_drafts.js";
import { takeHandedOver } from "../../ui/import_handover.js";
import { lengthWords } from "../../ui/text.js";
import { showOrigin, standOn } from "./arrival.js";
import { find, keepDraft, page, replaceText, server, settled, undo } from "./core.js";
import { drawImporting, openImport } from "./importing.js";
import { showView } from "./views.js";

const dialog = find("dialog.presets");
const keep = find("dialog.keep");
// Something else than what the page began with takes its place, as a draft of its own: what was here is kept.
// `imported`: the settings of an import, by their lines.
const from = (words, request, imported = null) => {
  page.given = null;
  standOn({ origin: words, arrival: null, imported }, request);
};
function drawPresets() {
  const card = (preset) => {
    const take = el("button.take.boxed", { type: "button" }, el("b", preset.title), el("span.s.mut", preset.sentence));
    take.addEventListener("click", async () => {
      await settled(); // what was typed a moment ago is what Undo brings back
      const got = await server.preset_settings({ name: preset.name });
      if (!got || got.sentence)
        return setText(dialog.querySelector(".said"), got?.sentence ?? "The server did not answer. Try again.");
      // One that ships is named in the address; one's own may be another tomorrow.
      const asked = new URLSearchParams(preset.own ? {} : { preset: preset.name });
      from(`Preset: ${preset.title}`, asOwnDraft(asked));
      page.opened = got.text;
      replaceText(got.text);
      dialog.close();
      showView("form");
      return undefined;
    });
    const drop = preset.own
      ? remover(`Delete the preset ${preset.title}`, async () => {
          const left = await server.delete_preset({ name: preset.name });
          if (left?.presets) {
            page.form.presets = left.presets;
            drawPresets();
          }
        })
      : null;
    return el("li.preset", take, drop);
  };
  dialog.querySelector(".said").textContent = "";
  dialog.querySelector("ul").replaceChildren(...page.form.presets.map(card));
}

async function savePreset(event) {
  event.preventDefault();
  await settled();
  const title = keep.querySelector("[name=title]").value;
  const words = keep.querySelector("[name=sentence]").value;
  const kept = await server.save_preset({
    name: title,
    sentence: words,
    text: page.text,
    replace: keep.dataset.replace === title,
  });
  if (kept?.presets) {
    page.form.presets = kept.presets;
    keep.close();
    page.about.origin = `Saved as the preset “${title}”`;
    showOrigin();
    keepDraft();
    return;
  }
  if (kept?.taken) keep.dataset.replace = title;
  setText(keep.querySelector(".said"), kept?.sentence ?? "The server did not answer. Try again.");
}

export function drawStart() {
  find("[data-do=presets]").addEventListener("click", () => {
    drawPresets();
    dialog.showModal();
    dialog.querySelector("li .take").focus();
  });
  for (const one of [dialog, keep]) {
    one.querySelector(".close").addEventListener("click", () => one.close());
    one.addEventListener("mousedown", (event) => {
      if (event.target === one) one.close();
    });
  }
  drawImporting(from);

  find("[data-do=undo]").addEventListener("click", undo);

  // ---- one's own presets ----
  find("[data-do=keep]").addEventListener("click", () => {
    keep.querySelector("[name=title]").value = page.view?.name ?? "";
    keep.querySelector(".said").textContent = "";
    keep.querySelector(".length").hidden = true;
    delete keep.dataset.replace;
    keep.showModal();
    keep.querySelector("[name=title]").select();
  });
  keep.querySelector("form").addEventListener("submit", savePreset);
  keep.querySelector("[name=title]").addEventListener("input", ({ target }) => {
    showText(keep.querySelector(".length"), lengthWords(target.value, page.form.preset_name_limit));
  });
  if (params().get("import")) {
    setParams({ import: null });
    openImport(takeHandedOver());
  }
  if (params().get("keep")) {
    setParams({ keep: null });
    find("[data-do=keep]").click();
  }
}
