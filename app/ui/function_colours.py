"""The colours of reward functions: the one place that decides them, so that a function has one colour in all charts of
a run. Pure."""

from collections.abc import Sequence

PALETTE = 20  # --r1 … --r20 of tokens.css; the first eight are the easiest to tell apart


def colours_of_functions(names: Sequence[str]) -> dict[str, str]:
    """The CSS variable of each function. `names`: all of a run, in the order in which its record has them."""
    return {name: f"--r{place % PALETTE + 1}" for place, name in enumerate(names)}
