"""The built-in reward functions: one self-contained file each, copied into a run's `rewards/` folder."""
