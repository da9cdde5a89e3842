// Boxes for text that nothing too large gets into. What is pasted or dropped is looked at before it is in a box:
// millions of characters in one hang the tab.

// `root`: a box, or what holds several. `room(event)`: how many characters may come; `refuse(text, event)` says why
// what is more stays out.
export function limitPaste(root, room, refuse) {
  const look = (event) => {
    const text = (event.clipboardData ?? event.dataTransfer)?.getData("text/plain") ?? "";
    if (!text || text.length <= room(event)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    refuse(text, event);
  };
  const capture = !root.matches("textarea"); // what holds several hears of it before they do
  for (const kind of ["paste", "drop"]) root.addEventListener(kind, look, { capture });
}
// The room that is left in a box that may hold so many characters; what is selected goes as something is pasted.
export const roomIn =
  (box, most) =>
  ({ type }) =>
    most - box.value.length + (type === "paste" ? box.selectionEnd - box.selectionStart : 0);
