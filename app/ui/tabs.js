// Tabs, of which one is shown: by a click, or by ← and → from tab to tab, round and round.

export function listenToTabs(tabs, choose) {
  for (const [n, tab] of tabs.entries()) {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", ({ key }) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
      if (!step) return;
      const next = tabs[(n + step + tabs.length) % tabs.length];
      choose(next);
      next.focus();
    });
  }
}
// The one that is shown is also where the Tab key stops.
export function markTab(tabs, current) {
  for (const tab of tabs) {
    tab.setAttribute("aria-selected", `${tab === current}`);
    tab.tabIndex = tab === current ? 0 : -1;
  }
}
