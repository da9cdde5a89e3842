"""What a run will need and do, worked out before anything is started."""
