"""One thing that `groupwise doctor` looked at: how it is, and what to do where it is not well."""

from dataclasses import dataclass

OK, NOTE, PROBLEM = "ok", "note", "problem"
MARKS = {OK: "✓", NOTE: "▲", PROBLEM: "✗"}  # of different shapes: colours say nothing here


@dataclass(frozen=True)
class Finding:
    """What was looked at, its state, what was found, and what to do: "" only where the state is OK.

    A PROBLEM keeps runs from training; a NOTE should be known, and keeps none.
    """

    name: str
    state: str
    says: str
    do: str = ""
