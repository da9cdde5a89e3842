// A field that a number is typed into.

import { el } from "./dom.js";
import { withPoint } from "./number.js";

const THOUSANDS = /^[-+]?[1-9]\d{0,2},\d{3}$/;

// As text: what is typed may not be a number yet.
export const numberField = (more) =>
  takeDecimalComma(el("input.input.num", { type: "text", inputmode: "decimal", autocomplete: "off", ...more }));

// Whether a setting of these types takes decimals, and no text.
export const takesDecimals = ({ types }) => types.includes("float") && !types.includes("str");

// A number typed with a decimal comma is taken as it is meant once the field is left: 0,0001 as 0.0001. Not what may as
// well be thousands (1,000), of which the page asks which one is meant.
export function takeDecimalComma(box) {
  box.addEventListener("change", () => {
    const typed = box.value.trim().replace("−", "-");
    const meant = THOUSANDS.test(typed) ? null : withPoint(typed);
    if (meant === null) return;
    box.value = meant;
    box.dispatchEvent(new Event("input", { bubbles: true }));
  });
  return box;
}
