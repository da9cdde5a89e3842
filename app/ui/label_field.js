// A run's name, tags or note as it is written: its field, how long it is, and what keeps it from being saved. Runs has
// it in its rows, a run's own page in a dialog.

import { el, showText } from "./dom.js";
import { lengthWords } from "./text.js";

const KINDS = {
  name: { label: "Name", call: "rename_run", send: (name, was) => ({ name, was }) },
  note: { label: "Note", call: "annotate_run", send: (note, was) => ({ note, was }) },
  tags: { label: "Tags, with commas between", hint: "tag, another", call: "tag_runs", send: retag },
};
const split = (words) =>
  words
    .split(",")
    .map((tag) => tag.trim())
    .filter(Boolean);
// Only what one added and took off: what somebody else did to the tags meanwhile stays.
function retag(value, was) {
  const [before, next] = [split(was), split(value)];
  const among = (tags) => (tag) => tags.some((one) => one.toLowerCase() === tag.toLowerCase());
  return { add: next.filter((tag) => !among(before)(tag)), remove: before.filter((tag) => !among(next)(tag)) };
}

export class LabelField {
  // `was`: what it takes the place of; `most`: so many characters it may have.
  constructor(what, was, most) {
    Object.assign(this, { kind: KINDS[what], was, taken: null });
    this.field = el(what === "note" ? "textarea.input.s" : "input.input.s", {
      placeholder: this.kind.hint ?? "",
      autocomplete: "off",
      ...(what === "note" ? { rows: 2 } : { type: "text" }),
    });
    this.field.value = was;
    this.label = el("label.s.mut", this.kind.label, this.field);
    this.problem = el("p.s.problem", { role: "alert", hidden: true });
    this.length = el("p.xs.mut.length", { role: "status", hidden: true });
    const tell = () => showText(this.length, most ? lengthWords(this.field.value.trim(), most) : "");
    this.field.addEventListener("input", tell);
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || what !== "note") return;
      event.preventDefault();
      this.field.form.requestSubmit();
    });
  }
  get isChanged() {
    return this.field.value !== this.was;
  }
  // Has it saved by `send(call, payload, say)`, whose reply it gives: null where that was refused, or nobody answered;
  // `said(words, told)` is told why. A name that another run has, and what somebody else wrote there meanwhile, are
  // said before they are given, or written over, by saving again.
  save(send, said) {
    const sent = this.field.value;
    const again = !this.problem.hidden && this.taken === sent;
    return send(this.kind.call, { again, ...this.kind.send(sent, this.was) }, (words, told) => {
      said(words, told);
      this.taken = told?.taken ? sent : null;
      if (told?.meanwhile !== undefined) this.was = told.meanwhile;
    });
  }
}
