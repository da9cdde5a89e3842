"""Reward functions that people write: their library, what can be read from their code, and how their weights move."""
