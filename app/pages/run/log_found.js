// In which metrics of a line of the log the searched words are.

const PRINTED = /'([^'\\]+)': '?[^',}]*'?/g; // a metric in the trainer's own words

// Names of the metrics that have the searched words: as they are shown (step 1,200, also without its comma), or as they
// are printed ('kl': '2.5965').
export function metricsWith({ values, words }, searched) {
  const wanted = searched.toLowerCase();
  if (!values || !wanted) return new Set();
  const shown = values.filter(([name, value]) => {
    const text = `${name} ${value}`.toLowerCase();
    return text.includes(wanted) || text.replaceAll(",", "").includes(wanted.replaceAll(",", ""));
  });
  const from = words.toLowerCase().indexOf(wanted);
  const printed = from < 0 ? [] : [...words.matchAll(PRINTED)];
  const within = printed.filter(({ 0: text, index }) => index < from + wanted.length && from < index + text.length);
  return new Set([...shown, ...within.map((one) => [one[1]])].map(([name]) => name));
}
