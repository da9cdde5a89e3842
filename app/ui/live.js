// What every live part shares: asking the server again and again, the address bar, tabs, theme, small DOM helpers.
// Loaded once, in the page's head; everything is under window.groupwise.
window.groupwise ??= ((LIBRARIES, GUARDED) => {
  const FIRST_WAIT = 500, LONGEST_WAIT = 5000;
  const REST = 6, LONGEST_REST = 3000; // times as long as a look took is waited before the next, and no longer than ms

  // ---- the address bar: one run, one tab, one step … each page keeps what it shows in its URL ----
  const params = () => new URLSearchParams(location.search);
  function setParams(changes, { push = false } = {}) {
    const next = params();
    for (const [key, value] of Object.entries(changes)) {
      if (value === null || value === undefined || value === "") next.delete(key);
      else next.set(key, value);
    }
    const query = next.toString();
    const url = location.pathname + (query ? `?${query}` : "");
    if (url !== location.pathname + location.search) {
      history[push ? "pushState" : "replaceState"](history.state, "", url);
      dispatchEvent(new Event("groupwise:address"));
    }
  }
  addEventListener("popstate", () => dispatchEvent(new Event("groupwise:address")));
  const onAddress = (then) => addEventListener("groupwise:address", then);

  // ---- asking the server ----
  const away = new Set();
  function offline(who, is) {
    is ? away.add(who) : away.delete(who);
    let note = document.getElementById("gw-offline");
    if (!note) {
      note = el("div", { id: "gw-offline", role: "status" });
      document.body.append(note);
    }
    note.textContent = away.size ? "Reconnecting…" : "";
    note.hidden = !away.size;
  }

  // The session was ended, here in another tab or by its time: what comes next is a login, and then this page again.
  async function leaveIfLoggedOut() {
    if (!GUARDED) return;
    const reply = await fetch("/theme.css", { method: "HEAD" }).catch(() => null);
    if (reply?.status === 401) location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`);
  }

  const shown = (element) => !document.hidden && element.isConnected && element.getClientRects().length > 0;

  // Calls `once` until the element is gone. It returns how many ms to wait for the next time (null: do not ask again
  // until woken), or undefined when the server did not answer, which is tried again with growing pauses.
  // Nothing is asked while the tab or the element is hidden; and where looks take long, as the machine or the server has
  // much to do, they are the rarer.
  function poll(element, once) {
    let timer = null, busy = false, woken = false, pause = FIRST_WAIT;
    const later = (ms) => { clearTimeout(timer); timer = setTimeout(tick, ms); };
    async function tick() {
      if (busy) { woken = true; return; }
      if (!shown(element)) return later(400);
      busy = true;
      let next;
      const begun = performance.now();
      try { next = await once(); } catch (problem) { console.warn(problem); }
      const took = performance.now() - begun, failed = next === undefined;
      busy = false;
      offline(element, failed);
      if (failed) await leaveIfLoggedOut();
      pause = failed ? Math.min(pause * 1.6, LONGEST_WAIT) : FIRST_WAIT;
      if (woken) { woken = false; return later(0); }
      if (failed) later(pause);
      else if (next !== null) later(Math.max(next, Math.min(REST * took, LONGEST_REST)));
    }
    const wake = () => later(0);
    document.addEventListener("visibilitychange", wake);
    addEventListener("groupwise:wake", wake);
    later(0);
    return wake;
  }
  const wakeAll = () => dispatchEvent(new Event("groupwise:wake"));

  // ---- what some parts need besides: a library's scripts, loaded once, one after the other ----
  const libraries = new Map();
  function load(name) {
    if (!libraries.has(name)) libraries.set(name, bringAll(name));
    return libraries.get(name);
  }
  async function bringAll(name) {
    const { classList } = document.documentElement;
    classList.add(`without-${name}`);
    for (const address of LIBRARIES[name]) await bring(address);
    classList.remove(`without-${name}`);
  }
  // Until it is there: the server may be starting anew, and the page is of use without it.
  function bring(address) {
    return new Promise((there) => {
      let pause = FIRST_WAIT;
      (function once() {
        const script = el("script", { src: address });
        script.onload = () => { offline(address, false); there(); };
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

  // ---- DOM: text is always placed as text ----
  function el(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "onclick") node.addEventListener("click", value);
      else if (value === true) node.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }
  // Sets text only when it changed, so that selections and screen readers are left in peace.
  function say(node, words) { if (node.textContent !== words) node.textContent = words; }
  function setHtml(node, escaped) { if (node.gwHtml !== escaped) { node.gwHtml = escaped; node.innerHTML = escaped; } }
  // Shows it or not; what goes with the keyboard's focus in it hands that on.
  function show(node, so, next) {
    if (!so && node.contains(document.activeElement)) next.focus({ preventScroll: true });
    node.hidden = !so;
  }
  // Something in it was changed by other means: the next setHtml sets it, also to what it was.
  function touched(node) { for (let each = node; each; each = each.parentElement) delete each.gwHtml; }

  // To a group, or to a step's first, in the Groups; what was looked at there before is left.
  const openGroup = (where) => setParams({ tab: "groups", step: null, group: null, idx: null, mode: null, prompt: null, then: null, now: null, each: null, ...where }, { push: true });

  async function copy(words, button) {
    try { await navigator.clipboard.writeText(words); } catch {
      const area = el("textarea", { style: "position:fixed;opacity:0" });
      area.value = words; document.body.append(area); area.select(); document.execCommand("copy"); area.remove();
    }
    const before = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = before; }, 1200);
  }

  // A number in about three digits, as format.number writes it.
  function number(value) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    const size = Math.abs(value);
    if (size === 0) return "0";
    let out;
    if (size < 1e-3 || size >= 1e9) out = value.toExponential(1);
    else if (size >= 100) out = Math.round(value).toLocaleString("en");
    else {
      const magnitude = Math.floor(Math.log10(size));
      out = value.toFixed(2 - (magnitude >= 0 ? magnitude : magnitude + 1));
    }
    return out.replace(/^-/, "−");
  }

  // ---- the theme: <html> carries .dark exactly when the page is dark, so that tokens and charts can follow ----
  const system = matchMedia("(prefers-color-scheme: dark)"), colours = new Map();
  function followTheme() {
    const asked = params().get("__theme");
    const dark = asked === "dark" || (asked !== "light" && system.matches);
    if (document.documentElement.classList.contains("dark") === dark && document.documentElement.dataset.themed) return;
    document.documentElement.dataset.themed = "yes";
    document.documentElement.classList.toggle("dark", dark);
    colours.clear();
    dispatchEvent(new Event("groupwise:theme"));
  }
  system.addEventListener("change", followTheme);
  followTheme();
  function colour(name) {
    if (!colours.has(name)) colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
    return colours.get(name);
  }

  // Gradio's Textbox tells Python of keys that write a character, not of Backspace, paste or a filled-in value: each
  // `input` in a form of ours is followed by such a key.
  document.addEventListener("input", ({ target }) => {
    if (!target.matches?.(".new-page .field :is(input[type=text], input:not([type]), textarea)")) return;
    setTimeout(() => target.dispatchEvent(new KeyboardEvent("keypress", { key: "Unidentified" })));
  });

  return { params, setParams, onAddress, poll, wakeAll, load, openGroup, el, say, setHtml, show, touched, copy, number, colour, guarded: GUARDED };
})(@libraries, @guarded);
