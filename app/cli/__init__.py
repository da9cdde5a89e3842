"""The command: what it takes, and each of its parts."""
