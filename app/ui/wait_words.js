// What is waited for, with how long already once that is longer than one expects.

const SOON = 5000; // ms

// “Reading the data… 12 s”; of a whole sentence “… by itself. (12 s so far)”. `began`: ms, as Date.now gives them.
export function waitWords(words, began, now = Date.now()) {
  if (!words || now - began < SOON) return words;
  const seconds = Math.floor((now - began) / 1000);
  const long = seconds < 90 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
  return words.endsWith("…") ? `${words} ${long}` : `${words} (${long} so far)`;
}
