"""Of a setting with a list of values to choose from: which few are named, and which one was meant. Pure."""

import re
from collections.abc import Sequence

from groupwise.storage.checks.algorithms import are_algorithms, letters_of, meant_algorithm
from groupwise.storage.spec.words.problem import nearest_name

ALIKE = 0.75  # of a word, from where on it is a slip of another
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
    special = [name for name in names if _SPECIAL.fullmatch(name) and letters_of(name) == letters_of(text)]
    if special:  # that one by its own name, and no slip of a plain one
        return special[0]
    if _SPECIAL.fullmatch(text):  # what is asked for is none of the plain ones
        return nearest_name(text, [name for name in names if _SPECIAL.fullmatch(name)])
    near = min(related, key=len, default=None) or nearest_name(str(value), _plain(names))
    return near or _by_first_word(text, _plain(names), default)


def _by_first_word(text: str, names: list[str], default: object) -> str | None:
    """The choice whose first word is meant by a slip of that alone (adamm): the one that the default begins with."""
    close = nearest_name(text, [name.partition("_")[0] for name in names], ALIKE)
    begun = [name for name in names if close and name.partition("_")[0] == close]
    related = [name for name in begun if str(default).startswith(name)]
    return min(related or begun, key=len, default=None)


def _plain(names: list[str]) -> list[str]:
    plain = [name for name in names if not _SPECIAL.fullmatch(name)]
    return plain or names
