// The Config: each file once, as text, with a button that copies it; and all settings in effect, asked for once they
// are looked at.

import { params } from "../../ui/address.js";
import { coloured } from "../../ui/code_colours.js";
import { copy, el, setText, showText, table } from "../../ui/dom.js";
import { countWords } from "../../ui/number.js";
import { part } from "../../ui/part.js";
import { poll } from "../../ui/poll.js";

const { root: view, find, server } = part("pages/run/config");
const run = params().get("id") ?? "";
let drawn = "";

// What one can go on to from a file: settings to a preset (the head of the page leads to a new run), a reward function
// to the workbench.
function linksOf({ name, use }) {
  const link = (href, words) => el("a.btn.s", { href }, words);
  if (use) return [link(`/new?from=${encodeURIComponent(run)}&keep=1`, "Save as preset in New run")];
  const [, reward] = name.match(/^rewards\/(\w+)\.py$/) ?? [];
  return reward
    ? [link(`/rewards?name=${reward}&run=${encodeURIComponent(run)}&view=rescore`, "Re-score with changes")]
    : [];
}

// The file itself, byte for byte: what is shown has hidden characters made visible, and may be cut.
const saved = ({ name }) =>
  el(
    "a.btn.s",
    { href: `/file?${new URLSearchParams({ id: run, name })}`, download: "", "aria-label": `Download ${name}` },
    "Download",
  );

function draw(files) {
  const key = files.map((file) => file.name + file.text.length + file.use).join();
  if (key === drawn) return;
  drawn = key;
  find(".files").replaceChildren(
    ...files.map((file) => {
      const button = el("button.btn.s", { onclick: () => copy(file.text, button) }, "Copy");
      return el(
        "section.panel.flush.file",
        el(
          "header.row.between",
          el("span", el("b.mono", file.name), " ", el("span.xs.mut", file.about)),
          el("span.row.tight", ...linksOf(file), button, saved(file)),
        ),
        el("pre.mono", { tabindex: "0" }, ...coloured(file.name, file.text)),
      );
    }),
  );
}

// ---- the settings in effect ----
const effective = find(".effective");
const search = effective.querySelector("[type=search]");
const only = effective.querySelector(".only");
let settings = null;
let defaults = ""; // whose they are, in words
effective.addEventListener("toggle", async () => {
  if (!effective.open || settings) return;
  const now = await server.effective_settings({ run }).catch(() => null);
  settings = now?.settings ?? null;
  defaults = now?.defaults ?? "";
  if (settings) drawSettings();
  else
    setText(effective.querySelector(".told"), now?.sentence ?? "The dashboard did not answer. Fold it and try again.");
});
for (const input of [search, only]) input.addEventListener("input", () => settings && drawSettings());
function drawSettings() {
  const words = search.value.trim().toLowerCase();
  const has = ({ label, name, words: value }) => `${label} ${name} ${value}`.toLowerCase().includes(words);
  const shown = settings.filter((one) => (one.set || !only.checked) && has(one));
  const count = shown.length < settings.length ? `${shown.length} of ` : "";
  setText(effective.querySelector(".told"), `${count}${countWords(settings.length, "setting")}. ${defaults}`);
  const row = ({ label, name, words: value, set }) =>
    el(
      "tr",
      { class: set ? "" : "mut" },
      el("th", { scope: "row" }, label, el("span.mono.xs.mut", name)),
      el("td", { dir: "auto" }, value),
    );
  const head = el("tr", el("th", { scope: "col" }, "setting"), el("th", { scope: "col" }, "value"));
  effective.querySelector("table").replaceWith(table(head, shown.map(row)));
}

poll(view, async () => {
  const now = await server.config_files({ run });
  if (!now) return undefined;
  showText(find(".wait"), now.sentence);
  effective.hidden = !now.files?.length || !!now.sentence; // of damaged settings none are in effect
  showText(find(".versions"), now.versions);
  if (now.files) draw(now.files);
  return now.files?.length > 1 ? 30000 : 2000;
});
