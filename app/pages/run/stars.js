// Stars and notes on the cards of completions in one box. `ask` is the server's `note`; `complain(words)` shows what
// went wrong, nothing when all is well; `changed` is called after each change.

import { el, setText, touched } from "../../ui/dom.js";

const PAUSE = 800; // ms after the last key until it is saved

function noteField(words) {
  const field = el("textarea.input", {
    rows: "2",
    maxlength: "2000",
    dir: "auto",
    placeholder: "Saved as you type; Escape undoes",
    "aria-label": "Note on this completion",
  });
  field.value = words;
  return field;
}

// Saves by `send`, which says whether it did, one thing after another: so the last one stays.
class Saver {
  constructor(saved, send) {
    Object.assign(this, { saved, send, last: Promise.resolve(true) }); // null: what the server has is not known
  }

  save(words) {
    this.last = this.last.then(() => words.trim() === this.saved || this.sendNow(words));
    return this.last;
  }

  async sendNow(words) {
    this.saved = null;
    if (await this.send(words)) this.saved = words.trim();
    return this.saved !== null;
  }
}

export class Stars {
  constructor(box, run, ask, complain, changed = () => {}) {
    Object.assign(this, { box, run, ask, complain, changed });
    box.addEventListener("click", ({ target }) => {
      const card = target.closest(".comp[data-group]");
      if (card && target.closest(".star")) this.star(card);
      else if (card && target.closest(".edit")) this.edit(card);
    });
    // A second click where the button was leaves the field that the first one opened.
    box.addEventListener("mousedown", (event) => {
      const { target, detail } = event;
      const card = target.closest(".comp[data-group]");
      if (!card?.querySelector(".said textarea") || target.closest("button, a, textarea")) return;
      if (detail > 1 || target.closest(".size")) event.preventDefault();
    });
  }

  async send(card, change) {
    const { group, idx } = card.dataset;
    let now;
    try {
      now = await this.ask({ run: this.run, group: Number(group), idx: Number(idx), ...change });
    } catch {
      /* said below */
    }
    this.complain(now ? (now.sentence ?? "") : "The dashboard did not answer. Nothing was saved.");
    if (!now || now.sentence) return false;
    // The same completion may be drawn twice.
    for (const one of this.box.querySelectorAll(`.comp[data-group="${Number(group)}"][data-idx="${Number(idx)}"]`))
      Stars.draw(one, now);
    this.changed();
    return true;
  }

  static draw(card, now) {
    const star = card.querySelector(".star");
    const words = card.querySelector(".said .words");
    star.setAttribute("aria-pressed", now.starred);
    star.textContent = now.starred ? "★" : "☆";
    words.innerHTML = now.html;
    words.hidden = !now.words || card.querySelector(".said textarea") !== null;
    card.querySelector(".edit").textContent = now.words ? "Change the note" : "Add a note";
    card.dataset.words = now.words;
    touched(card);
  }

  // Once more before the answer came is the same wish.
  async star(card) {
    if (card.gwStarring) return;
    card.gwStarring = true;
    await this.send(card, { star: card.querySelector(".star").getAttribute("aria-pressed") !== "true" });
    card.gwStarring = false;
  }

  // A field in the note's place. What is typed is saved a moment later, or with Enter, or on leaving it; Escape goes
  // back to what was there before. What could not be saved stays in it.
  edit(card) {
    const said = card.querySelector(".said");
    const open = said.querySelector("textarea");
    if (open) return open.focus();
    const shown = said.querySelector(".words");
    const button = card.querySelector(".edit");
    const before = card.dataset.words ?? shown.textContent;
    const status = el("span.xs.saved", { role: "status" });
    const field = noteField(before);
    const saver = new Saver(before, (words) => this.send(card, { words }));
    let over = false;
    let timer = null;
    const keepTyped = async () => {
      const words = field.value;
      if ((await saver.save(words)) && !over && field.value === words) setText(status, "Saved");
    };
    const finish = async (focus) => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      if (await saver.save(field.value)) {
        field.remove();
        status.remove();
        button.hidden = false;
        shown.hidden = !shown.textContent;
        if (focus) button.focus({ preventScroll: true });
      } else over = false;
    };
    field.addEventListener("input", () => {
      setText(status, "");
      clearTimeout(timer);
      timer = setTimeout(keepTyped, PAUSE);
    });
    field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        event.preventDefault();
        event.stopPropagation();
        field.value = before;
        finish(true);
      } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        finish(true);
      }
    });
    field.addEventListener("blur", () => finish(false));
    shown.hidden = button.hidden = true;
    button.after(status);
    said.append(field);
    field.focus();
  }
}
