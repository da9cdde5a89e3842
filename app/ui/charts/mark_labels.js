// On which side of its line a mark's label stands: to the right, or to the left where it would be cut at the chart's
// edge or lie over the label that follows. Where neither side has room the line stands alone.

const SIGN = 7; // px that one takes at most, on average

// `marks`: {at: px from the axis' beginning, text}, `edge`: px up to where words may go. For each "left", "right" (the
// end of the label that is at the line, as Plotly's xanchor has it) or null.
export function anchorLabels(marks, edge) {
  const anchors = marks.map(() => null);
  const fromLast = marks.map((mark, n) => ({ ...mark, n })).sort((a, b) => b.at - a.at || b.n - a.n);
  let free = edge;
  for (const { at, text, n } of fromLast) {
    const wide = text.length * SIGN;
    if (at < 0 || at > edge) continue; // out of sight
    if (at + wide <= free) anchors[n] = "left";
    else if (at <= free && at - wide >= 0) anchors[n] = "right";
    else continue;
    free = anchors[n] === "left" ? at : at - wide;
  }
  return anchors;
}
