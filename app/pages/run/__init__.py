"""A run: its head, its charts and verdicts, groups, completions, statistics, config, log and checkpoints."""
