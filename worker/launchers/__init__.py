"""Ways to start a run's training process, one file each."""
