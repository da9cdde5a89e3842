// Runs the modules of the page's live parts, and helps where one could not be fetched, as the server was starting anew
// or the connection was cut. No module itself, but written into each page's head (see app/server/page_head.py): nothing
// has to be fetched for it to be there.
//
// A browser does not ask again for a module that it could not fetch, and another copy under another address would know
// nothing of the first: the page is loaded anew, once the server answers.

{
  const FIRST_WAIT = 500;
  const LONGEST_WAIT = 5000; // ms
  const MOST_RELOADS = 3; // within
  const RECENTLY = 60_000; // ms
  const KEY = "groupwise:reloads";
  const CAME = "groupwise:came";

  const { mount: address } = JSON.parse(document.getElementById("groupwise-settings").textContent);
  const begin = async (part) => {
    await (await import(address)).mount(part.name, part);
    if (rootOf(part).dataset.part !== "late") tellReady(part); // one that has to ask first says so itself (ui/part.js)
  };
  const rootOf = ({ element }) => element.querySelector("[data-part]");
  const tellReady = (part) => rootOf(part).dispatchEvent(new Event("groupwise:ready", { bubbles: true }));

  // What is wrong in a module is the same error each time; that it could not be fetched is a new one.
  const mount = async ({ detail }) => {
    try {
      await begin(detail);
    } catch (first) {
      const again = await begin(detail).then(
        () => null,
        (problem) => problem,
      );
      if (again === first) {
        tellReady(detail); // what of it works is to be used
        throw first;
      }
      if (again) reloadWhenAnswered();
    }
  };

  // How a person came here: “navigate”, “reload” or “back_forward”; where the page loaded itself anew, as before that;
  // where a browser keeps it to itself, as most do.
  const howOneCame = () => {
    const { type } = performance.getEntriesByType("navigation")[0] ?? { type: "navigate" };
    try {
      const before = type === "reload" && sessionStorage.getItem(CAME);
      sessionStorage.removeItem(CAME);
      document.documentElement.toggleAttribute("data-stayed", Boolean(before)); // nobody had left the page
      return before || type;
    } catch {
      return type;
    }
  };
  const came = howOneCame();
  document.documentElement.dataset.came = came;

  let waits = false;
  const reloadWhenAnswered = async () => {
    if (waits) return;
    waits = true;
    const reloads = recentReloads();
    if (!reloads || reloads.length >= MOST_RELOADS) {
      say("Part of this page could not be loaded. ", link());
      return;
    }
    say("Reconnecting…");
    for (let pause = FIRST_WAIT; ; pause = Math.min(pause * 1.6, LONGEST_WAIT)) {
      await new Promise((done) => setTimeout(done, pause));
      if (await answers()) break;
    }
    sessionStorage.setItem(KEY, JSON.stringify([...reloads, Date.now()]));
    reloadItself();
  };
  // Loads the page anew of its own accord: it still counts as how a person came.
  const reloadItself = () => {
    try {
      sessionStorage.setItem(CAME, came);
    } catch {
      // a browser that keeps nothing takes it for a person's reload
    }
    location.reload();
  };
  // When the page was loaded anew; null where a browser that keeps nothing could do so for ever.
  const recentReloads = () => {
    try {
      return JSON.parse(sessionStorage.getItem(KEY) ?? "[]").filter((when) => Date.now() - when < RECENTLY);
    } catch {
      return null;
    }
  };
  const answers = () =>
    fetch("/healthz", { cache: "no-store" }).then(
      ({ ok }) => ok,
      () => false,
    );

  const say = (...words) => {
    const note = document.createElement("div");
    note.id = "gw-lost";
    note.role = "status";
    note.append(...words);
    document.body.append(note);
  };
  const link = () => {
    const made = document.createElement("a");
    made.href = location.href;
    made.textContent = "Reload the page";
    made.addEventListener("click", (event) => {
      event.preventDefault();
      location.reload();
    });
    return made;
  };

  addEventListener("groupwise:part", mount);
  addEventListener("groupwise:reload", reloadItself);
  // The theme is a module that no part imports, on some pages.
  const missed = ({ target }) => target.matches?.('script[type=module][src^="/modules/"]') && reloadWhenAnswered();
  addEventListener("error", missed, { capture: true });
}
