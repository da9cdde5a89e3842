// Words put together.

// What there is to say, on one line.
export const dotted = (...words) => words.filter(Boolean).join(" · ");
