// Small helpers for the DOM. Text is always placed as text.

import { visibleSigns } from "./visible_text.js";

// The name of a file or a column may hold marks that turn the direction of text, and with it our own words around them,
// and signs that draw nothing: wherever text is placed, they are shown instead.
export const steady = (words) => (typeof words === "string" ? visibleSigns(words) : words);
const SAID = new Set(["title", "aria-label", "placeholder"]); // attributes that a person reads

// An element of this kind, which is its tag and classes: “p.s.mut”. `parts`: its attributes, if any, and what it holds.
export function el(kind, ...parts) {
  const [tag, ...classes] = kind.split(".");
  const node = document.createElement(tag);
  if (classes.length) node.className = classes.join(" ");
  const attributes = parts[0]?.constructor === Object ? parts.shift() : {};
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") node.addEventListener("click", value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      node.setAttribute(name, SAID.has(name) ? steady(value) : value);
  }
  node.append(...parts.filter((part) => part !== null && part !== undefined).map(steady));
  return node;
}
// A name that may go on in another line after each “_”, “.” and “/” in it, and so not within a word.
export const breakable = (name) =>
  name.split(/(?<=[_./])(?![_./])/).flatMap((word, n) => (n ? [el("wbr"), word] : [word]));
// Sets text only when it changed, so that selections and screen readers are left in peace.
export function setText(node, words) {
  const safe = steady(words);
  if (node.textContent !== safe) node.textContent = safe;
}
// Says something in a node, which is hidden where there is nothing to say.
export function showText(node, words) {
  setText(node, words ?? "");
  node.hidden = !words;
}
export function setHtml(node, escaped) {
  if (node.gwHtml !== escaped) {
    node.gwHtml = escaped;
    node.innerHTML = escaped;
  }
}
// Shows it or not; what goes with the keyboard's focus in it hands that on.
export function show(node, so, next) {
  if (!so && node.contains(document.activeElement)) next.focus({ preventScroll: true });
  node.hidden = !so;
}
// Something in it was changed by other means: the next setHtml sets it, also to what it was.
export function touched(node) {
  for (let each = node; each; each = each.parentElement) delete each.gwHtml;
}

export const option = (value, words = value) => el("option", { value }, words);
export const remover = (label, onclick) =>
  el("button.btn.quiet.s.remove", { type: "button", "aria-label": label, title: label, onclick }, "×");
export const table = (head, rows) => el("table", el("thead", head), el("tbody", ...rows));
// Presses those of the buttons for which `is` says so, and no other.
export function press(buttons, is) {
  for (const button of buttons) button.setAttribute("aria-pressed", `${is(button)}`);
}

export async function copy(words, button) {
  try {
    await navigator.clipboard.writeText(words);
  } catch {
    const area = el("textarea", { style: "position:fixed;opacity:0" });
    area.value = words;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const before = button.textContent;
  if (before === "Copied") return; // said already
  button.style.minWidth = `${button.offsetWidth}px`; // what stands beside it stays where it is
  button.textContent = "Copied";
  setTimeout(() => {
    button.textContent = before;
  }, 1200);
}
export function download(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
// The text of a file that was chosen; null where it is not in UTF-8.
export async function textOf(file) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    return null;
  }
}
