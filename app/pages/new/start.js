// What a spec begins with: a preset, a run's settings, an imported file; and how one's own presets are kept.

import { params, setParams } from "../../ui/address.js";
import { el, remover, setText, textOf } from "../../ui/dom.js";
import { find, page, replaceText, server, settled, undo } from "./core.js";
import { showView } from "./views.js";

const dialog = find("dialog.presets");
const keep = find("dialog.keep");
const origin = find(".origin");
const from = (words) => {
  page.from = words;
  setText(origin, words);
};
function drawPresets() {
  const card = (preset) => {
    const take = el("button.take", { type: "button" }, el("b", preset.title), el("span.s.mut", preset.sentence));
    take.addEventListener("click", async () => {
      const got = await server.preset_settings({ name: preset.name });
      if (!got || got.sentence)
        return setText(dialog.querySelector(".said"), got?.sentence ?? "The server did not answer. Try again.");
      from(`Preset: ${preset.title}`);
      setParams({ preset: preset.own ? null : preset.name, from: null });
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

// ---- import: a spec, or a TRL script, whose settings are read and never run ----
const file = find("input.import");
function tell(lines, wrong = false) {
  const node = find(".import-note");
  node.hidden = !lines.length;
  node.className = `import-note ${wrong ? "verdict blocking" : "note"}`;
  const onclick = () => {
    node.hidden = true;
  };
  const dismiss = el("button.link.s", { type: "button", onclick }, "Dismiss");
  node.replaceChildren(...lines.map((line) => el("p.s", line)), dismiss);
}

async function importFile() {
  const chosen = file.files[0];
  file.value = "";
  if (!chosen) return;
  const most = page.form.spec_limit;
  if (chosen.size > most) return tell([`“${chosen.name}” is larger than ${most / 1024} KB: that is no spec.`], true);
  const text = await textOf(chosen);
  if (text === null) return tell([`“${chosen.name}” is not text in UTF-8.`], true);
  const got = await server.import_file({ name: chosen.name, text });
  if (!got || got.sentence) return tell([got?.sentence ?? "The server did not answer. Try again."], true);
  from(`Imported from ${chosen.name}`);
  replaceText(got.text);
  return tell(got.notes ?? []);
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
    from(`Saved as the preset “${title}”`);
    return;
  }
  if (kept?.taken) keep.dataset.replace = title;
  setText(keep.querySelector(".said"), kept?.sentence ?? "The server did not answer. Try again.");
}

export function drawStart() {
  from(page.from ?? "");

  find("[data-do=presets]").addEventListener("click", () => {
    drawPresets();
    dialog.showModal();
  });
  for (const one of [dialog, keep]) {
    one.querySelector(".close").addEventListener("click", () => one.close());
    one.addEventListener("click", (event) => {
      if (event.target === one) one.close();
    });
  }
  find("[data-do=import]").addEventListener("click", () => file.click());
  file.addEventListener("change", importFile);

  find("[data-do=undo]").addEventListener("click", undo);

  // ---- one's own presets ----
  find("[data-do=keep]").addEventListener("click", () => {
    keep.querySelector("[name=title]").value = page.view?.name ?? "";
    keep.querySelector(".said").textContent = "";
    delete keep.dataset.replace;
    keep.showModal();
  });
  keep.querySelector("form").addEventListener("submit", savePreset);
  if (params().get("keep")) {
    setParams({ keep: null });
    find("[data-do=keep]").click();
  }
}
