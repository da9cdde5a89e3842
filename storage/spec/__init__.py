"""What a run is asked to be: the RunSpec, its YAML, and what can be wrong with it."""
