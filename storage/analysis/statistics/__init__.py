"""What a run's stored groups and completions say together: ties, solve rates, distributions, agreement."""
