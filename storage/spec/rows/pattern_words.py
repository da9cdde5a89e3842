"""Why a text is no regular expression, in words: “the ( at character 1 is never closed”. Pure."""

import re
from collections.abc import Callable

# How Python's message begins → what it means, of what stands at the place that it names, and of the message's rest.
_WORDS: dict[str, Callable[[str, str], str]] = {
    "missing ), unterminated subpattern": lambda at, rest: f"the ( at {at} is never closed",
    "missing )": lambda at, rest: "a ( is never closed",
    "unbalanced parenthesis": lambda at, rest: f"the ) at {at} closes nothing",
    "unterminated character set": lambda at, rest: f"the [ at {at} is never closed",
    "nothing to repeat": lambda at, rest: f"at {at} something is to be repeated, but nothing stands before it",
    "multiple repeat": lambda at, rest: f"at {at} what is repeated is to be repeated again",
    "min repeat greater than max repeat": lambda at, rest: f"in the {{…}} at {at} the first number is above the second",
    "bad escape (end of pattern)": lambda at, rest: "it ends with a single \\. For the sign itself write \\\\",
    "bad escape": lambda at, rest: f"{rest} at {at} means nothing. For the sign itself write \\\\",
    "bad character range": lambda at, rest: f"the range {rest} at {at} runs backwards",
    "look-behind requires fixed-width pattern": lambda at, rest: "what is in (?<=…) must have one fixed length",
    "unknown extension": lambda at, rest: f"no group begins with ({rest.removesuffix(' ')}, as at {at}",
    "missing group name": lambda at, rest: f"the group at {at} has no name",
    "missing >, unterminated name": lambda at, rest: f"the group's name at {at} is not closed with a >",
    "unknown group name": lambda at, rest: f"there is no group named {rest}",
    "bad character in group name": lambda at, rest: f"{rest} cannot be the name of a group",
    "invalid group reference": lambda at, rest: f"there is no group {rest}",
}  # fmt: skip


def say_fault(error: re.error) -> str:
    """A fault of a pattern in our words; of one that these do not know in Python's."""
    at = "its end" if error.pos is None else f"character {error.pos + 1}"
    begun = next((known for known in _WORDS if error.msg.startswith(known)), None)
    if begun is None:
        return f"Python says “{error}”"
    return _WORDS[begun](at, error.msg.removeprefix(begun).strip())
