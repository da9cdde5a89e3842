// From one drawing of a figure to the next, mostly its lines move. Plotly makes axes and texts anew besides: some 12 ms
// a chart, and six charts at each step. Here only the paths of the lines are written.

export class FastRedraw {
  // Moves the lines of a drawn figure to `data`: the same traces with other points, in the same layout. False, and
  // nothing is done, where there is more to it: points that are missing, marked or off the scale, or parts that do not
  // stand on the same steps. What Plotly says under a pointer stays what it was until it draws.
  static move(plot, data) {
    const paths = FastRedraw.paths(plot, data);
    for (const [path, d] of paths ?? []) path.setAttribute("d", d);
    if (paths) plot.data = data;
    return paths !== null;
  }

  // [SVG path, what it becomes] of each line and each fill; null where `move` does nothing.
  static paths(plot, data) {
    const drawn = plot.calcdata?.map(([{ trace }]) => trace);
    const found = [];
    if (drawn?.length !== data.length) return null;
    let before = null;
    let stack = null; // the line before, and what is stacked so far
    for (const [n, trace] of data.entries()) {
      const part = trace.stackgroup && FastRedraw.stacked(trace, stack);
      const values = part ? part.map(([, top]) => top) : trace.y;
      const line = trace.mode === "lines" && part !== null ? FastRedraw.line(plot, trace.x, values) : null;
      const nodes = plot.querySelectorAll(`.trace${drawn[n].uid} .js-line`);
      if (!line || nodes.length !== 1) return null;
      found.push([nodes[0], `M${line.join("L")}`]);
      if (part || trace.fill === "tonexty") {
        const floor = part
          ? FastRedraw.line(
              plot,
              trace.x,
              part.map(([floor]) => floor),
            )
          : before;
        const fill = (drawn[n]._ownFill ?? drawn[n - 1]?._nextFill)?.node();
        if (!floor || !fill) return null;
        found.push([fill, `M${line.join("L")}L${floor.toReversed().join("L")}Z`]);
      }
      before = line;
      if (part) stack = values;
    }
    return found;
  }

  // [from, to] of each value of a part of a whole; null where the part before it stands on other steps.
  static stacked({ y }, stack) {
    if (stack && stack.length !== y.length) return null;
    return y.map((value, n) => [stack?.[n] ?? 0, (stack?.[n] ?? 0) + value]);
  }

  // The points of a line in pixels, as “x,y”; null where one of them has no place.
  static line({ _fullLayout: { xaxis, yaxis } }, x, y) {
    const points = x.map((at, n) => [xaxis.c2p(at), y[n] === null ? NaN : yaxis.c2p(y[n])]);
    return points.length && points.flat().every(Number.isFinite)
      ? points.map((point) => point.map((pixels) => Math.round(pixels * 100) / 100).join())
      : null;
  }
}
