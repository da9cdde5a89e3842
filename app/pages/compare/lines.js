// Pure arithmetic on lines {x, y, of}: the mean of several with a band, and which runs belong together.

import { Logged } from "../../ui/charts/logged.js";
import { Smoother } from "../../ui/charts/smoother.js";
import { countWords, neighbours, wholeNumber } from "../../ui/number.js";

// The least to the most of these numbers, and their noun: 10 to 100 steps.
function rangeWords(numbers, noun) {
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  return `${least < most ? `${wholeNumber(least)} to ` : ""}${countWords(most, noun)}`;
}

export class Lines {
  // The line's value at x, between its neighbours; null before its first and after its last point.
  static at(line, x) {
    const { x: xs, y: ys } = line;
    const last = xs.length - 1;
    if (last < 0 || x < xs[0] || x > xs[last]) return null;
    const [low, high] = neighbours(xs, x);
    if (x === xs[low] || low === high) return ys[low];
    if (x === xs[high]) return ys[high];
    if (ys[low] === null || ys[high] === null) return null;
    const share = (x - xs[low]) / (xs[high] - xs[low] || 1);
    return ys[low] + (ys[high] - ys[low]) * share;
  }

  // Mean, and lowest to highest (“range”) or mean ± sample standard deviation (“std”), of the lines that reach each x;
  // n: of how many.
  static band(lines, how, points = 200) {
    const some = lines.filter((line) => line.x.length);
    const out = { x: [], y: [], low: [], high: [], n: [] };
    const from = Math.min(...some.map((line) => line.x[0]));
    const to = Math.max(...some.map((line) => line.x.at(-1)));
    if (!some.length || !Number.isFinite(to - from)) return out;
    const few = Math.max(...some.map((line) => line.x.length)) < points;
    const grid = few
      ? [...new Set(some.flatMap((line) => line.x))].sort((a, b) => a - b)
      : Array.from({ length: points }, (_, i) => from + ((to - from) * i) / (points - 1));
    for (const x of grid) {
      const values = some.map((line) => Lines.at(line, x)).filter((value) => value !== null);
      if (!values.length) continue;
      const n = values.length;
      const mean = values.reduce((a, b) => a + b, 0) / n;
      const std = n > 1 ? Math.sqrt(values.reduce((a, b) => a + (b - mean) ** 2, 0) / (n - 1)) : 0;
      out.x.push(x);
      out.y.push(mean);
      out.n.push(n);
      out.low.push(how === "std" ? mean - std : Math.min(...values));
      out.high.push(how === "std" ? mean + std : Math.max(...values));
    }
    return out;
  }

  // With `smooth` beside y, as strongly as all of the line is, however much of it is in sight; a line whose points are
  // of several values came with it. Each line for itself, before several make a band: across the place where one of
  // them ends, a smoothed band would show a spread that is not there.
  static smoothed(line) {
    if (line.smooth) return line;
    const { y, of, a_log, begins, steps, logs } = line;
    const smooth = logs ? Smoother.byStage(y, steps, begins, (_, n) => logs[n]) : Smoother.over(y, of, a_log, begins);
    return { ...line, smooth: Lines.ended(line, smooth) };
  }
  // A line's values up to the last log: of those behind it there is no mean yet.
  static ended({ upto = Infinity }, values) {
    return values.map((value, i) => (i < upto ? value : null));
  }
  // Of how many logged steps a smoothed line's value is the mean, at its end: 0 where it is left as it is.
  static reach({ x, of, a_log, begins, logs, logged }) {
    const points = begins?.length ? x.length - begins.at(-1) : of;
    return Smoother.reach(logged ?? (logs ? logs.at(-1).length - 1 : Math.floor(points / a_log)));
  }
  // `lines`: those of the charts, with `single` where “now” is of a line's last value (recent.py).
  static reachWords(lines) {
    const several = lines.filter(({ single }) => !single);
    const smoothed = several.filter((line) => Lines.reach(line));
    const short = several.filter((line) => !Lines.reach(line));
    const over = smoothed.length ? `over the last ${Lines.logWords(smoothed)}` : "";
    const known = short.filter((line) => line.logs || line.a_log > 1);
    const sizes = known.flatMap(({ logs, every }) => logs?.flatMap(Logged.sizes) ?? every ?? []);
    const unit = several.some(({ every }) => every > 1) ? "logs" : "logged steps";
    const drawn = known.length ? `show the mean of each log (${rangeWords(sizes, "step")})` : "are not smoothed";
    const raw = short.length ? `lines of fewer than ${Smoother.LEAST} ${unit} ${drawn}` : "";
    return [over, raw].filter(Boolean).join("; ");
  }
  // Of how many logs these smoothed lines are the mean, and of how many steps those are, where a log is of several.
  static logWords(lines) {
    const logs = lines.map((line) => Lines.reach(line));
    if (lines.every(({ every = 1 }) => every === 1)) return rangeWords(logs, "logged step");
    const steps = lines.flatMap((line, i) => Lines.stepsOf(line, logs[i]));
    return `${rangeWords(logs, "log")} (${rangeWords(steps, "step")})`;
  }

  // Of how many steps these many logs of a line are: usually, and at its end, where the last may be of fewer.
  static stepsOf({ every = 1, logs }, count) {
    const last = logs?.at(-1);
    return [every * count, ...(last ? [last.at(-1) - last.at(-1 - count)] : [])];
  }

  // What of a line lies in a stretch of the axis (null: all of it), with the point next to either end of it.
  static cut(line, stretch) {
    if (!stretch) return line;
    const { x, y, smooth } = line;
    const from = Math.max(
      0,
      x.findLastIndex((one) => one <= stretch[0]),
    );
    const behind = x.findIndex((one) => one >= stretch[1]);
    const to = behind < 0 ? x.length : behind + 1;
    if (!x.slice(from, to).some((one) => one >= stretch[0]) || x[from] > stretch[1])
      return { ...line, x: [], y: [], smooth: smooth && [] };
    return { ...line, x: x.slice(from, to), y: y.slice(from, to), smooth: smooth?.slice(from, to) };
  }

  // Around a band, as a line that closes, in pieces where only one run is left: one alone has no spread.
  static outline({ x, low, high, n }) {
    const pieces = [];
    n.forEach((many, i) => {
      if (many < 2) return;
      if (n[i - 1] > 1) pieces.at(-1).push(i);
      else pieces.push([i]);
    });
    const around = (there, back) =>
      pieces
        .flatMap((piece) => [...piece.map((i) => there[i]), ...piece.toReversed().map((i) => back[i]), null])
        .slice(0, -1);
    return { x: around(x, x), y: around(high, low) };
  }

  // Where on a band's grid all of these many lines are, and where only some: places, with a gap (null) wherever their
  // number changes, as a stroke across it would be a fall or a rise that none of them had.
  static reached({ n }, many) {
    const places = (belongs) =>
      [...n.keys()].filter((i) => belongs(n[i])).flatMap((i) => (i && n[i - 1] !== n[i] ? [null, i] : [i]));
    return { all: places((count) => count === many), some: places((count) => count < many) };
  }

  // The runs that are there, grouped by what they have in a field: [{label, ids, colour, dash}], in the order of the
  // values. `by` is a field's name, or “settings”: every field that differs, but for seeds. `dashes`: what kind of line
  // goes with each colour.
  static groups(runs, fields, by, dashes = []) {
    const seeds = /(^|\.)(seed|data_seed|shuffle|run_name|output_dir)$/;
    const those =
      by === "settings" ? fields.filter(({ name }) => !seeds.test(name)) : fields.filter(({ name }) => name === by);
    const found = new Map();
    runs.forEach(({ id, there }, i) => {
      if (!there) return;
      const cells = those.map((field) => field.values[i] ?? null);
      const words = those.map((field, n) => `${field.label} ${cells[n]?.words ?? "–"}`);
      const label = words.join(", ") || "the same settings";
      if (!found.has(label)) found.set(label, { label, ids: [], order: cells[0]?.number ?? null });
      found.get(label).ids.push(id);
    });
    const before = (a, b) => (a.order === null || b.order === null ? 0 : a.order - b.order);
    return [...found.values()]
      .sort(before)
      .map((group, i) => ({ ...group, colour: `--r${i + 1}`, dash: dashes[i] ?? "solid" }));
  }

  // Seconds in the unit that suits the longest: [what to divide by, its name].
  static unit(seconds) {
    return seconds > 7200 ? [3600, "h"] : seconds > 180 ? [60, "min"] : [1, "s"];
  }
}
