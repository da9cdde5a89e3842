"""What a tied group is called whose completions all earned the most that was seen: that need not be the most there is,
and a group of answers that are all wrong the same way is not solved. Pure."""

from groupwise.storage.analysis.doctor.words import short_number
from groupwise.storage.record.group_metrics import TIED

HIGHEST = "all at the highest"
SEEN = "all highest seen"  # of groups of several steps, and where there is room for no more


def say_highest(value: float, most: float | None) -> str:
    """In words, for one or several groups. `value`: what all of them earned; `most`: the most that is possible
    (best_possible.most_possible), None where that is not known."""
    if is_highest(value, most):
        return HIGHEST
    alike = f"all alike at {_say_score(value)}"
    return alike if most is not None else f"{alike}, the highest seen"


def say_highest_shortly(value: float, most: float | None) -> str:
    """The same in few words, beside the value."""
    if is_highest(value, most):
        return HIGHEST
    return SEEN if most is None else "all alike"


def is_highest(value: float, most: float | None) -> bool:
    """Whether no completion can earn more; False where that is not known."""
    return most is not None and value >= most - TIED


def _say_score(value: float) -> str:
    return f"{value:.2f}" if 0.01 <= value < 1000 else short_number(value)
