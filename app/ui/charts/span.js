// How far the axes of a chart reach. In a run that goes on they have room for what comes, and stay where they are as
// long as it fits: a chart whose axes stand still is drawn in no time (see FastRedraw).

import { numberInWords } from "../number.js";

export class Span {
  // The least and the greatest value in sight, {x: [from, to], y: [from, to]}; `range` is the stretch in sight, or null
  // for all of it. Parts that are stacked are no more than their whole.
  static of(data, range, log) {
    const x = [Infinity, -Infinity];
    const y = [Infinity, -Infinity];
    const widen = (span, value) => {
      span[0] = Math.min(span[0], value);
      span[1] = Math.max(span[1], value);
    };
    for (const trace of data) {
      trace.y.forEach((value, n) => {
        const at = trace.x[n];
        if (value === null || (log && value <= 0) || (range && (at < range[0] || at > range[1]))) return;
        widen(x, at);
        widen(y, value);
      });
      if (trace.stackgroup) y[0] = Math.min(y[0], 0);
    }
    return { x, y };
  }

  // From 0 to beyond the newest of so many steps; `before` is the range that stands, if any.
  static along(before, last, steps) {
    if (before && last <= before[1] && last > before[1] * 0.7) return before;
    return [0, last * (1 + Math.min(0.25, Math.max(0.1, 3 / steps)))];
  }

  // Around the values, with some room below (unless they stand on the ground) and above.
  static upright(before, [low, high], grounded) {
    if (before && before[0] <= low && high <= before[1] && high - low > 0.6 * (before[1] - before[0])) return before;
    const room = (high - low) * 0.06;
    return [grounded ? low : low - room, high + room];
  }

  // The ticks of a log scale over these values, each written whole: Plotly writes 0.5 as “5”. Powers of ten alone over
  // many of them; none over less than one, where Plotly's own are whole. What never changes has half of one around it.
  static logTicks([least, most], unit = "") {
    const [low, high] = Span.same(least, most) ? [least / Math.sqrt(10), most * Math.sqrt(10)] : [least, most];
    const reach = Math.log10(high / low);
    if (!(low > 0) || !Number.isFinite(high) || reach < 0.8) return {};
    const [first, last] = [Math.floor(Math.log10(low)) - 1, Math.ceil(Math.log10(high)) + 1];
    const each = reach > 3 ? Math.ceil(reach / 5) : 1;
    const powers = Array.from({ length: last - first + 1 }, (_, n) => first + n).filter((power) => power % each === 0);
    const digits = reach > 3 ? [1] : [1, 2, 5];
    const ticks = powers.flatMap((power) => digits.map((digit) => Number(`${digit}e${power}`)));
    return { tickmode: "array", tickvals: ticks, ticktext: ticks.map((tick) => numberInWords(tick) + unit) };
  }

  // Alike but for rounding.
  static same(a, b) {
    return Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
  }
}
