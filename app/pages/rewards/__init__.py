"""Reward functions: the library, the editor, the builder, and the workbench on which they are tried."""
