// Single keys for what the buttons do too: only while this part is in view, and never while someone types or chooses.

export class Keys {
  static typing =
    "input:not([type=checkbox], [type=range]), textarea, select, [contenteditable=true], [contenteditable='']";

  // `does`: what each key does.
  constructor(part, dialog, does) {
    Object.assign(this, { part, dialog, does });
    document.addEventListener("keydown", (event) => this.press(event));
  }

  press(event) {
    if (event.defaultPrevented || (event.repeat && "sado?".includes(event.key))) return;
    const another = (event.ctrlKey || event.altKey) && !event.getModifierState("AltGraph");
    if (another || event.metaKey || !this.does[event.key]) return;
    if (!this.part.getClientRects().length || document.querySelector("dialog[open]")) return;
    if (event.target.closest?.(Keys.typing)) return;
    event.preventDefault();
    this.does[event.key](event);
  }
}
