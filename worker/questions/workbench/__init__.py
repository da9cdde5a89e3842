"""The reward workbench's worker side: completions to try functions on, their scores, and a run scored anew."""
