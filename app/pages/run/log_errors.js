// Which lines of a log are errors: our own by their kind; of what else is printed, by the form that Python gives to
// them: the first and the last line of a traceback, and what is logged at the level ERROR or CRITICAL.

import { withoutRank } from "./log_folds.js";

const TRACEBACK = /^Traceback \(most recent call last\):$/;
const LOGGED = /^\[?[\w:,. -]*\b(?:ERROR|CRITICAL)\b(?::|\]| -)/;
const within = new Set(); // ranks whose last line was of a traceback; they print in between one another
export const forgetErrors = () => within.clear();

export function markError(node, ownKind) {
  const { rank = "" } = node.dataset;
  if (ownKind) node.classList.toggle("error", ownKind === "error");
  else if (!node.values) node.classList.toggle("error", isError(withoutRank(node.words), rank));
}
function isError(words, rank) {
  if (TRACEBACK.test(words)) {
    within.add(rank);
    return true;
  }
  if (!within.has(rank)) return LOGGED.test(words);
  if (/^\s|^$/.test(words)) return false;
  within.delete(rank);
  return true;
}
