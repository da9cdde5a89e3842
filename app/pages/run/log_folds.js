// What is folded of a log: warnings that came before; a line just like the one before it, as a function prints for each
// completion; what libraries warn of and progress bars that came to their end, which ask nothing of whoever reads it;
// and all but the last state of other bars. A line that has the searched words
// is shown all the same (log.css), but one of a library, of which the search says that it is there.

const WARNING = /warning\b|missing keys|deprecated/i;
const BY_PYTHON = /:\d+: \w*Warning: /; // below it stands the line of code that warns
const CODE = /^\s+warnings\.warn\(/;
// Of an installed library, or of Python itself; not of ours, nor of a person's own code.
const INSTALLED = String.raw`\S*/(?:site|dist)-packages/(?!groupwise/)\S*`;
const OF_PYTHON = String.raw`<frozen [\w.]+>|\S*/lib/python3[\d.]*/(?!site-packages/|dist-packages/)\S*`;
const BY_LIBRARY = new RegExp(String.raw`^(?:${INSTALLED}|${OF_PYTHON}):\d+: \w*Warning: `);
// tqdm's, with nothing behind it: what is being done, how much of it, and out of how much.
const BAR = /^(.*?)\s*(\d{1,3})%\|[^|]*\| *\S+?\/(\S+) \[[^[\]]*\]\s*$/;
export const OF_RANK = /^\[rank (\d{1,4})\] /;
const isNewAttempt = (node) => node.matches(".ours") && / Attempt \d+ starts\b/.test(node.words);
export const withoutRank = (words) => words.replace(OF_RANK, "");
const isFullBar = (words) => BAR.exec(words)?.[2] === "100";
const isOfLibrary = (words) => BY_LIBRARY.test(words) || isFullBar(words);
// As far as a line by itself tells: the line of code below a warning is nearly always a library's.
export const looksOfLibrary = (line) => isOfLibrary(withoutRank(line)) || CODE.test(withoutRank(line));

const warned = new Map(); // words of a library's warning, whichever rank printed it → its first line that is shown
// Of each rank, its last line: the first just like it (head), and whether it warned of what came before (again), coded
// as Python does it, a library's.
const before = new Map();
const bars = new Map(); // rank, what is done and out of how much → the line of a bar that has not come to its end
export const forgetFolds = () => [before, warned, bars].forEach((known) => known.clear());

// A warning that came before in its attempt is counted there, also where another rank printed it; ranks print in
// between one another. The line of code below it says nothing more.
export function fold(node) {
  node.repeats = [];
  sayRepeats(node);
  if (node.hidden) return;
  if (isNewAttempt(node)) forgetFolds();
  const { rank = "" } = node.dataset;
  const words = withoutRank(node.words);
  const last = before.get(rank) ?? {};
  const first = warned.get(words);
  const within = /^\s+\S/.test(words);
  const again = !!first || (within && !!last.again);
  const ofLibrary = isOfLibrary(words) || (within && !!last.ofLibrary);
  const isCode = CODE.test(words) || (within && !!last.coded);
  const isSame = last.head?.words === node.words && words.trim() !== "" && !node.matches(".ours, .metrics");
  node.classList.toggle("again", again || isSame || (isCode && !ofLibrary));
  node.classList.toggle("of-library", ofLibrary);
  foldBar(node, words, rank);
  const head = isSame ? last.head : node;
  before.set(rank, { head, again, coded: BY_PYTHON.test(words), ofLibrary: BY_LIBRARY.test(words) });
  if (first || isSame) repeat(first ?? head, node);
  else if (!again && WARNING.test(words) && !node.matches(".ours, .metrics")) warned.set(words, node);
}
const counted = new Set(); // whose repeats are said once all lines that came with them are folded
function repeat(first, node) {
  first.repeats.push(node);
  if (!counted.size)
    queueMicrotask(() => {
      counted.forEach(sayRepeats);
      counted.clear();
    });
  counted.add(first);
}
// The state of a bar takes the place of the one before it; one that came to its end stays.
function foldBar(node, words, rank) {
  node.classList.remove("past-state");
  const [, what, share, all] = BAR.exec(words) ?? [];
  if (all === undefined) return;
  const key = `${rank} ${what} ${all}`;
  bars.get(key)?.classList.add("past-state");
  if (share === "100") bars.delete(key);
  else bars.set(key, node);
}
export function sayRepeats(node) {
  const folded = node.repeats.filter((one) => !one.matches(".found")).length;
  if (folded) node.dataset.times = `${folded + 1} times`;
  else delete node.dataset.times;
}
