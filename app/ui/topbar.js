// The bar on top: asks now and then what the hardware is and whether the worker is there.

import { el, setText } from "./dom.js";
import { part } from "./part.js";
import { LONGEST_ANSWER, poll, within } from "./poll.js";
import { guarded } from "./settings.js";

const { root: bar, find, server } = part("ui/topbar");
const pill = find(".worker");

// For the keyboard: past the bar, to what stands below it. Its place in the page has no address of its own.
find(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  const content = [...document.querySelectorAll(".gw")].find(
    (part) => part !== bar && part.offsetParent && !bar.contains(part),
  );
  if (!content) return;
  content.tabIndex = -1;
  content.focus();
  content.scrollIntoView({ block: "start" });
});

find(".logout").hidden = !guarded; // only who had to log in can log out

// Nobody knows whether the worker is there while the dashboard itself does not answer.
let ready = false;
let loading = false; // it runs what trains, and cannot answer yet
let reached = true;
function drawPill() {
  const begins = (doing) => [doing, el("span.long", " the worker"), "…"]; // a phone has no room for all of it
  const there = loading ? begins("Loading") : ["Worker ready"];
  const words = !reached ? ["Not connected"] : ready ? there : begins("Starting");
  const said = words.map((one) => one.textContent ?? one).join("");
  if (pill.lastElementChild.textContent !== said) pill.lastElementChild.replaceChildren(...words);
  pill.className = `worker pill s ${!reached ? "idle away" : ready && !loading ? "ok" : "idle"}`;
}
addEventListener("groupwise:reach", ({ detail }) => {
  reached = detail;
  drawPill();
  if (reached) wake();
});

const wake = poll(bar, async () => {
  const now = await within(LONGEST_ANSWER, server.worker_status({})); // a server that hangs is not there either
  if (!now || now.sentence) return now ? 5000 : undefined;
  setText(find(".hardware"), now.hardware ?? "");
  ready = now.ready;
  loading = now.loading;
  drawPill();
  pill.hidden = false;
  find(".trusted").hidden = !now.trusted;
  return now.ready && !now.loading && now.hardware ? 5000 : 1000;
});
