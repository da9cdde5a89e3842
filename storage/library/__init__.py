"""What runs are made of and are kept for the next: reward functions, presets, capabilities, models."""
