"""From a spec's data to prompts and answers: for training, and for a look at any row of it."""
