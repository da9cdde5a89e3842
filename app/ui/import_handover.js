// A script on its way from Rewards to New run's import: kept by this tab until it is there.

import { tryStore } from "./browser_store.js";

const KEY = "groupwise:import";
export const IMPORT_PAGE = "/new?import=1";

export const handOver = (text) => tryStore(() => sessionStorage.setItem(KEY, text));
// What was handed over, once; "" where there is nothing.
export function takeHandedOver() {
  const text = tryStore(() => sessionStorage.getItem(KEY)) ?? "";
  tryStore(() => sessionStorage.removeItem(KEY));
  return text;
}
