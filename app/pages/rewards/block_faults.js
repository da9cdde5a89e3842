// A block compares with a column that the data does not have: what one click does about it.

import { compareWith, showColumn } from "./builder.js";
import { button, page } from "./core.js";
import { plain } from "./text.js";

// What is said of it (block_problems.py); null where every block has its column.
export const columnFault = () => page.problems.find(({ blocks, kind }) => blocks && kind !== "secret") ?? null;
// The buttons: the file read otherwise, where that is what is wrong; the column that is meant; else the block itself.
export function waysOut({ block, meant }) {
  if (page.slip) return page.slip.fixes.map(({ label, take }) => button(label, take));
  if (block === null) return [];
  if (meant) return [button(`Use “${plain(meant)}”`, () => compareWith(block, meant))];
  return [button("Choose the column", () => showColumn(block))];
}
