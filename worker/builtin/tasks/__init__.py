"""The built-in tasks: one self-contained file each, copied into a run's folder as task.py."""
