// Which data a function was built on, kept in this browser: opened again, its blocks stand beside the same rows.

import { tryStore } from "../../ui/browser_store.js";

const BUILT_ON = "groupwise:rewards:built:";
// {value: as the list of data has it, or “text:” and settings; label: where its rows are from}; null where unknown.
export function builtOn(name) {
  const kept = tryStore(() => JSON.parse(localStorage.getItem(BUILT_ON + name)));
  return typeof kept?.value === "string" ? kept : null;
}
export const keepBuiltOn = (name, kept) => tryStore(() => localStorage.setItem(BUILT_ON + name, JSON.stringify(kept)));
