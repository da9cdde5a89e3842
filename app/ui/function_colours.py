"""The colours of reward functions: the one place that decides them, so that a function has one colour in all charts of
a run. Pure."""

from collections.abc import Sequence

PALETTE = 8  # --r1 … --r8 of tokens.css


def colours_of_functions(names: Sequence[str]) -> dict[str, str]:
    """The CSS variable of each function. `names`: all of a run, in the order in which its record has them."""
    return {name: f"--r{place % PALETTE + 1}" for place, name in enumerate(names)}
