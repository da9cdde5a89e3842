"""What tied groups are called, on every page. The top score is the most that was seen: that need not be the most there
is, and a group of answers that are all wrong the same way is not solved. Pure."""

from groupwise.storage.analysis.doctor.words import short_number
from groupwise.storage.record.group_metrics import TIED

TOP = "all at top score"
# By group_metrics.kind.
TIE_WORDS = {"all_low": "all at lowest score", "all_high": TOP, "other": "tied otherwise"}
NONE_RIGHT = "none right"  # of those that count as all_low, where a function says what is right
NO_ANSWER = "no answer in row"  # nothing could be right: such a group did not fail


def tie_words(*, tells_right: bool) -> dict[str, str]:
    """The same of a run in which a function says what is right, or none does; last what was no try at all."""
    return TIE_WORDS | ({"all_low": NONE_RIGHT} if tells_right else {}) | {"no_answer": NO_ANSWER}


def say_top(value: float, most: float | None) -> str:
    """In words, for one or several groups at the top score. `value`: what all of them earned; `most`: the most that is
    possible (best_possible.most_possible), None where that is not known."""
    if most is not None and is_highest(value, most):
        return TOP
    of = "the highest seen" if most is None else f"of {_say_score(most)} at most"
    return f"{TOP}: {_say_score(value)}{',' if most is None else ''} {of}"


def is_highest(value: float, most: float | None) -> bool:
    """Whether no completion can earn more; False where that is not known."""
    return most is not None and value >= most - TIED


def _say_score(value: float) -> str:
    return f"{value:.2f}" if 0.01 <= value < 1000 else short_number(value)
