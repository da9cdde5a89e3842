// Whose answers stand beside the rows, in words: as they are there, and while they come.

export const HOW = {
  probes: "The answers are examples: change them, and see what each block gives.",
  model: "The model wrote these, as it is before training. Change them, and see what each block gives.",
};
export const STILL = {
  probes: "Loading the examples… Until then, these are the earlier answers.",
  model: "Generating answers… Until then, these are the earlier answers.",
  run: "Loading the run's answers… Until then, these are the earlier answers.",
};
