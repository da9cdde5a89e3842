// Rows of the data by number, as a person writes them.

export const MOST_ROWS = 64;
// Rows as people write them, “1, 5, 9-12”, counted from 0; null where that is none.
export function readRows(words) {
  const found = new Set();
  for (const part of words.split(/[\s,;]+/).filter(Boolean)) {
    const [, first, last = first] = /^(\d{1,9})(?:[-–](\d{1,9}))?$/.exec(part) ?? [];
    if (!first || first < 1 || Number(last) < Number(first)) return null;
    for (let n = Number(first); n <= Number(last) && found.size <= MOST_ROWS; n += 1) found.add(n - 1);
  }
  return found.size && found.size <= MOST_ROWS ? [...found] : null;
}
