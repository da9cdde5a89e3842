// Enter in the YAML begins the next line where the settings of the same part begin; Tab in the white space before a
// line moves the line. Elsewhere Tab leaves, as it does from every field: also behind Escape, and from a field that was
// only come through.

const OPENS = /(:|[|>][+-]?)\s*(#.*)?$/; // a line whose value stands in the lines below it

// The spaces that a line gets which is begun behind these words of another: those of its settings (behind a dash, where
// it has one), and two more where its value is still to come.
function indentationAfter(words) {
  const [begins] = words.match(/^ *(- +)*/);
  if (!words.trim() || begins.length === words.length) return begins.replace(/-/g, " ");
  return " ".repeat(begins.length + (OPENS.test(words) ? 2 : 0));
}

export function keepIndentation(area) {
  area.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || event.shiftKey || event.ctrlKey || event.altKey || event.metaKey)
      return;
    const before = area.value.slice(0, area.selectionStart);
    const added = indentationAfter(before.slice(before.lastIndexOf("\n") + 1));
    if (!added) return;
    event.preventDefault();
    // as if it was typed: undone at once, and followed by the view (setRangeText would empty the list of what to undo)
    document.execCommand("insertText", false, `\n${added}`);
  });
}

// The lines that are chosen begin two columns further to the right, or to the left; whether they could.
function moveLines(area, isLeft) {
  const { value, selectionStart: from, selectionEnd: to } = area;
  const first = value.lastIndexOf("\n", from - 1) + 1;
  if (value.slice(first, from).trim() || (from === to && isLeft && value[first] !== " ")) return false;
  const behind = value.indexOf("\n", to > from && value[to - 1] === "\n" ? to - 1 : to);
  const last = behind < 0 ? value.length : behind;
  const lines = value.slice(first, last).split("\n");
  const moved = lines.map((line) => (isLeft ? line.replace(/^ {1,2}/, "") : `  ${line}`));
  const words = moved.join("\n");
  area.setSelectionRange(first, last);
  document.execCommand(words ? "insertText" : "delete", false, words);
  const at = Math.max(first, from + moved[0].length - lines[0].length);
  area.setSelectionRange(at, from === to ? at : first + words.length);
  return true;
}

export function indentWithTab(area) {
  let isEditing = false;
  const isBegun = () => {
    isEditing = true;
  };
  area.addEventListener("pointerdown", isBegun);
  area.addEventListener("input", isBegun);
  area.addEventListener("blur", () => {
    isEditing &&= document.activeElement === area; // another window came before this one
  });
  area.addEventListener("keydown", (event) => {
    if (event.key === "Escape") isEditing = false;
    else if (!["Tab", "Shift"].includes(event.key)) isEditing = true;
    else if (event.key === "Tab" && isEditing && !event.ctrlKey && !event.altKey && !event.metaKey)
      if (moveLines(area, event.shiftKey)) event.preventDefault();
  });
}
