// How long ago something was saved or typed: each is brought up to date while the page is open.

import { el, setText } from "../../ui/dom.js";
import { page, root } from "./core.js";

const LOOK = 10_000; // ms between looks
const [MINUTE, HOUR, DAY] = [60, 3600, 86_400];

// In the words of age in app/core/format.py; but no seconds, which would not stand still, and what has passed in full.
function age(then) {
  const past = (Date.now() - then) / 1000;
  if (past < MINUTE) return "just now";
  if (past < HOUR) return `${Math.floor(past / MINUTE)} min ago`;
  if (past < DAY) return `${Math.floor(past / HOUR)} h ago`;
  if (past < 2 * DAY) return "yesterday";
  if (past < 30 * DAY) return `${Math.floor(past / DAY)} days ago`;
  return new Date(then).toLocaleDateString("sv"); // 2026-01-31
}
export const ageNode = (then) => el("span.age", { "data-then": String(then) }, age(then));
// A moment by the server's clock, in seconds, by this browser's, in ms: they may differ.
export const ofServer = (seconds) => 1000 * seconds + page.about.library.ahead;
// The library as the server has it now.
export function takeLibrary(library) {
  page.about.library = { ...library, ahead: Date.now() - 1000 * library.now };
}
export function keepAges() {
  const look = () => {
    for (const node of root.querySelectorAll(".age")) setText(node, age(Number(node.dataset.then)));
  };
  setInterval(look, LOOK);
  document.addEventListener("visibilitychange", look); // a tab that nobody looks at is seldom woken
}
