"""The doctor: what a run's record says about how it goes, in verdicts. Pure functions over what `evidence` gathered."""
