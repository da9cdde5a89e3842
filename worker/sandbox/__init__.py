"""Where reward functions that someone wrote are run: a process with no network, no secrets and hard limits."""
