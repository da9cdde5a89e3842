// From a problem to where it can be fixed: its field, in the form, or its line, in the YAML.

import { reveal } from "./all_settings.js";
import { page } from "./core.js";
import { fieldOf } from "./fields.js";
import { showView } from "./views.js";

export function goTo(problem) {
  if (page.view?.unreadable) return showView("yaml", problem.line);
  if (fieldOf(problem) === undefined && problem.field) reveal(problem.field);
  const place = fieldOf(problem);
  if (!place) return showView(problem.line ? "yaml" : "form", problem.line);
  showView("form");
  place.node.closest("details")?.setAttribute("open", "");
  place.node.scrollIntoView({ block: "center" });
  (place.box ?? place.node.querySelector("input, select, textarea, button"))?.focus();
}
