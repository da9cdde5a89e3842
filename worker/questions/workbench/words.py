"""What a try of reward functions showed, in sentences: first what matters most."""

from typing import Any

import numpy as np

from groupwise.storage.analysis.doctor.words import percent
from groupwise.storage.analysis.tie_words import TIE_WORDS, TOP
from groupwise.storage.library.rewards.message_lists import MESSAGES, takes_messages_for_text
from groupwise.storage.spec.words.number_words import count_part, count_words
from groupwise.worker.questions.workbench.analysis import SAME, Floats

FAILED = ("error", "timeout")  # the statuses of completions on which a function failed
DOMINATES, ALIKE, AGAINST = 0.9, 0.95, -0.5  # shares and correlations that are worth a sentence


def about_ties(ties: dict[str, int], highest: str = TOP) -> list[str]:
    """How many groups have a signal, and why the others do not. `highest`: what those at the top score are called."""
    count, bearing = ties["groups"], ties["bearing"]
    if not count:
        return []
    if bearing == count:
        whole, each = ("The one group has", "it") if count == 1 else (f"All {count} groups have", "each")
        return [f"{whole} a learning signal: {each} has better and worse completions."]
    why = [
        f"{ties[kind]} {words}"
        for kind, words in (
            *(TIE_WORDS | {"all_high": highest}).items(), ("unscored", "with too few scores"),
        )
        if ties[kind]
    ]  # fmt: skip
    if not bearing:
        return [f"No group has a learning signal: {', '.join(why)}."]
    have = "has" if bearing == 1 else "have"
    others = "The other does not" if count - bearing == 1 else "The others do not"
    groups = f"{bearing} of {count_words(count, 'group')} ({percent(bearing / count)})"
    return [f"{groups} {have} a learning signal. {others}: {', '.join(why)}."]


def about_agreement(found: dict[str, Any]) -> list[str]:
    """Which function decides alone, which pairs say the same or the opposite."""
    names, said = found["names"], []
    if len(names) < 2:
        return []
    for name, share in found["variance_share"].items():
        if share is not None and share >= DOMINATES:
            part = percent(min(share, 1.0))
            said.append(f"{name} decides nearly alone: {part} of the differences in the total come from it.")
    for a, row in enumerate(found["correlation"]):
        for b in range(a + 1, len(names)):
            if row[b] is not None and row[b] >= ALIKE:
                said.append(f"{names[a]} and {names[b]} score nearly the same (correlation {row[b]:.2f}).")
            if row[b] is not None and row[b] <= AGAINST:
                said.append(f"{names[a]} and {names[b]} work against each other (correlation {row[b]:.2f}).")
    return said


def _how_many(count: int) -> str:
    return "both" if count == 2 else f"all {count}"


def count_failed(statuses: list[str]) -> int:
    """On how many completions a function failed, too late included."""
    return sum(statuses.count(status) for status in FAILED)


def about_failures(name: str, statuses: list[str]) -> list[str]:
    """On how many completions one function failed."""
    wrong = count_failed(statuses)
    if not wrong:
        return []
    late = " in time" if statuses.count("timeout") == wrong else ""
    return [f"{name} gave {count_part(wrong, len(statuses), 'completion')} no score{late}: it failed there."]


def about_function(name: str, values: Floats, statuses: list[str], code: str | None = None) -> list[str]:
    """What is odd about one function's scores, where it gave some. `code`: its own, where completions are messages."""
    some = values[~np.isnan(values)]
    if len(some) > 1 and some.max() - some.min() <= SAME:
        why = f" {MESSAGES}" if code and takes_messages_for_text(code, name) else ""
        return [f"{name} does not tell these completions apart: {_how_many(len(some))} earn {some[0]:.3g}.{why}"]
    if not len(some) and statuses and not {"error", "timeout"} & {*statuses}:
        return [f"{name} gave none of the completions a score: it does not apply here."]
    return []
