// Words put together.

// What there is to say, on one line.
export const dotted = (...words) => words.filter(Boolean).join(" · ");
// The beginning of a text that is longer than that.
export const cut = (text, most) => (text.length > most ? `${text.slice(0, most)}…` : text);
// A sentence begins with a capital, but a name (broken.jsonl, gpt2) stays as it is.
export const sentence = (words) =>
  /^[a-z]+(?=[\s,:;’'])/.test(words) ? words.charAt(0).toUpperCase() + words.slice(1) : words;
// Things as one names them: data, steps and temperature.
export const listed = (words) =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
