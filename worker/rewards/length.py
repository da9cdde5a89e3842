"""Reward for keeping short: full up to a comfortable length, then falling to nothing."""

# A short answer with its thought fits in 64 tokens, so being shorter than that earns no more: a reward for
# every token saved would teach the model to stop thinking. 512 is common practice's limit for reasoning.
FULL_UNTIL = 64
ZERO_FROM = 512


def length(completions: list, completion_ids: list[list[int]], **kwargs: object) -> list[float]:
    """1 up to 64 tokens, falling in a straight line to 0 at 512 tokens.

    Against the drift towards ever longer completions; give it a small weight beside correctness.
    """
    return [score(len(ids)) for ids in completion_ids]


def score(tokens: int) -> float:
    """The reward of a completion of so many tokens."""
    left = (ZERO_FROM - tokens) / (ZERO_FROM - FULL_UNTIL)
    return min(1.0, max(0.0, left))
