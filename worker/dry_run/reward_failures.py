"""What failed in the reward functions of a tried step, in sentences: a run would say the same, and end by it."""

import re
from collections import Counter
from typing import Any

from groupwise.storage.registry.messages.dry_run import TEXT, RewardFailure
from groupwise.storage.spec.words.number_words import count_part
from groupwise.worker.training.failures import FAILED, failure_kind
from groupwise.worker.training.scoring import Note

MOST = 3  # different failures of one function that are said; a step may have one for each completion
_RAISED = re.compile(r"(?P<kind>[A-Za-z_][\w.]*)(?:: (?P<why>.*))?", re.DOTALL)  # what Python says of an exception


def reward_failures(notes: list[Note]) -> list[RewardFailure]:
    """The failures of each function, the most frequent first."""
    found: list[RewardFailure] = []
    for name in dict.fromkeys(note.function for note in notes):
        found += _of_function(name, [note for note in notes if note.function == name])
    return found


def _of_function(name: str, notes: list[Note]) -> list[RewardFailure]:
    counted: Counter[tuple[int | None, str]] = Counter()
    firsts: dict[tuple[int | None, str], dict[str, Any]] = {}
    for note in notes:
        unscored = [status in FAILED for status in note.statuses]
        by_row = [one for one in note.failures if one["row"] is not None and unscored[one["row"]]]
        of_all = [one for one in note.failures if one["row"] is None][:1]
        for one in [*by_row, *of_all] or ([{"message": "It gave no reason."}] if any(unscored) else []):
            kind = failure_kind(one)
            firsts.setdefault(kind, one)
            counted[kind] += 1 if one.get("row") is not None else sum(unscored) - len(by_row)
    completions = sum(len(note.statuses) for note in notes)
    return [
        RewardFailure(
            function=name,
            failed=failed,
            completions=completions,
            sentence=_say(name, firsts[kind], failed, completions),
        )
        for kind, failed in counted.most_common(MOST)
    ]


def _say(name: str, first: dict[str, Any], failed: int, completions: int) -> str:
    message, line = str(first["message"])[:TEXT].rstrip("."), first.get("line")
    if not failed:
        return f"{name} gave its scores, but: {message}."
    on = f"on {count_part(failed, completions, 'completion')}"
    if line and (raised := _RAISED.fullmatch(message)):
        why = f": {raised['why']}" if raised["why"] else ""
        return f"{name} raised {raised['kind']} at line {line}, {on}{why}."
    at = f" (line {line})" if line else ""
    return f"{name} gave no score {on}: {message}{at}."
