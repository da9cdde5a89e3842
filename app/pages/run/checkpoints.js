// The checkpoints: a table that the server draws, and where the trained model is.
const { poll, say, setHtml, params, copy } = window.groupwise;
const view = element.querySelector(".gw-checkpoints");
const find = (selector) => view.querySelector(selector);
const run = params().get("id") ?? "";

find("button").addEventListener("click", (event) => copy(find("code").textContent, event.currentTarget));

poll(view, async () => {
  const now = await server.saved({ run });
  if (!now) return undefined;
  const words = now.sentence ?? now.wait;
  say(find(".wait"), words);
  find(".wait").hidden = !words;
  if (now.sentence) return 5000;
  find(".list").hidden = !now.rows;
  setHtml(find("tbody"), now.rows);
  find(".final").hidden = !now.final;
  say(find("code"), now.final);
  say(find(".use"), now.use);
  return 3000;
});
