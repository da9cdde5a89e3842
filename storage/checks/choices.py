"""Of a setting with a list of values to choose from: which few are named, and which one was meant. Pure."""

import re
from collections.abc import Sequence

from groupwise.storage.checks.algorithms import are_algorithms, meant_algorithm
from groupwise.storage.spec.words.problem import nearest_name

FEW = 8  # choices that a sentence names
# The optimisers of transformers that need a package of their own, or other hardware: never what a slip meant.
_SPECIAL = re.compile(
    ".*(bnb|[48]bit|32bit|paged|lion|ademamix|galore|apollo|lomo|grok|schedule_free|stable|anyprecision|xla|npu).*"
)


def choices_in_words(choices: Sequence[object], default: object) -> str:
    """“grpo, dapo, bnpo”; of many the usual ones, and how many there are."""
    names = [str(choice) for choice in choices]
    if len(names) <= FEW + 4:
        return ", ".join(names)
    usual = [str(default)] if str(default) in names else []
    few = list(dict.fromkeys([*usual, *_plain(names), *names]))[:FEW]
    return f"{', '.join(few)} and {len(names) - FEW} more"


def meant_choice(value: object, choices: Sequence[object], default: object) -> str | None:
    """The choice that was meant by a text that is none: of those that it begins (adamw) the one that the default begins
    with (adamw_torch of adamw_torch_fused), else the nearest in writing."""
    names, text = [str(choice) for choice in choices], str(value).strip().casefold()
    if are_algorithms(names):
        return meant_algorithm(value, names)
    begun = [name for name in names if text and name.casefold().startswith(f"{text}_")]
    related = [name for name in begun if str(default).startswith(name)]
    return min(related, key=len, default=None) or nearest_name(str(value), _plain(names))


def _plain(names: list[str]) -> list[str]:
    plain = [name for name in names if not _SPECIAL.fullmatch(name)]
    return plain or names
