// Waiting for something to be written of a run (see app/server/news.py), in place of asking for it again and again.

const PAUSE = 15_000; // ms in which a server that would not tell is not asked again

let refusedUntil = 0;
// True as soon as there may be something new since `seen`; false where the server does not tell.
export async function news(run, seen) {
  if (performance.now() < refusedUntil) return false;
  const reply = await fetch(`/news?${new URLSearchParams({ run, seen })}`).catch(() => null);
  if (reply?.ok) return true;
  refusedUntil = performance.now() + PAUSE;
  return false;
}
