// Stars and notes on the cards of completions in one box. `ask` is the server's `note`; `complain(words)` shows what
// went wrong, nothing when all is well; `changed` is called after each change.

import { el, touched } from "../../ui/dom.js";

export class Stars {
  constructor(box, run, ask, complain, changed = () => {}) {
    Object.assign(this, { box, run, ask, complain, changed });
    box.addEventListener("click", ({ target }) => {
      const card = target.closest(".comp[data-group]");
      if (card && target.closest(".star")) this.star(card);
      else if (card && target.closest(".edit")) this.edit(card);
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
    words.hidden = !now.words;
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

  // A field in the note's place: Enter or leaving it saves, Escape does not. What could not be saved stays in it.
  edit(card) {
    const said = card.querySelector(".said");
    if (said.querySelector("textarea")) return;
    const shown = said.querySelector(".words");
    const button = card.querySelector(".edit");
    const before = card.dataset.words ?? shown.textContent;
    const field = el("textarea.input", {
      rows: "2",
      maxlength: "2000",
      dir: "auto",
      placeholder: "Enter saves, Escape does not",
      "aria-label": "Note on this completion",
    });
    field.value = before;
    let over = false;
    const close = (focus) => {
      over = true;
      field.remove();
      button.hidden = false;
      shown.hidden = !shown.textContent;
      if (focus) button.focus({ preventScroll: true });
    };
    const save = async (focus) => {
      if (over) return;
      over = true;
      if (field.value.trim() === before || (await this.send(card, { words: field.value }))) close(focus);
      else over = false;
    };
    field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        event.preventDefault();
        event.stopPropagation();
        close(true);
      } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        save(true);
      }
    });
    field.addEventListener("blur", () => save(false));
    shown.hidden = button.hidden = true;
    said.append(field);
    field.focus();
  }
}
