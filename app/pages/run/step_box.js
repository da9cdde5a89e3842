// The box that a step's number is typed into. What is no step is said, and the box goes back to the step that is shown.

import { wholeNumber } from "../../ui/number.js";

const GROUPED = /^\d{1,3}(,\d{3})+$/; // as the page writes them: 1,250

export class StepBox {
  // `goTo(step)` goes there, `stepOn("earlier" or "later", isHeld)` one on; `say(words)` says why it does not.
  constructor(input, { goTo, stepOn, say }) {
    Object.assign(this, { input, goTo, say, near: {}, typing: false });
    input.addEventListener("input", () => {
      this.typing = true;
      say("");
    });
    input.addEventListener("change", () => this.take());
    input.addEventListener("blur", () => this.back());
    input.addEventListener("keydown", (event) => {
      const where = { ArrowUp: "later", ArrowDown: "earlier" }[event.key];
      if (!where) return;
      event.preventDefault();
      this.typing = false;
      stepOn(where, event.repeat);
    });
  }

  take() {
    const words = this.input.value.trim();
    const digits = GROUPED.test(words) ? words.replaceAll(",", "") : words;
    const { first, last } = this.near;
    this.back();
    if (/^\d{1,15}$/.test(digits)) this.goTo(Number(digits));
    else if (words) {
      const range = [first, last].map(wholeNumber).join(" to ");
      this.say(`“${words.slice(0, 40)}” is not a step: type a whole number from ${range}.`);
    }
  }
  // What is selected, to be typed over, stays so, also where another step is drawn at that moment: its number stood
  // before what was typed, and 999 was 11999.
  back() {
    this.typing = false;
    const { input } = this;
    const value = String(this.near.step ?? "");
    if (input.value === value) return;
    const isSelected = document.activeElement === input && input.value && !input.selectionStart;
    const isWhole = isSelected && input.selectionEnd === input.value.length;
    input.value = value;
    if (isWhole) input.select();
  }

  // The step that is drawn now, and the first and the last that there are.
  show(near) {
    this.near = near;
    if (!this.typing) this.back();
  }
}
