// Words in place of a share that says nothing of what is right: who tells it scores otherwise, tells none apart, or has
// scored nothing (storage/library/right.py: one rule, by what was trained on).

import { Span } from "./span.js";

// “” where the share says it. `drawn`: whether there is one.
export function whyNotTold(teller, { curves, live, known, graded }, drawn) {
  const soFar = live ? " so far" : "";
  const logged = (name) => (curves.get(name)?.y ?? []).filter(Number.isFinite);
  const [means, spreads] = ["mean", "std"].map((kind) => logged(`rewards/${teller}/${kind}`));
  if (!drawn) {
    const asked = curves.names.includes(`rewards/${teller}/mean`) && !means.length;
    return asked ? `“${teller}” has scored nothing${soFar}, so it does not tell right from wrong.` : "";
  }
  if (graded) return `“${teller}” ${graded}, so it does not tell right from wrong.`;
  const solved = logged("groups/solved").some((value) => value > 0);
  const constant = means.every((value) => Span.same(value, means[0]));
  const alike = spreads.length > 0 && Math.max(...spreads) < 1e-8;
  if (constant ? !alike || (known && !solved) : known || solved) return "";
  if (constant)
    return `“${teller}” gave every completion the same score${soFar}, so it does not tell right from wrong.`;
  return `“${teller}” has not scored 1${soFar}, which would count as right. Its scores may use another scale.`;
}
