// What an import said, as far as it is still so. Pure.

const SET = "Set by the import: ";
const ONE_WORD = /^(\S+) (\S+)(?: \([^()]*\))?$/; // a setting, its value, and why

const BECAME = / became answer_numbers: (\w+), which /; // of the script's data, and goes with it

// A note without the settings that were changed since; “” where it names none any more. `valueAt`: what a setting is
// now, by its path; undefined for what is no setting of the form.
export function stillTrue(note, valueAt) {
  const [, numbers] = note.match(BECAME) ?? [];
  if (numbers) return [undefined, numbers].includes(valueAt("data.answer_numbers")) ? note : "";
  if (!note.startsWith(SET)) return note;
  const isSo = (said) => {
    const [, path, value] = said.match(ONE_WORD) ?? [];
    const now = path && valueAt(path);
    return now === undefined || now === value;
  };
  const left = note.slice(SET.length, -1).split(", ").filter(isSo);
  return left.length ? `${SET}${left.join(", ")}.` : "";
}
