"""A run's record, run.db: written once a step, read by the pages."""
