"""What Compare knows of runs: which are compared, what differs between them, their shared prompts."""
