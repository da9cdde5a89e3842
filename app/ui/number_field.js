// A field that a number is typed into.

import { el } from "./dom.js";
import { withPoint } from "./number.js";

const THOUSANDS = /^[-+]?[1-9]\d{0,2}[.,]\d{3}$/;
const WHOLE = /^([-+]?\d+)[.,]0+$/;

// As text: what is typed may not be a number yet.
export const numberField = (more) =>
  takeOnLeaving(decimalOf, el("input.input.num", { type: "text", inputmode: "decimal", autocomplete: "off", ...more }));

// Takes what is typed into the field of a setting of these types as the number that it can only mean, once the field is
// left: 0,0001 as 0.0001, and where a whole number can stand 64,0 as 64. Not what may as well be thousands (1,000), of
// which the page asks which one is meant.
export function takeNumber(box, { types }) {
  const ways = [types.includes("int") && wholeOf, types.includes("float") && decimalOf].filter(Boolean);
  const meantBy = (typed) => ways.map((way) => way(typed)).find((meant) => meant !== null) ?? null;
  return ways.length && !types.includes("str") ? takeOnLeaving(meantBy, box) : box;
}
const decimalOf = (typed) => (THOUSANDS.test(typed) ? null : withPoint(typed));
const wholeOf = (typed) => (THOUSANDS.test(typed) ? null : (WHOLE.exec(typed)?.[1] ?? null));
function takeOnLeaving(meantBy, box) {
  box.addEventListener("change", () => {
    const meant = meantBy(box.value.trim().replace("−", "-"));
    if (meant === null) return;
    box.value = meant;
    box.dispatchEvent(new Event("input", { bubbles: true }));
  });
  return box;
}
