// The address bar: one run, one tab, one step … each page keeps what it shows in its URL.

export const params = () => new URLSearchParams(location.search);
export function setParams(changes, { push = false } = {}) {
  const next = params();
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === "") next.delete(key);
    else if (Array.isArray(value)) {
      next.delete(key);
      for (const one of value) next.append(key, one);
    } else next.set(key, value);
  }
  const query = next.toString();
  const url = location.pathname + (query ? `?${query}` : "");
  if (url !== location.pathname + location.search) {
    history[push ? "pushState" : "replaceState"](history.state, "", url);
    dispatchEvent(new Event("groupwise:address"));
  }
}
// The change that takes these parameters out of an address.
export const without = (names) => Object.fromEntries(names.split(" ").map((name) => [name, null]));
addEventListener("popstate", () => dispatchEvent(new Event("groupwise:address")));
export const onAddress = (then) => addEventListener("groupwise:address", then);

// To a group, or to a step's first, in the Groups; what was looked at there before is left.
export const openGroup = (where) =>
  setParams({ tab: "groups", ...without("step group idx mode prompt then now each"), ...where }, { push: true });
