import { page } from "./core.js";

// The tags that the code in the editor opens and closes: where the data's prompts ask for none, the probes are in them.
// What an error says is read by nobody who writes a completion.
export function tagsLookedFor() {
  if (page.open?.builtIn !== false) return [];
  const code = page.text.replace(/^[ \t]*raise\b.*$/gm, "");
  const names = [...code.matchAll(/<([A-Za-z][A-Za-z0-9_-]{0,30})>/g)].map(([, name]) => name);
  return [...new Set(names)].filter((name) => code.includes(`</${name}>`));
}
