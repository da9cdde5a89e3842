"""Runs beside each other: which are compared, their curves, what differs between them, their shared prompts."""
