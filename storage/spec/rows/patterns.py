"""Regular expressions that a person wrote for their data: checked as Python reads them, and searched for with a limit
on the time. The run's plain script searches with `re`, which cannot be ended; what takes so long here never launches.
"""

import functools
import re
from typing import Any

import regex

from groupwise.storage.spec.rows.pattern_words import say_fault

# A brace that begins no repetition is itself in `re`, and in `regex` “about this text” (2{d}: a 2, or nothing).
_PLAIN_BRACE = re.compile(r"(\\N\{[^}]*\}|\\.)|\{(?!\d*,?\d*\})", re.DOTALL)

SECONDS = 0.25  # for one cell; a pattern that is not caught in a tangle takes some microseconds


class TooSlow(Exception):
    """A search was given up; the message says why that may be, and goes on a sentence that names the pattern."""

    def __init__(self) -> None:
        super().__init__(
            f"takes more than {SECONDS} s on one cell: it can match the same text in too many ways, as (a|aa)+ does. "
            "Make it more specific"
        )


def fault(pattern: str) -> str:
    """Why this is no regular expression; "" where it is one."""
    try:
        re.compile(pattern)
        _compile(pattern)
    except re.error as error:
        return say_fault(error)
    except (regex.error, OverflowError, RecursionError, MemoryError) as error:
        return str(error) or "it is nested too deeply"
    return ""


@functools.lru_cache(maxsize=64)
def _compile(pattern: str, flags: int = 0) -> Any:
    return regex.compile(_PLAIN_BRACE.sub(lambda found: found[1] or r"\{", pattern), flags)


def search_pattern(pattern: str, text: str, flags: int = 0, *, whole: bool = False) -> Any:
    """The first match in a text (`whole`: of all of it); None where there is none. `flags` are those of `re`. Raises
    TooSlow."""
    compiled = _compile(pattern, flags)
    try:
        return (compiled.fullmatch if whole else compiled.search)(text, timeout=SECONDS, concurrent=True)
    except TimeoutError as error:
        raise TooSlow from error
