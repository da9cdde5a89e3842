// Words put together.

// What there is to say, on one line.
export const dotted = (...words) => words.filter(Boolean).join(" · ");
// Things as one names them: data, steps and temperature.
export const listed = (words) =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
