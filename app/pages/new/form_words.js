// What is said of settings, in the form's words: a field's label first, its name second.

import { sentence } from "../../ui/text.js";
import { page } from "./core.js";

const NAME = /“[^”]*”|`[^`]*`|[\w.]*[a-z]_[a-z]\w*/g; // what is quoted is meant as it is written
const SECTIONS = ["training", "lora", "data", "model", "launch"];

function labelled(name) {
  const paths = [name, ...SECTIONS.map((section) => `${section}.${name}`)];
  const known = page.form.fields.find(({ path }) => paths.includes(path));
  return known ? `“${known.label}” (${name})` : name; // quoted: “Use liger kernel” is no request
}
// The message of a problem as a sentence. `of`: what it is about, where the message begins with what is wrong with it.
const WITHOUT_SUBJECT = /^(should|must|is|has|cannot) /;
export const inFormWords = ({ message }, of = "") =>
  sentence((of && WITHOUT_SUBJECT.test(message) ? `${of} ${message}` : message).replace(NAME, labelled));
