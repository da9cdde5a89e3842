// The prompts of the Statistics as a table: how often each was solved over time, and a way to its groups.

import { openGroup } from "../../ui/address.js";
import { el, table } from "../../ui/dom.js";
import { percent, stepRange } from "../../ui/number.js";

// `data`: {rows, steps, mode, over} of the panel, `over` of a run that is; `run`: the id of the run.
export function drawPromptTable(box, data, run) {
  if (!data.rows.length) {
    box.replaceChildren(el("p.s.mut.none", "No such prompt."));
    return;
  }
  const share = (value) => el("td.n", percent(value));
  const once = data.rows.every((row) => row.groups === 1); // then there are no halves to tell apart
  const [first, last] = [data.steps[0], data.steps.at(-1)];
  const head = el(
    "tr",
    el("th", "prompt"),
    el("th.over", [...new Set([first, last].map(stepRange))].join(" … ")),
    ...(once
      ? [el("th.n", { title: "the share of its one group that is right" }, "solved")]
      : [
          el("th.n", "groups"),
          el("th.n", { title: "the earlier half of its groups" }, "earlier half"),
          el("th.n", { title: "the newer half of its groups" }, "newer half"),
        ]),
  );
  const earlier = (row) =>
    row.groups > 1 ? share(row.early) : el("td.n.mut", data.over ? "seen once" : "seen once so far");
  const rows = data.rows.map((row) => {
    const link = el(
      "a",
      { href: `?${new URLSearchParams({ id: run, tab: "groups", prompt: row.prompt })}`, dir: "auto" },
      row.text || "(empty)",
    );
    const tr = el(
      "tr",
      el("td.what", link, row.apart ? el("span.mut", { dir: "auto" }, ` · ${row.apart}`) : ""),
      el("td", strip(row, data.steps)),
      ...(once ? [] : [el("td.n", row.groups.toLocaleString("en")), earlier(row)]),
      share(row.late),
    );
    tr.addEventListener("click", (event) => openPrompt(event, row.prompt, data.mode));
    return tr;
  });
  const focused = box.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  box.replaceChildren(el("div.scroll", table(head, rows)));
  if (focused)
    [...box.querySelectorAll("a")]
      .find((link) => link.getAttribute("href") === focused)
      ?.focus({ preventScroll: true });
}
function strip(row, steps) {
  const told = row.cells.map((value, i) => (value === null ? null : `${stepRange(steps[i])}: ${percent(value)}`));
  return el(
    "span.strip",
    { role: "img", "aria-label": told.filter(Boolean).join(", ") },
    ...row.cells.map((value, i) =>
      el("i", value === null ? { class: "gap" } : { title: told[i], style: `--solved:${Math.round(6 + value * 94)}%` }),
    ),
  );
}
function openPrompt(event, prompt, mode) {
  if (event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  openGroup({ prompt, pick: null, mode: mode === "eval" ? "eval" : null });
}
