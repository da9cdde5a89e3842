// What is waited for, with how long already once that is longer than one expects.

const SOON = 5000; // ms
// Whether one waits for longer than one expects. `began`: ms, as Date.now gives them.
export const isLong = (began, now = Date.now()) => now - began >= SOON;

// “Reading the data… 12 s”; of a whole sentence “… by itself. (12 s so far)”.
export function waitWords(words, began, now = Date.now()) {
  if (!words || !isLong(began, now)) return words;
  const seconds = Math.floor((now - began) / 1000);
  const long = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
  return words.endsWith("…") ? `${words} ${long}` : `${words} (${long} so far)`;
}
