// The Config: each file once, as text, with a button that copies it.

import { params } from "../../ui/address.js";
import { copy, el, showText } from "../../ui/dom.js";
import { part } from "../../ui/part.js";
import { poll } from "../../ui/poll.js";

const { root: view, find, server } = part("pages/run/config");
const run = params().get("id") ?? "";
let drawn = "";

// What one can go on to from a file: the settings to a new run, a reward function to the workbench.
function linksOf({ name, use }) {
  const begin = `/new?from=${encodeURIComponent(run)}`;
  const link = (href, words) => el("a.btn.s", { href }, words);
  if (use) return [link(begin, "Use these settings"), link(`${begin}&keep=1`, "Save as preset")];
  const [, reward] = name.match(/^rewards\/(\w+)\.py$/) ?? [];
  return reward
    ? [link(`/rewards?name=${reward}&run=${encodeURIComponent(run)}&view=rescore`, "Re-score with changes")]
    : [];
}

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
          el("span.row.tight", ...linksOf(file), button),
        ),
        el("pre.mono", { tabindex: "0" }, file.text),
      );
    }),
  );
}

poll(view, async () => {
  const now = await server.config_files({ run });
  if (!now) return undefined;
  showText(find(".wait"), now.sentence);
  if (now.files) draw(now.files);
  return now.files?.length > 1 ? 30000 : 2000;
});
