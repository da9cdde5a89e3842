// A positive number with so many digits behind the point, a half away from 0. Four digits beyond are noise of single
// precision: what was 1.535 before it is 1.54 (storage/spec/words/number_words.py).
function withDigits(size, digits) {
  const known = Math.round(Number(size.toFixed(digits + 4)) * 10 ** (digits + 4));
  return (Math.floor(known / 1e4 + 0.5) / 10 ** digits).toFixed(digits);
}

// A number in about three digits, as app/core/format.py writes it.
export function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  let out;
  if (size < 1e-3 || size >= 1e9) out = size.toExponential(1);
  else if (size >= 100) out = Number(withDigits(size, 0)).toLocaleString("en");
  else {
    const magnitude = Math.floor(Math.log10(size));
    out = withDigits(size, 2 - (magnitude >= 0 ? magnitude : magnitude + 1));
  }
  return value < 0 ? `−${out}` : out;
}

// The same as sentences write it (storage/analysis/doctor/words.py): 3.3, not 3.30.
export function numberInWords(value) {
  const out = number(value);
  return out.includes(".") && !out.includes("e") ? out.replace(/\.?0+$/, "") : out;
}

// What a reward can come to, behind what it is: “ of at most 3”; “” where that is not known.
export const atMost = (most) => (most > 0 ? ` of at most ${+most.toFixed(4)}` : "");

// A whole number with commas between thousands: 12,840.
export const wholeNumber = (n) => Math.round(n).toLocaleString("en");
// A number and its noun: 1 row, 2,000 rows; `many` where the plural is not the noun with an s.
export const countWords = (n, noun, many = `${noun}s`) => `${wholeNumber(n)} ${n === 1 ? noun : many}`;

// A range of steps, ends and all, as step_range in app/core/format.py writes it: step 3, steps 1–1,200.
export const stepRange = ([first, last]) =>
  first === last ? `step ${wholeNumber(last)}` : `steps ${wholeNumber(first)}–${wholeNumber(last)}`;

// A share in whole percent, as storage/analysis/doctor/words.py writes it, rounded as it is as a figure: 0.525 is 0.53
// and 53 %. Little is not nothing, nor nearly all all.
export const percent = (share) => sayPercent(share, wholePercent(share));
const wholePercent = (share) => Math.sign(share) * Math.round(Number(withDigits(Math.abs(share), 2)) * 100);
function sayPercent(share, whole) {
  const known = share > 0 && whole === 0 ? "<1" : share < 1 && whole === 100 ? ">99" : withDigits(whole, 0);
  return `${known}\u202f%`;
}
// Of what is often little: with a tenth below 10 %, and never 0 for some.
export function finePercent(share) {
  return share < 0.0995 ? percentWithTenth(share) : `${withDigits(100 * share, 0)}\u202f%`;
}
function percentWithTenth(share) {
  const known = share > 0 && share < 0.0005 ? "<0.1" : withDigits(100 * share, share ? 1 : 0);
  return `${known}\u202f%`;
}
// Parts of a share as percent writes each; where these do not add up to what it writes of the whole (0.0625 and 0.0125
// of 0.075), with a tenth, so that none is rounded to another number than it is (words.py, as above).
export function percentParts(whole, parts) {
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  const isAll = Math.abs(sum(parts) - whole) <= 1e-6;
  const addUp = !isAll || sum(parts.map(wholePercent)) === wholePercent(whole);
  return parts.map(addUp ? percent : percentWithTenth);
}

// Seconds, as duration in app/core/format.py writes it.
export function seconds(value) {
  if (value < 9.95) return `${withDigits(Math.max(0, value), value < 0.995 ? 2 : 1)} s`;
  const whole = Math.round(value);
  if (whole < 60) return `${whole} s`;
  if (value < 600) return whole % 60 ? `${Math.floor(whole / 60)} min ${whole % 60} s` : `${whole / 60} min`;
  const minutes = Math.round(value / 60);
  if (value < 5400) return `${minutes} min`;
  if (value < 172_800) return minutes % 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${minutes / 60} h`;
  const hours = Math.round(value / 3600);
  return hours % 24 ? `${Math.floor(hours / 24)} d ${hours % 24} h` : `${hours / 24} d`;
}

// The places of the two neighbours in a rising list that a value lies between; beyond its ends the first or last two.
export function neighbours(values, value) {
  let low = 0;
  let high = values.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (values[middle] <= value) low = middle;
    else high = middle;
  }
  return [low, high];
}

// The number that someone typed; null for what is none.
export function typedNumber(words) {
  const plain = words.trim().replace("−", "-");
  return plain !== "" && Number.isFinite(Number(plain)) ? Number(plain) : null;
}
// A number typed with a decimal comma, with a point; null for what is none.
export function withPoint(words) {
  if (!/^[-+−]?\d*,\d+$/.test(words.trim())) return null;
  return words
    .trim()
    .replace(",", ".")
    .replace(/^([-+−]?)\./, "$10.");
}
