// How each data file of the home is read and mapped: as it was last set in this browser, on whichever page, or as the
// newest run of it did, whichever came later. So it is read wherever it is chosen again.

import { tryStore } from "./browser_store.js";

const KEPT = "groupwise:readings"; // → {file: {at, settings: {path: value}}}
const MOST = 200; // files

const readAll = () => tryStore(() => JSON.parse(localStorage.getItem(KEPT))) ?? {};
function writeAll(kept) {
  const newest = Object.entries(kept).sort(([, one], [, other]) => other.at - one.at);
  tryStore(() => localStorage.setItem(KEPT, JSON.stringify(Object.fromEntries(newest.slice(0, MOST)))));
}
const inOrder = (settings) => JSON.stringify(Object.entries(settings ?? {}).sort());
export const isSameReading = (one, other) => inOrder(one) === inOrder(other);

// Of a file as the pages list it, {value, past: as past_reading.py describes the run}: {settings, past: that run's,
// null where they were set here}; null where nothing is known of it.
export function readingOf({ value, past }) {
  const here = readAll()[value];
  if (here?.settings && here.at >= (past?.at ?? 0)) return { settings: here.settings, past: null };
  return past ? { settings: past.settings, past } : null;
}
// `settings`: all of how the file is read and mapped, as it was set; what is not among them is as usual.
export function keepReading(file, settings) {
  if (isSameReading(readingOf(file)?.settings, settings)) return;
  const { [file.value]: _, ...others } = readAll();
  const here = { at: Date.now() / 1000, settings };
  writeAll(Object.keys(settings).length ? { ...others, [file.value]: here } : others);
}
export const forgetReading = (file) => keepReading(file, {});
