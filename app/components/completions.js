// The Completions.
