"""Whether a function that gets the answer scored a right completion otherwise than a wrong one, when it was called with
both for a few rows. Pure."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from groupwise.storage.analysis.doctor.words import short_number
from groupwise.storage.library.rewards import signature
from groupwise.storage.library.rewards.form_alone import looks_at_form_alone
from groupwise.storage.library.rewards.message_lists import CONTENT, MESSAGES, takes_messages_for_text
from groupwise.storage.record.group_metrics import TIED
from groupwise.storage.registry.messages.functions import Function
from groupwise.storage.spec.python_source import visible
from groupwise.storage.spec.syntax_tree import parse_module
from groupwise.storage.spec.words.number_words import count_words

ANSWER = "answer"  # the name that the mapped answer is given by, beside its column's own
SHOWN = 60  # characters of a completion that are quoted: its end, where the answer stands
TRY = "Does it need another format? Try it on rows under Rewards."
LOOKS_FOR_MORE = (
    "Empty and long ones are among them. Does it look for something that none of them has? Try it on rows under "
    "Rewards."
)

Scores = Sequence[float | None]


@dataclass(frozen=True)
class Pair:
    """The completions of a row, right and wrong, at `first` and the place after it among those of the call."""

    answer: str
    right: str
    wrong: str
    first: int


def gets_answer(function: Function, column: str | None) -> bool:
    """Whether it takes the mapped answer (`column`: where the data has it), and reads it: one that scores by form alone
    may give both the same."""
    code = function.code or ""
    found = signature.analyse(code, function.name).functions
    names = {ANSWER, column}
    taken = bool(found) and (not names.isdisjoint(found[0].places) or _names_as_text(code, names))
    return taken and not looks_at_form_alone(code, function.name)


def _names_as_text(code: str, names: set[str | None]) -> bool:
    """Whether it takes one of these by kwargs["answer"]."""
    slices = (node.slice for node in ast.walk(parse_module(code)) if isinstance(node, ast.Subscript))
    return any(isinstance(one, ast.Constant) and one.value in names for one in slices)


def is_same_for_all(scores: Scores) -> bool:
    """Whether there are scores, of all completions, and all are one."""
    given = [score for score in scores if score is not None]
    return 0 < len(given) == len(scores) and max(given) - min(given) <= TIED


def say_same_for_all(scores: Scores, why: str) -> str:
    """What is said where `is_same_for_all`, of sample completions."""
    made = count_words(len(scores), "sample completion")
    return f"does not tell {made} apart: all earn {short_number(scores[0] or 0.0)}. {why}"


def say_tells_none(function: Function, pairs: Sequence[Pair], scores: Scores, chats: bool) -> str:
    """What is said where it gave all of them one score; “” where it did not, or nothing can be told. `chats`: whether
    a completion is a list of messages."""
    given = [score for pair in pairs for score in scores[pair.first : pair.first + 2] if score is not None]
    if not pairs or len(given) < 2 * len(pairs) or max(given) - min(given) > TIED:
        return ""
    if given[0] > 0 and any(_holds_right(pair) for pair in pairs):
        return ""  # “not Paris” holds “Paris”: the wrong one may be what is no good
    shown = pairs[0]
    return (
        f"gives {short_number(given[0])} to a right answer as well as to a wrong one: it tells none apart. It was "
        f"called with {_quote_end(shown.right)} where that is right, and with {_quote_end(shown.wrong)}. "
        f"{_say_what_to_do(function, chats)}"
    )


def _holds_right(pair: Pair) -> bool:
    return pair.answer.strip().lower() in pair.wrong.lower()


def _say_what_to_do(function: Function, chats: bool) -> str:
    code = function.code or ""
    takes_for_text = takes_messages_for_text(code, function.name) or CONTENT not in code
    return MESSAGES if chats and takes_for_text else TRY


def _quote_end(text: str) -> str:
    shown = visible(" ".join(text.split()))
    return f"“{shown if len(shown) <= SHOWN else '…' + shown[1 - SHOWN :]}”"
