// The checkpoints: a table that the server draws, and where the trained model is.

import { params } from "../../ui/address.js";
import { copy, setHtml, setText, showText } from "../../ui/dom.js";
import { part } from "../../ui/part.js";
import { poll } from "../../ui/poll.js";

const { root: view, find, server } = part("pages/run/checkpoints");
const run = params().get("id") ?? "";

find("button").addEventListener("click", (event) => copy(find("code").textContent, event.currentTarget));

poll(view, async () => {
  const now = await server.list_checkpoints({ run });
  if (!now) return undefined;
  const words = now.sentence ?? now.wait;
  showText(find(".wait"), words);
  if (now.sentence) return 5000;
  find(".list").hidden = !now.rows;
  setHtml(find("tbody"), now.rows);
  find(".final").hidden = !now.final;
  setText(find("code"), now.final);
  setText(find(".use"), now.use);
  return 3000;
});
