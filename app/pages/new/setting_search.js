// Searching all settings by their name, label, help and flag.

const wordsOf = (one) => `${one.name} ${one.label} ${one.advice} ${one.help} ${one.flag}`.toLowerCase();

const plain = (asked) => asked.trim().toLowerCase().replace(/^--/, "");

// What is to be said of a setting that there is no longer, if that is what is asked for; `removed`: name → sentence.
export const removedAs = (asked, removed) => removed[plain(asked).replace(/[\s-]+/g, "_")];

// Of these settings those that have every word that is asked for: the one of this name first, then those whose name
// begins with it or has it in it.
export function matching(settings, asked) {
  const words = plain(asked);
  const parts = words.split(/\s+/).filter(Boolean);
  const hits = settings.filter((one) => parts.every((part) => wordsOf(one).includes(part)));
  const rank = ({ name }) => (name === words ? 0 : name.startsWith(parts[0]) ? 1 : name.includes(parts[0]) ? 2 : 3);
  return hits.sort((a, b) => rank(a) - rank(b));
}
