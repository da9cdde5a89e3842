// A whole training script without a reward function of its own, or with one that a call makes: it is taken over under
// New run, and not here.

import { IMPORT_PAGE, handOver } from "../../ui/import_handover.js";
import { button } from "./core.js";

export const isOfScript = ({ kind }) => kind === "script";
export const isOfMaker = ({ kind }) => kind === "maker";
// A button that opens New run's import with the text; none where the text is something else.
export function offerImport(problems, text) {
  if (!problems.some((one) => isOfScript(one) || isOfMaker(one))) return [];
  const go = () => {
    handOver(text);
    location.href = IMPORT_PAGE;
  };
  return [button("Import it under New run", go, "btn s")];
}
