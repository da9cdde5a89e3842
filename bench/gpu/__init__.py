"""What a machine with a GPU does with real shapes of models: memory against the estimate, time, and what is freed."""
