"""Whether a reward function is seen to give every completion one score."""

import pytest

from groupwise.storage.library.rewards.constant_score import constant_score

BODIES = {
    "return [0.0] * len(completions)": 0.0,
    "return len(completions) * [-1]": -1.0,
    "return [0.5 for _ in completions]": 0.5,
    "return [score(one) for one in completions]": 0.25,
    "scores: list[float] = []\n    for one in completions:\n        scores.append(0)\n    return scores": 0.0,
    "if not completions:\n        return [1.0]\n    return [1.0] * len(completions)": None,
    "return [0.0 if one else 1.0 for one in completions]": None,
    "return [1.0 for one in completions if one]": None,
    "return [float(len(one)) for one in completions]": None,
    "return [tell(one) for one in completions]": None,
    "scores = []\n    scores.append(0.0)\n    scores[0] = len(completions)\n    return scores": None,
    "scores, other = list(completions), []\n    other = []\n    scores.append(0.0)\n    return scores": None,
    "return completions": None,
}
HELPERS = (
    "def score(text):\n    return 0.25\n\n\ndef tell(text):\n    if text:\n        return 1.0\n    return 0.0\n\n\n"
)


@pytest.mark.parametrize("body", BODIES)
def test_one_score_for_all_is_seen_in_the_code(body: str) -> None:
    code = f"{HELPERS}def mine(completions, **kwargs):\n    {body}\n"
    assert constant_score(code, "mine") == BODIES[body]
    assert constant_score(f"{HELPERS}@wrapped\ndef mine(completions, **kwargs):\n    {body}\n", "mine") is None
