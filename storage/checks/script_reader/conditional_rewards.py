"""Rewards of which a condition that nobody can decide here decides: as with settings, what holds where it is not met is
taken, and the rest is named."""

from groupwise.storage.checks.script_reader.reading import CONDITION, Reading, quote_code
from groupwise.storage.checks.script_reader.values import (
    LAMBDA,
    Either,
    Function,
    Made,
    Outer,
    Perhaps,
    Value,
    plain_or,
)

WRAPPERS = ("with_parameters", "partial")  # storage.checks.script's own, and how people do it: functools.partial
_HOW_TO_TAKE = "To use it, save its code under Rewards, unless it is built in, and choose it here."


def reward_where_unmet(reading: Reading, value: Value) -> Value | None:
    """A reward as it is where no condition is met that it depends on, with a note; None where it is not there then."""
    if isinstance(value, Perhaps) and value.unmet:
        _note_taken(reading, value.of, value)
        return reward_where_unmet(reading, value.of)
    options = value.options if isinstance(value, Either) else [value.of] if isinstance(value, Perhaps) else []
    unmet = value.unmet if isinstance(value, Either) and _is_there(value.unmet) else None
    for one in options:
        if one is not unmet and _is_there(one):
            reading.note(_quoted(one), value, f"{CONDITION}: it was not taken. {_HOW_TO_TAKE}")
    if unmet is not None:
        _note_taken(reading, unmet, value)
    return unmet if options else value


def _note_taken(reading: Reading, reward: Value, at: Value) -> None:
    reading.note(_quoted(reward), at, f"{CONDITION}: it was taken (condition not met).")


def _is_there(value: Value | None) -> bool:
    """Whether there is anything: not None, as in [right, bonus if long else None]."""
    return value is not None and plain_or(value, ...) is not None


def _quoted(value: Value) -> str:
    """A reward by its name, as the script has it; one without a name by its code."""
    if isinstance(value, Function) and value.name != LAMBDA:
        return f"“{value.name}”"
    if isinstance(value, (Either, Perhaps)):
        return _quoted(value.options[0] if isinstance(value, Either) else value.of)
    if isinstance(value, Made) and value.name in WRAPPERS and value.arguments:
        return _quoted(value.arguments[0])
    return f"“{value.path.rpartition('.')[2]}”" if isinstance(value, (Outer, Made)) else quote_code(value.node)
