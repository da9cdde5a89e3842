// How data is named, and how many of its rows to hold out. Pure.

const SHARE = 10; // one row in so many is held out, where there are few

// Whether a source says more than where the data is to come from.
export const isDataChosen = (source) => !/^\w+:\s*$/.test(source);
// Data as a sentence names it.
export function dataWords(source) {
  const [kind, ...rest] = source.split(":");
  const name = rest.join(":").trim();
  return { task: `the built-in task ${name}`, gym: `the reasoning-gym task ${name}` }[kind] ?? name;
}
// How many rows to hold out: as many as before where there are enough, else a tenth of them; 0: there are too few.
export const fittingHoldout = (before, rows) => Math.min(before, Math.floor(rows / SHARE));
