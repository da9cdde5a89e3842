// What stands below the estimates is brought into sight.

import { page, settled, settleIn } from "./core.js";

// They are made only once they are in sight, and would push it out again.
export async function bringBelowEstimates(node) {
  const unseen = page.preflightUnseen;
  const show = () => node.scrollIntoView({ block: "start" });
  page.preflightUnseen = false;
  show();
  if (!unseen) return;
  settleIn(0);
  await settled();
  show();
}
