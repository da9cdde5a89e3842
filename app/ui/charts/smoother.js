// A smoothed line that does not lag behind a trend, as a moving mean does: at each point the straight line that fits
// what came before best, the newest counting the most (discounted least squares, Brown 1963).

export class Smoother {
  // Few are left as they are; others over about as many as “now” is the mean of (storage/record/recent.py: window_of),
  // so that a line ends about where the numbers beside it say, but very many, which would hide their course.
  static keep(points) {
    return points < 12 ? 0 : points < 200 ? 1 - 1 / Math.min(10, Math.floor(points / 2)) : 0.96;
  }
  // How many points such a line is about, as each weighs so much less than the next: 0 where none is smoothed.
  static reach(points) {
    const by = Smoother.keep(points);
    return by ? Math.round(1 / (1 - by)) : 0;
  }
  constructor(points) {
    this.by = Smoother.keep(points);
    // Weights, weights × age and weights × age² of what came; the same with the values. The newest has age 0.
    this.s0 = this.s1 = this.s2 = this.v0 = this.v1 = 0;
    this.low = Infinity;
    this.high = -Infinity;
    // Holds the slope back while there is little to tell it from: a sixtieth of what its weight comes to.
    this.calm = (this.by * (1 + this.by)) / (1 - this.by) ** 3 / 60;
  }
  next(value) {
    if (value === null) return null;
    if (!this.by) return value;
    const { by } = this;
    [this.s2, this.s1, this.s0] = [by * (this.s2 + 2 * this.s1 + this.s0), by * (this.s1 + this.s0), by * this.s0 + 1];
    [this.v1, this.v0] = [by * (this.v1 + this.v0), by * this.v0 + value];
    this.low = Math.min(this.low, value);
    this.high = Math.max(this.high, value);
    const spread = this.s2 + this.calm;
    const fit = (spread * this.v0 - this.s1 * this.v1) / (spread * this.s0 - this.s1 ** 2);
    return Math.min(this.high, Math.max(this.low, fit)); // a line may shoot over what there was: not over 100 %
  }
  // `points`: how many all of the line has, where these are a part of it.
  static over(values, points = values.length) {
    const smoother = new Smoother(points);
    return values.map((value) => smoother.next(value));
  }
}
