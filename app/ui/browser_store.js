// What the browser keeps for a page, in sessionStorage or localStorage: `does` reads or writes it. Null where the store
// is full or forbidden: then nothing is kept.
export function tryStore(does) {
  try {
    return does();
  } catch {
    return null;
  }
}
