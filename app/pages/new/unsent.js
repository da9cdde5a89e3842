// What is far too large for a spec is not sent: no request may be as large (MAX_REQUEST, app/server/guard.py).
// What the server would say of it is said here. Pure.

const TIMES = 8; // as large as a spec may be; of less than that the server says which setting is so large
const bytes = (text) => new Blob([text]).size;

// What stands for the answer of edit_settings to this; null where it can be sent. `most`: bytes of a spec.
export function unsent({ text, edits }, most) {
  const words = `larger than ${most / 1024} KB.`;
  if (bytes(text) > TIMES * most) {
    const message = `The spec is ${words}`;
    const problem = { field: "", message, line: null, level: "blocking", fixes: [] };
    return { text, unreadable: { message, line: null, problems: [problem] } };
  }
  const isLarge = bytes(JSON.stringify(edits)) > TIMES * most;
  return isLarge ? { sentence: `What you typed is ${words} A spec has at most that, in all.`, fault: true } : null;
}
