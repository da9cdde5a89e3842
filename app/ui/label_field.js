// A run's name, tags or note as it is written: its field, how long it is, and what keeps it from being saved. Runs has
// it in its rows, a run's own page in a dialog. What is typed is kept in this tab until it is saved or given up: no
// reload and no way to another page loses it.

import { tryStore } from "./browser_store.js";
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

const TYPED = "groupwise:typed:"; // before the field and its run: {value, was}
function readTyped(key) {
  const kept = tryStore(() => JSON.parse(sessionStorage.getItem(key)));
  return typeof kept?.value === "string" && typeof kept.was === "string" ? kept : null;
}
// The fields in which something was typed that was neither saved nor given up: {what, run}.
export const typedFields = () =>
  (tryStore(() => Object.keys(sessionStorage)) ?? [])
    .filter((key) => key.startsWith(TYPED) && readTyped(key))
    .map((key) => {
      const [what, ...run] = key.slice(TYPED.length).split(":");
      return { what, run: run.join(":") };
    });

export class LabelField {
  // `now`: what it takes the place of, unless it goes on with what was typed; `most`: so many characters it may have.
  constructor(run, what, now, most) {
    const key = `${TYPED}${what}:${run}`;
    // as it was when it was typed: what somebody else wrote since is not written over unseen
    const { value, was } = readTyped(key) ?? { value: now, was: now };
    Object.assign(this, { what, kind: KINDS[what], key, was, taken: null, takeBack: null });
    this.field = el(what === "note" ? "textarea.input.s" : "input.input.s", {
      placeholder: this.kind.hint ?? "",
      autocomplete: "off",
      ...(what === "note" ? { rows: 2 } : { type: "text" }),
    });
    this.field.value = value;
    this.label = el("label.s.mut", this.kind.label, this.field);
    this.problem = el("p.s.problem", { role: "alert", hidden: true });
    this.length = el("p.xs.mut.length", { role: "status", hidden: true });
    const tell = () => showText(this.length, most ? lengthWords(this.field.value.trim(), most) : "");
    tell();
    this.field.addEventListener("input", () => {
      tell();
      this.takeBack?.(); // what was wrong with other words
      this.takeBack = null;
      this.keep();
    });
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || what !== "note") return;
      event.preventDefault();
      this.field.form.requestSubmit();
    });
  }
  get isChanged() {
    return this.field.value !== this.was;
  }
  keep() {
    if (!this.isChanged) return this.forget();
    const { key, was, field } = this;
    return tryStore(() => sessionStorage.setItem(key, JSON.stringify({ value: field.value, was })));
  }
  // It was saved, or given up.
  forget() {
    tryStore(() => sessionStorage.removeItem(this.key));
  }
  // Has it saved by `send(call, payload, say)`, whose reply it gives: null where that was refused, or nobody answered;
  // `said(words, told)` is told why. A name that another run has, and what somebody else wrote there meanwhile, are
  // said before they are given, or written over, by saving again.
  async save(send, said) {
    const sent = this.field.value;
    const take = (words, told) => this.take(sent, words, told, said);
    const reply = await send(this.kind.call, this.payload, take);
    if (reply) this.forget();
    return reply;
  }
  // What is sent to have it saved.
  get payload() {
    const again = !this.problem.hidden && this.taken === this.field.value;
    return { again, ...this.kind.send(this.field.value, this.was) };
  }
  // Why what was `sent` is not saved, as `said` is told.
  take(sent, words, told, said) {
    said(words, told);
    this.taken = told?.taken ? sent : null;
    if (told?.meanwhile !== undefined) this.was = told.meanwhile;
    const isOfWords = told?.sentence && told.meanwhile === undefined && told.deleted === undefined;
    this.takeBack = isOfWords ? () => said("", {}) : null;
  }
}
