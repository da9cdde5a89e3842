// How long ago something was saved or typed: each is brought up to date while the page is open.

import { el, setText } from "../../ui/dom.js";
import { page, root } from "./core.js";

const LOOK = 10_000; // ms between looks

export function age(then) {
  const past = (Date.now() - then) / 1000;
  return past < 60
    ? "just now"
    : past < 3600
      ? `${Math.floor(past / 60)} min ago`
      : past < 86_400
        ? `${Math.floor(past / 3600)} h ago`
        : `${Math.floor(past / 86_400)} d ago`;
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
