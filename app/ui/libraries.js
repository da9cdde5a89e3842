// Scripts of others that some parts need: each loaded once, its files one after the other.

import { el } from "./dom.js";
import { offline } from "./poll.js";
import { libraries } from "./settings.js";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 5000; // ms

const loaded = new Map();
export function load(name) {
  if (!loaded.has(name)) loaded.set(name, bringAll(name));
  return loaded.get(name);
}
async function bringAll(name) {
  const { classList } = document.documentElement;
  classList.add(`without-${name}`);
  for (const address of libraries[name]) await bring(address);
  classList.remove(`without-${name}`);
}
// Until it is there: the server may be starting anew, and the page is of use without it.
function bring(address) {
  return new Promise((there) => {
    let pause = FIRST_WAIT;
    (function once() {
      const script = el("script", { src: address });
      script.onload = () => {
        offline(address, false);
        there();
      };
      script.onerror = () => {
        script.remove();
        offline(address, true);
        setTimeout(once, pause);
        pause = Math.min(pause * 1.6, LONGEST_WAIT);
      };
      document.head.append(script);
    })();
  });
}
