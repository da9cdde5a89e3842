// Keeps a click that comes before a part's module has wired its buttons, which stand in the part's template: the last
// one on each part is done once the part is ready. Nothing is lost, and a button that waits looks as if it did. No
// module, but written into each page's head, like mount.js, which tells of a part that is ready.

{
  const PART = ".gw[data-part]"; // see app/ui/live.py
  const CLICKED = "button, label.choice, input:is([type=radio], [type=checkbox])";
  const ready = new WeakSet();
  const kept = new WeakMap(); // of a part, what was clicked last

  const forget = (root) => {
    const node = kept.get(root);
    node?.removeAttribute("aria-busy");
    kept.delete(root);
    return node;
  };
  const keep = (event) => {
    const root = event.target.closest?.(PART);
    if (!event.isTrusted || !root || ready.has(root)) return;
    forget(root); // whoever clicks elsewhere meanwhile means that
    const node = event.target.closest(CLICKED);
    if (!node) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    node.setAttribute("aria-busy", "true");
    kept.set(root, node);
  };
  const redo = ({ target: root }) => {
    ready.add(root);
    const node = forget(root);
    if (node?.checkVisibility()) node.click();
  };
  document.addEventListener("click", keep, { capture: true });
  document.addEventListener("groupwise:ready", redo);
}
