// Lines that lie on one another, as of runs with the same settings and seed: each is drawn so that the others are seen.
// Pure.

const LEAST = 0.1; // of a line's points: a shorter way together at its beginning hides little of it
const DASH = 8; // pixels

// How many points two lines have in common before they part.
export function together(a, b) {
  const most = Math.min(a.x.length, b.x.length);
  let n = 0;
  while (n < most && a.x[n] === b.x[n] && a.y[n] === b.y[n]) n += 1;
  return n;
}

const coincide = (a, b) => together(a, b) >= Math.max(2, LEAST * Math.min(a.x.length, b.x.length));

// The place of each line among those on its way: {nth, of}, which is {0, 1} of a line that goes alone.
export function places(lines) {
  const first = lines.map((line, i) => lines.findIndex((other, k) => k === i || (k < i && coincide(other, line))));
  const nth = (one, i) => first.slice(0, i).filter((other) => other === one).length;
  return first.map((one, i) => ({ nth: nth(one, i), of: first.filter((other) => other === one).length }));
}

// The dash of a line among those on its way: the first is drawn whole, and each of the others over it where none of the
// rest is.
export const dashOf = ({ nth, of }) => (nth ? `0px,${nth * DASH}px,${DASH}px,${(of - 1 - nth) * DASH}px` : "solid");
