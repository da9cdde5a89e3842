// A file of the home as the data to try on: read and mapped as it was last set on any page (ui/file_readings.js), or as
// the newest run of it did; where neither mapped it, as its preview suggests.

import { forgetReading, keepReading, readingOf } from "../../ui/file_readings.js";
import { page } from "./core.js";
import { plain } from "./text.js";

const guesses = {}; // {file: the mapping that its preview suggests}

export const isFile = (value) => value.startsWith("file:");
const fileOf = (value) => page.about.sources.files.find((one) => one.value === value) ?? { value };
const knownOf = (value) => readingOf(fileOf(value));
const isMapped = (value, guess) =>
  Boolean(knownOf(value)?.past) || Object.keys(guess).some((path) => path in (knownOf(value)?.settings ?? {}));
// The suggested mapping, where it is what the file is mapped by; null elsewhere.
export function guessOfFile(value) {
  const guess = guesses[value];
  return guess && !isMapped(value, guess) ? guess : null;
}
// Takes what the preview suggests; whether that is anything new.
export function mapFile(value, guess = {}) {
  if (!isFile(value) || guesses[value] || !Object.keys(guess).length || isMapped(value, guess)) return false;
  guesses[value] = guess;
  return true;
}
// All settings of its data: which rows a run used, too, where it is read as in that run.
export function dataOfFile(value) {
  const known = knownOf(value);
  const data = { source: value };
  const settings = { ...guessOfFile(value), ...(known?.past?.data ?? known?.settings) };
  for (const [path, one] of Object.entries(settings)) data[path.replace("data.", "")] = one;
  return data;
}
// With completions as long, and sampled as, in the newest run of it.
export function specOfFile(value) {
  const training = fileOf(value).past?.sampling ?? {};
  return JSON.stringify({ name: "trial", data: dataOfFile(value), training, rewards: [{ name: "format" }] });
}
// As what it is read, as part of a sentence, and whether a person said so; null where nothing is known.
export function howRead(value) {
  const known = isFile(value) ? knownOf(value) : null;
  if (!known) return null;
  return known.past
    ? { words: `read as in run “${plain(known.past.run)}”`, isOwn: false }
    : { words: "read as you set it", isOwn: true };
}
export function readAnew(value) {
  delete guesses[value];
  forgetReading(fileOf(value));
}
// What is wrong with how the file is read, as its preview says it, with what one click does about it:
// {message, fixes: [{label, take}]}; null for nothing. `then`: what is done once it is read otherwise.
export function slipOfFile(value, problems, then) {
  const wrong = (problems ?? []).find(({ level, fixes }) => level === "blocking" && fixes.length);
  if (!isFile(value) || !wrong) return null;
  const take = (fix) => () => {
    setReading(value, fix);
    then();
  };
  return { message: wrong.message, fixes: wrong.fixes.map((fix) => ({ label: fix.label, take: take(fix) })) };
}
// A mapping that was suggested of the file as it was read before may not fit.
function setReading(value, { settings, removed = [] }) {
  const kept = { ...knownOf(value)?.settings, ...settings };
  for (const path of removed) delete kept[path];
  delete guesses[value];
  keepReading(fileOf(value), kept);
}
