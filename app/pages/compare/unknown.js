// What an address of Compare asks for and is not there: a metric that no run has logged, a setting in which none
// differs, a tab, a band that there is none of.

import { params } from "../../ui/address.js";
import { showText } from "../../ui/dom.js";
import { noSuchWords } from "../../ui/text.js";
import { fields, find, runsHere, settingsTold, state } from "./core.js";
import { COLUMNS } from "./tables.js";

const SORTED = ["name", "state", ...COLUMNS.map(([key]) => key)];
const isIn = (known, value) => !value || known.includes(value);

// `metrics`: the names of all that these runs have logged.
export function sayUnknown(metrics) {
  const asked = params();
  const settings = ["settings", ...fields.map(({ name }) => name)];
  const { by, sort } = state;
  const unknown = [
    ...(metrics.length ? state.metrics.filter((name) => !metrics.includes(name)).map((name) => ["metric", name]) : []),
    ...(asked.get("tab") ? [["tab", asked.get("tab")]] : []),
    ...(isIn(["step", "tokens", "time", "attempt"], asked.get("x")) ? [] : [["axis", asked.get("x")]]),
    ...(isIn(["range", "std"], asked.get("band")) ? [] : [["band", asked.get("band")]]),
    ...(isIn(["differ"], asked.get("prompts")) ? [] : [["choice of prompts", asked.get("prompts")]]),
    ...(!asked.get("zoom") || state.zoom ? [] : [["stretch of steps", asked.get("zoom")]]),
    ...(isIn(settings, by) || !settingsTold() || runsHere().length < 2 ? [] : [["differing setting", by]]),
    ...(isIn(SORTED, sort.replace(/^-/, "")) ? [] : [["column", sort.replace(/^-/, "")]]),
  ];
  showText(find(".no-such"), noSuchWords(unknown, "Compare shows the rest of this address."));
}
