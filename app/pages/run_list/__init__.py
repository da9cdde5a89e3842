"""The runs, as a table."""
