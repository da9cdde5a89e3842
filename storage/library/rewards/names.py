"""What a reward function may be called, and the names that TRL gives to every reward function. Pure."""

import builtins
import keyword
import re
from collections.abc import Collection

# What TRL 1.16 hands to every reward function, beside the dataset's columns.
TRL_ARGUMENTS = ("prompts", "completions", "completion_ids", "trainer_state", "log_extra", "log_metric")
# A dataset's columns of these names are not handed on: TRL has them under the name in the plural.
NOT_GIVEN = {"prompt": "prompts", "completion": "completions"}
LONGEST = 64
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def problem_with(name: str, taken: Collection[str] = ()) -> str:
    """Why a function cannot have this name, as a sentence; empty where it can. `taken`: names of the built-in ones."""
    if not name:
        return "Give the function a name."
    if len(name) > LONGEST:
        return f"The name has {len(name)} characters; {LONGEST} is the most."
    if not NAME.fullmatch(name):
        return f"“{name}” cannot be a function's name. Use letters, digits and _, and begin with a letter."
    if keyword.iskeyword(name):
        return f"“{name}” is a word of Python itself. Choose another name."
    if name in TRL_ARGUMENTS or name in ("args", "kwargs"):
        return f"“{name}” is what TRL calls an argument of every reward function. Choose another name."
    if name.casefold() in {word.casefold() for word in taken}:
        return f"“{name}” is a reward function that ships with Groupwise. Choose another name."
    if hasattr(builtins, name):
        return f"“{name}” would hide Python's own {name}. Choose another name."
    return ""
