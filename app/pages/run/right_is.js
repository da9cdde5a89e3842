// Which completions the Statistics count as right: a reward function and the score from which on. The address has both.

import { params, setParams } from "../../ui/address.js";
import { option, show, showText, setText } from "../../ui/dom.js";
import { typedNumber, withPoint } from "../../ui/number.js";

const inAddress = () => params().get("solved") ?? "";

export class RightIs {
  constructor(node) {
    this.node = node;
    [this.which, this.least] = node.querySelectorAll("select, input");
    [this.meant, this.usual] = node.querySelectorAll(".meant, .usual");
    this.functions = [];
    this.ofRun = null; // {name, threshold}: how the run counts it
    this.refused = null; // what the address had when a number was typed that is none; null where one is
    this.which.addEventListener("change", () => this.ask());
    this.least.addEventListener("change", () => this.ask());
    this.usual.addEventListener("click", () => {
      this.refused = null;
      setParams({ solved: null });
      this.draw();
    });
    this.meant.addEventListener("click", () => {
      this.least.value = withPoint(this.least.value);
      this.least.focus();
      this.ask();
    });
  }

  // What is counted by now; `chosen`: a person said so. A number that is none is the run's, as on the server.
  counted() {
    const [, name, least] = /^(.*):(.*)$/s.exec(inAddress()) ?? [];
    const chosen = this.functions.some(([known]) => known === name);
    return chosen ? { name, threshold: typedNumber(least) ?? this.ofRun.threshold, chosen } : { ...this.ofRun, chosen };
  }

  // The function always counts; a number that is none leaves the last that was one.
  ask() {
    const typed = typedNumber(this.least.value);
    const least = typed ?? this.counted().threshold;
    const same = this.which.value === this.ofRun.name && least === this.ofRun.threshold;
    setParams({ solved: same ? null : `${this.which.value}:${least}` });
    this.refused = typed === null ? inAddress() : null;
    this.draw();
  }

  // `functions`: [[name, words]]; `solved`: how the run counts it.
  update(functions, solved) {
    this.ofRun = solved;
    if (JSON.stringify(this.functions) !== JSON.stringify(functions)) {
      this.functions = functions;
      this.which.replaceChildren(...functions.map(([name, words]) => option(name, words)));
    }
    this.draw();
  }
  draw() {
    const { name, threshold, chosen } = this.counted();
    if (this.refused !== inAddress()) this.refused = null; // something else was chosen since
    if (this.which.value !== name) this.which.value = name;
    if (this.refused === null && document.activeElement !== this.least) this.least.value = threshold;
    this.drawFault(threshold);
    show(this.usual, chosen || this.refused !== null, this.least);
  }
  drawFault(threshold) {
    const wrong = this.refused !== null;
    const words = this.least.value.trim().slice(0, 20);
    const fault = words ? `“${words}” is not a number` : "No number is typed";
    const meant = wrong ? withPoint(words) : null;
    this.least.setAttribute("aria-invalid", String(wrong));
    showText(this.node.querySelector(".problem"), wrong ? `${fault}: ≥ ${threshold} counts.` : "");
    show(this.meant, meant !== null, this.least);
    setText(this.meant, meant === null ? "" : `Use ${meant}`);
  }
}
