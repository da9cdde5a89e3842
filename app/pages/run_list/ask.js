// A question in a dialog before something is done to many runs.

import { setText, showText } from "../../ui/dom.js";
import { find } from "./core.js";

const dialog = find("dialog.ask");
const field = dialog.querySelector("input");

// What was written in the field, or true where there is none; null where it was cancelled.
export function ask({ title, text, field: label = "", yes }) {
  setText(dialog.querySelector("h2"), title);
  showText(dialog.querySelector("p"), text);
  setText(dialog.querySelector(".yes"), yes);
  setText(dialog.querySelector("label span"), label);
  dialog.querySelector("label").hidden = !label;
  field.value = "";
  dialog.returnValue = "";
  dialog.showModal();
  (label ? field : dialog.querySelector("[value=cancel]")).focus();
  return new Promise((done) => {
    dialog.addEventListener("close", () => done(dialog.returnValue === "yes" ? (label ? field.value : true) : null), {
      once: true,
    });
  });
}
// Enter in the field is what the button on the right does, not the first one.
field.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  dialog.close("yes");
});
