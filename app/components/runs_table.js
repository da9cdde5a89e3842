// The table of runs: asks every second, redraws what changed, searches on the server, starts the quickstart.
const { poll, say, setHtml } = window.groupwise;
const page = element.querySelector(".gw-runs_table");
const find = (selector) => page.querySelector(selector);
const search = find(".search"), problem = find(".problem"), none = find(".none");
let mark = null, waiting = null;

function draw(now) {
  mark = now.mark;
  setHtml(find("tbody"), now.rows);
  say(find(".counts"), now.counts);
  say(find(".empty .hardware"), now.hardware);
  say(none, now.nothing);
  none.hidden = !now.nothing;
  find(".empty").hidden = !now.empty;
  for (const part of [".between", ".panel.flush", ".foot"]) find(part).hidden = now.empty;
  page.dataset.drawn = "yes";
}

const wake = poll(page, async () => {
  const now = await server.table({ search: search.value, mark });
  if (!now) return undefined;
  problem.hidden = !now.sentence;
  say(problem, now.sentence ?? "");
  if (!now.sentence && !now.same) draw(now);
  return 1000;
});

search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(wake, 120); });

for (const button of page.querySelectorAll(".quickstart")) {
  button.addEventListener("click", async () => {
    button.disabled = true;
    const reply = await server.quickstart({});
    if (reply?.go) { location.href = reply.go; return; }
    button.disabled = false;
    problem.hidden = false;
    say(problem, reply?.sentence ?? "The dashboard did not answer. Is it still running?");
  });
}
document.title = "Runs · Groupwise";
