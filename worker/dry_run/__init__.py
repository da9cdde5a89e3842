"""“Try one step”: the process that tries, and what the supervisor does about it."""
