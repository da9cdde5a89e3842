// From a problem to where it can be fixed: its field, in the form, or its line, in the YAML.

import { reveal } from "./all_settings.js";
import { page } from "./core.js";
import { fieldOf } from "./fields.js";
import { showView } from "./views.js";

// Of a place with several controls the one in which something is chosen, such as the file of the data.
function controlOf(node) {
  const seen = [...node.querySelectorAll("input, select, textarea, button")].filter((one) => one.offsetParent);
  return seen.find((one) => one.closest(".which")) ?? seen[0];
}
export function goTo(problem) {
  if (page.view?.unreadable) return showView("yaml", problem.line);
  if (fieldOf(problem) === undefined && problem.field) reveal(problem.field);
  const place = fieldOf(problem);
  if (!place) return showView(problem.line ? "yaml" : "form", problem.line);
  showView("form");
  place.node.closest("details")?.setAttribute("open", "");
  place.node.scrollIntoView({ block: "center" });
  (place.box ?? controlOf(place.node))?.focus();
}
