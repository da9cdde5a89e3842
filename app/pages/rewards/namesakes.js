// Who has the name already that a function is to have: said while one writes it, not only once one saves.

import { page } from "./core.js";
import { plain } from "./text.js";

// {few, all}: in a few words beside the title, and in full at the field of the name; both empty where the name is free.
export function namesake(name) {
  const { open } = page;
  const same = (one) => one.name.toLowerCase() === name.toLowerCase();
  const ours = page.about.library.built_in.find(same);
  if (!name || open.builtIn || (open.hash && open.name === name)) return { few: "", all: "" };
  if (ours) return takenWords(ours.name, "ships with Groupwise", "Choose another name.");
  const own = page.about.library.own.find(same);
  if (!own) return { few: "", all: "" };
  const isWhole = own.name === name;
  const what = isWhole
    ? "Choose another name, or save this as a version of that one: you are asked first."
    : "Use that name, or one that differs in more than case.";
  return takenWords(own.name, "is in your library already", what);
}
const takenWords = (name, where, what) => ({ few: `; this name ${where}`, all: `“${plain(name)}” ${where}. ${what}` });
