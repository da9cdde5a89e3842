// The theme: <html> carries .dark exactly when the page is dark, so that tokens and charts can follow.

import { params } from "./address.js";

const system = matchMedia("(prefers-color-scheme: dark)");
const colours = new Map();
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
// What a token of tokens.css is now, as “#rrggbb”.
export function colour(name) {
  if (!colours.has(name)) colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return colours.get(name);
}
