// The bar on top: asks now and then what the hardware is and whether the worker is there.

import { setText } from "./dom.js";
import { part } from "./part.js";
import { poll } from "./poll.js";
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

poll(bar, async () => {
  const now = await server.worker_status({});
  if (!now || now.sentence) return now ? 5000 : undefined;
  setText(find(".hardware"), now.hardware ?? "");
  setText(pill.lastElementChild, now.ready ? "Worker ready" : "Starting the worker…");
  pill.className = `worker pill s ${now.ready ? "ok" : "idle"}`;
  pill.hidden = false;
  find(".trusted").hidden = !now.trusted;
  return now.ready && now.hardware ? 5000 : 1000;
});
