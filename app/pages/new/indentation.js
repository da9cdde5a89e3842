// Enter in the YAML begins the next line where the settings of the same part begin.

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
