// Asking the server again and again, for as long as a part of the page is there and can be seen.

import { el } from "./dom.js";
import { guarded } from "./settings.js";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 5000;
const PATIENCE = 6000; // ms for a first answer, until it is said that there is none
// Times as long as a look took is waited before the next, and no longer than ms.
const REST = 10;
const LONGEST_REST = 3000;
// Where the server tells of news, looks come once a step: as long as one took is waited, between these ms.
const LEAST_SHORT_REST = 150;
const MOST_SHORT_REST = 400;

export const LONGEST_ANSWER = 15_000; // ms, from which on whoever asks takes it that none comes

// What comes of a promise; undefined where that takes longer than so many ms.
export const within = (ms, promise) => Promise.race([promise, new Promise((done) => setTimeout(done, ms))]);

const away = new Set();
// Says that someone waits for the server, or (`is` false) no longer does.
export function offline(who, is) {
  if (is) away.add(who);
  else away.delete(who);
  let note = document.getElementById("gw-offline");
  if (!note) {
    note = el("div", { id: "gw-offline", role: "status", hidden: true });
    document.body.append(note);
  }
  note.textContent = away.size ? "Reconnecting…" : "";
  if (note.hidden !== !away.size) dispatchEvent(new CustomEvent("groupwise:reach", { detail: !away.size }));
  note.hidden = !away.size;
}

// Whoever logs out here is on the way to the login already.
let loggingOut = false;
document.addEventListener("submit", ({ target }) => {
  loggingOut = target.matches(".logout");
});
addEventListener("pageshow", () => {
  loggingOut = false;
});

// The session was ended, here in another tab or by its time: what comes next is a login, and then this page again.
async function leaveIfLoggedOut() {
  if (!guarded) return;
  const reply = await fetch("/theme.css", { method: "HEAD" }).catch(() => null);
  if (reply?.status === 401 && !loggingOut)
    location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`);
}

const shown = (element) => !document.hidden && element.isConnected && element.getClientRects().length > 0;

// What was never answered has nothing to show, and says why (frame.css): where an answer fails, or takes long.
function firstAnswer(element) {
  let answered = false;
  let patience = null;
  const say = () => element.toggleAttribute("data-unanswered", !answered);
  return {
    asked: () => {
      if (!answered) patience = setTimeout(say, PATIENCE);
    },
    came: (so) => {
      clearTimeout(patience);
      answered ||= so;
      say();
    },
  };
}

// Calls `once` until the element is gone. It returns how many ms to wait for the next time (null: do not ask again
// until woken), or undefined when the server did not answer, which is tried again with growing pauses.
// Nothing is asked while the tab or the element is hidden; and where looks take long, as the machine or the server has
// much to do, they are the rarer.
// `news` may wait for something to look at: it resolves to true when that is there, to false where it cannot be told.
export function poll(element, once, news) {
  let timer = null;
  let busy = false;
  let woken = false;
  let pause = FIRST_WAIT;
  const first = firstAnswer(element);
  const later = (ms, then = tick) => {
    clearTimeout(timer);
    timer = setTimeout(then, ms);
  };
  function rest(took, least) {
    const long = Math.max(least, Math.min(REST * took, LONGEST_REST));
    if (!news) return later(long);
    const short = Math.max(LEAST_SHORT_REST, Math.min(took, MOST_SHORT_REST));
    return later(short, async () => {
      const mine = timer;
      const told = await news();
      if (timer === mine) later(told ? 0 : Math.max(0, long - short)); // else it was woken meanwhile
    });
  }
  async function tick() {
    if (busy) {
      woken = true;
      return;
    }
    if (!shown(element)) {
      if (away.has(element)) offline(element, false); // it asks nothing now, and so waits for nothing
      return later(400);
    }
    busy = true;
    let next;
    const begun = performance.now();
    first.asked();
    try {
      next = await once();
    } catch (problem) {
      console.warn(problem);
    }
    const took = performance.now() - begun;
    const failed = next === undefined;
    first.came(!failed);
    busy = false;
    offline(element, failed);
    if (failed) await leaveIfLoggedOut();
    pause = failed ? Math.min(pause * 1.6, LONGEST_WAIT) : FIRST_WAIT;
    if (woken) {
      woken = false;
      return later(0);
    }
    if (failed) later(pause);
    else if (next !== null) rest(took, next);
  }
  const wake = () => later(0);
  document.addEventListener("visibilitychange", wake);
  addEventListener("groupwise:wake", wake);
  later(0);
  return wake;
}
export const wakeAll = () => dispatchEvent(new Event("groupwise:wake"));
