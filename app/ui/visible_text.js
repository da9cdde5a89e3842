// Characters that nobody sees, by their names, where a text is looked at as what it is: a cell of a file, a prompt.
// The same that worker/data/unseen.py names.

const CONTROLS =
  "NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US";
const NAMES = new Map([
  ...CONTROLS.split(" ").map((name, code) => [code, name]),
  [0x7f, "DEL"],
  [0xad, "soft hyphen"],
  [0x200b, "zero-width space"],
  [0x2060, "word joiner"],
  [0xfeff, "BOM"],
]);
// As storage/spec/words/unseen_signs.py: signs that turn the direction of text, or draw nothing.
const SIGNS = /[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\u3164\ufeff\uffa0]/g;
const UNSEEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]/g;
const named = (letter) => {
  const code = letter.charCodeAt(0);
  return `⟨${NAMES.get(code) ?? `U+${code.toString(16).toUpperCase().padStart(4, "0")}`}⟩`;
};

export const visibleText = (text) => String(text ?? "").replace(UNSEEN, named);
// For words that a page places: with control characters as they are.
export const visibleSigns = (words) => words.replace(SIGNS, named);
