// The checkpoints: what was saved, each to be downloaded, loaded or resumed from, what was set aside, which can be
// removed, and the trained model.

import { params } from "../../ui/address.js";
import { copy, el, setText, showText } from "../../ui/dom.js";
import { part } from "../../ui/part.js";
import { poll } from "../../ui/poll.js";
import { BEGINS_ANEW } from "./begins_anew.js";
import { whyNothing } from "./why_nothing.js";

const { root: view, find, server } = part("pages/run/checkpoints");
const run = params().get("id") ?? "";
const dialog = find("dialog");
let drawn = ""; // what the table shows
let drawnFinal = ""; // what is shown of the trained model
let confirmed = () => {}; // what the dialog's button does

const copier = (label, words, what) =>
  el("button.btn.s", { type: "button", title: what, onclick: (event) => copy(words, event.currentTarget) }, label);
const TAR = "One .tar file: unpack it, and load the folder as “Copy code” does";
const taking = ({ download, path, code }) => [
  el("a.btn.s", { href: download, download: "", title: TAR }, "Download"),
  copier("Copy path", path, path),
  copier("Copy code", code, "Python that loads it with transformers or PEFT"),
];
const beginning = ({ start }) => (start ? [el("a.btn.s", { href: start, title: BEGINS_ANEW }, "New run from it")] : []);
const reading = ({ answers, which }) => (answers ? [el("a.btn.s", { href: answers, title: which }, "Answers")] : []);

// ---- the table ----
function row(saved, { columns, resumable, removable }) {
  const acts = saved.path ? [...reading(saved), ...taking(saved), ...beginning(saved)] : [];
  if (resumable && saved.whole)
    acts.push(el("button.btn.s", { type: "button", onclick: () => confirmResume(saved) }, "Resume from here"));
  if (removable && saved.removable)
    acts.push(el("button.btn.s.delete", { type: "button", onclick: () => confirmDeletion(saved) }, "Delete…"));
  return el(
    saved.path ? "tr" : "tr.mut",
    el(
      "td",
      el("b", saved.title),
      saved.best ? el("span.chip.best", saved.best) : "",
      saved.over ? el("div.xs.mut.over", saved.over) : "",
    ),
    el("td", saved.saved),
    el("td.n", saved.size),
    ...columns.map((name) => el("td.n", { "data-name": name }, saved.values[name] ?? "–")),
    el(saved.whole ? "td.state" : "td.state.mut", saved.state, saved.why ? el("div.xs", saved.why) : ""),
    el("td.does", el("div.row.tight.acts", ...acts)),
  );
}
// The table is not drawn under a focus that is on one of its buttons; what is said around it is always as it is now.
function draw(now) {
  setText(find(".how"), now.how);
  showText(find(".removed"), now.removed);
  showText(find(".no-final"), now.no_final);
  find(".final").hidden = !now.final;
  if (now.final) drawFinal(now.final);
  if (!view.contains(document.activeElement?.closest("tbody .btn"))) drawTable(now);
}
function drawTable(now) {
  const key = JSON.stringify(now);
  if (key === drawn) return;
  drawn = key;
  const head = ["checkpoint", "saved", "size", ...now.columns, "state", ""];
  const right = (n) => (n > 1 && n < 3 + now.columns.length ? ".n" : "");
  const cells = head.map((words, n) => el(`th${right(n)}`, { scope: "col" }, words));
  find("thead").replaceChildren(el("tr", ...cells));
  find("tbody").replaceChildren(...now.rows.map((saved) => row(saved, now)));
  find(".aside").hidden = !now.aside.length;
  find(".aside").replaceChildren(...now.aside.map(aside));
}
// What somebody can do with it who does not code stands first, each with its button.
function drawFinal(final) {
  const key = JSON.stringify(final);
  if (key === drawnFinal) return;
  drawnFinal = key;
  showText(find(".learned"), final.learned);
  setText(find(".answered"), final.answered);
  setText(find(".on p"), final.further);
  setText(find(".use"), final.use);
  setText(find(".folder"), final.path);
  setText(find(".snippet"), final.code);
  const [see, further, use] = find(".ways").querySelectorAll(".row");
  see.replaceChildren(el("a.btn.s", { href: final.answers }, "Read its answers"));
  further.replaceChildren(...beginning(final));
  use.replaceChildren(...taking(final));
}

// ---- what asks first ----
function confirm(title, words, yes, does) {
  setText(dialog.querySelector("h2"), title);
  setText(dialog.querySelector("p"), words);
  setText(dialog.querySelector("[value=yes]"), yes);
  confirmed = does;
  dialog.returnValue = "";
  dialog.showModal();
}
dialog.addEventListener("close", () => {
  if (dialog.returnValue === "yes") confirmed();
});
// To the table, from a button of it that is about to go: the dialog gave it the focus back as it closed.
const leaveButton = () => find(".list").focus({ preventScroll: true });
function confirmResume({ title, step }) {
  const words =
    "Training goes on from this checkpoint, with the settings and the reward functions the run was launched with. " +
    "Later checkpoints are set aside, and their steps are trained again.";
  confirm(`Resume from ${title}?`, words, "Resume", () => {
    dispatchEvent(new CustomEvent("groupwise:ask", { detail: { do: "resume", step } }));
    leaveButton();
    wake();
  });
}
function confirmDeletion({ title, step, size }) {
  const words = `${size} are freed. The model as it was after this step is gone for good, and cannot be resumed from.`;
  confirm(`Delete the checkpoint of ${title}?`, words, "Delete", async () => {
    const reply = await server.remove_checkpoint({ run, step });
    showText(find(".problem"), reply ? reply.sentence : "The dashboard did not answer. Nothing was deleted.");
    leaveButton();
    wake();
  });
}
function confirmRemoval({ attempt, words, size }) {
  const lost = `${words}: removed now and for good. The run itself does not need them, and goes on without.`;
  confirm("Remove what was set aside?", lost, `Remove ${size}`, async () => {
    const reply = await server.remove_set_aside({ run, attempt });
    showText(find(".problem"), reply ? reply.sentence : "The dashboard did not answer. Nothing was removed.");
    wake();
  });
}
const aside = (together) =>
  el(
    "li.row.s",
    el("span.mut", together.words),
    el("button.btn.s.remove", { type: "button", onclick: () => confirmRemoval(together) }, "Remove…"),
  );

const wake = poll(view, async () => {
  const now = await server.list_checkpoints({ run });
  if (!now) return undefined;
  showText(find(".wait"), whyNothing(now) ?? now.wait);
  if (now.sentence) return 5000;
  find(".list").hidden = !now.rows.length;
  find(".lead").hidden = !now.rows.length;
  draw(now);
  return 3000;
});
