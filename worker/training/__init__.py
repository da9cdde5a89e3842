"""One run: spec → trainer → record, stage by stage, with its checkpoints and its end."""
