"""The tests, by feature."""
