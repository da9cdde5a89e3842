// The log's tail: whole lines are appended once, the line being written is replaced.

import { params } from "../../ui/address.js";
import { showText } from "../../ui/dom.js";
import { part } from "../../ui/part.js";
import { poll } from "../../ui/poll.js";

const { root: view, find, server } = part("pages/run/log");
const run = params().get("id") ?? "";
const lines = document.createTextNode("");
const writing = document.createTextNode("");
find("pre").append(lines, writing);
let at = 0;
const MOST = 1000000; // characters kept before the tail is asked for anew

poll(view, async () => {
  const now = await server.tail({ run, at });
  if (!now) return undefined;
  const words = now.sentence ?? now.wait ?? "";
  showText(find(".wait"), words);
  find(".box").hidden = !!words;
  if (words) return now.poll ?? 5000;
  if (now.reset) {
    lines.data = "";
    find(".cut").hidden = !now.cut;
  }
  if (now.reset || now.at !== at) lines.appendData(now.text + (now.at > 0 ? "\n" : ""));
  if (writing.data !== now.line) writing.data = now.line;
  at = lines.length > MOST ? 0 : now.at;
  return now.poll;
});
