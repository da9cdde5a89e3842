// A run's tags and note in the head of its page, and the dialog in which they and its name are written, as in Runs.

import { el, setText, showText } from "../../ui/dom.js";
import { LabelField, typedFields } from "../../ui/label_field.js";
import { listed } from "../../ui/text.js";

const NAMES = ["name", "tags", "note"];
const SILENT = "The dashboard did not answer. Nothing was changed.";

export class Labels {
  // `find` and `server` are the head's; `saved()` is called when something else is to be shown.
  constructor(find, server, run, saved) {
    Object.assign(this, { find, server, run, saved, known: null, drawn: "", fields: [] });
    this.dialog = find("dialog.labels");
    // of a long note two lines are shown until it is clicked
    find(".about").addEventListener("click", () => find(".about").classList.toggle("whole"));
    find(".pencil").addEventListener("click", () => this.open());
    this.dialog.querySelector(".cancel").addEventListener("click", () => this.dialog.close());
    this.find(".typed button").addEventListener("click", () => this.open());
    this.dialog.addEventListener("close", () => {
      this.fields.forEach((one) => one.forget()); // Cancel, Escape, or saved
      this.tellTyped();
    });
    this.dialog.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.save();
    });
  }

  // `known`: {name, tags, note}; null of a run whose folder is gone.
  draw(known) {
    const key = JSON.stringify(known);
    if (key === this.drawn) return;
    Object.assign(this, { known, drawn: key });
    this.find(".pencil").hidden = !known;
    const tags = (known?.tags ?? "").split(", ").filter(Boolean);
    const chip = (tag) => el("a.chip.tag", { href: `/?${new URLSearchParams({ q: tag })}` }, el("bdi", tag));
    this.find(".tags").replaceChildren(...tags.map(chip));
    showText(this.find(".about"), known?.note ?? "");
    this.find(".about").title = known?.note ?? "";
    this.find(".said").hidden = !tags.length && !known?.note;
    this.tellTyped();
  }
  // What was typed before the page was left or loaded anew, here or in Runs, waits until it is asked for.
  tellTyped() {
    const typed = typedFields().filter(({ run }) => run === this.run);
    const names = NAMES.filter((name) => typed.some(({ what }) => what === name));
    this.find(".typed").hidden = !this.known || !names.length;
    setText(this.find(".typed span"), `Not saved yet: the ${listed(names)} you typed.`);
  }

  open() {
    const most = (name) => Number(this.dialog.dataset[name]);
    this.fields = NAMES.map((name) => new LabelField(this.run, name, this.known[name], most(name)));
    const boxes = this.fields.map(({ label, length, problem }) => el("div", label, length, problem));
    this.dialog.querySelector(".fields").replaceChildren(...boxes);
    this.dialog.showModal();
    this.fields[0].field.select();
  }

  // All that was changed, or nothing where any of it is refused: then each field says why.
  async save() {
    const button = this.dialog.querySelector("[type=submit]");
    if (button.disabled) return;
    button.disabled = true;
    const changed = this.fields.filter((one) => one.isChanged);
    const refused = changed.length ? await this.ask(changed) : {};
    button.disabled = false;
    this.saved();
    const first = changed.find(({ what }) => refused[what]);
    if (first) first.field.focus();
    else this.dialog.close();
  }
  why(words, told) {
    return told?.meanwhile === undefined ? words : `${words} Save again to put yours in its place.`;
  }
  // Has these fields saved; why not, by what they are of. What is wrong with none of them alone stands at the first.
  async ask(changed) {
    const sent = changed.map(({ what, field, payload }) => [what, field.value, payload]);
    const parts = Object.fromEntries(sent.map(([what, , payload]) => [what, payload]));
    const about = { ids: [this.run], called: this.known.name };
    const reply = await this.server.label_run({ ...about, ...parts }).catch(() => null);
    const unsaved = reply?.sentence ? reply : reply ? null : { sentence: SILENT };
    const refused = reply?.refused ?? (unsaved ? { [changed[0].what]: unsaved } : {});
    changed.forEach((one, n) => {
      const told = refused[one.what];
      const said = (words, of) => showText(one.problem, this.why(words, of));
      one.take(sent[n][1], told?.sentence ?? "", told?.sentence === SILENT ? null : told, said);
    });
    return refused;
  }
}
