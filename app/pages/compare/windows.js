// Over how many steps the final figures of runs are means, where that differs: a run that logs seldom tells of more.

import { countWords } from "../../ui/number.js";
import { listed } from "../../ui/text.js";

const APART = 1.5; // times as many steps, from which on it is said
const NAMED = 2; // runs at most

// Which runs' figures are over how many steps, the most first; “” where these are about the same.
export function windowWords(runs) {
  const known = runs.filter(({ final }) => final?.over > 0);
  const counts = [...new Set(known.map(({ final }) => final.over))].sort((a, b) => b - a);
  if (!counts.length || counts[0] <= APART * counts.at(-1)) return "";
  const told = counts.map((count) => {
    const names = known.filter(({ final }) => final.over === count).map(({ name }) => `“${name}”`);
    const who = names.length > NAMED ? countWords(names.length, "run") : listed(names);
    return `${who} over ${countWords(count, "step")}`;
  });
  const few = told.length > 3 ? [told[0], "…", told.at(-1)] : told;
  return `Final figures are means of each run’s last logged steps: ${few.join(", ")}.`;
}
