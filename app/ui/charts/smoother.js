// A smoothed line: at each point the mean of the last values, as many as “now” is the mean of (window_of in
// storage/record/recent.py), so that it ends where the number beside its chart's title says.

export class Smoother {
  // Of how many points each is the mean: 0 where they are few. Very many are drawn calmer, or noise hides their course.
  static reach(points) {
    return points < 12 ? 0 : points < 400 ? Math.min(10, Math.floor(points / 2)) : 25;
  }
  // `points`: how many all of the line has, where these are a part of it.
  static over(values, points = values.length) {
    const reach = Smoother.reach(points) || 1;
    const last = [];
    return values.map((value) => {
      if (value === null) return null;
      last.push(value);
      if (last.length > reach) last.shift();
      return last.reduce((sum, one) => sum + one, 0) / last.length;
    });
  }
}
