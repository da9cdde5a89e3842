import { page } from "./core.js";

// The tags that the code in the editor opens and closes: where the data's prompts ask for none, the probes are in them.
export function tagsLookedFor() {
  if (page.open?.builtIn !== false) return [];
  const names = [...page.text.matchAll(/<([A-Za-z][A-Za-z0-9_-]{0,30})>/g)].map(([, name]) => name);
  return [...new Set(names)].filter((name) => page.text.includes(`</${name}>`)).slice(0, 6);
}
