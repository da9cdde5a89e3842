"""The arithmetic task: sums of two numbers below fifty, made rather than downloaded.

Self-contained (standard library only): a run's folder holds a copy as `task.py`.
"""

import random

OPERANDS = range(50)


def rows(count: int, seed: int = 0) -> list[dict[str, str]]:
    """`count` rows such as `{"question": "12+30?", "answer": "42"}`, the same for the same seed.

    The 2,500 distinct sums come in a shuffled order; beyond that they come again, shuffled anew.
    """
    rng = random.Random(seed)
    sums = [(a, b) for a in OPERANDS for b in OPERANDS]
    drawn: list[tuple[int, int]] = []
    while len(drawn) < count:
        # Of the random module only random() is promised to stay the same over Python versions: no shuffle().
        drawn += sorted(sums, key=lambda _: rng.random())
    return [{"question": f"{a}+{b}?", "answer": str(a + b)} for a, b in drawn[:count]]
