"""Reward for the right answer: what a completion answers, compared with its dataset row."""

import re
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import Literal

# The sign belongs to the number only where it cannot be a minus between two terms, as in 5-3.
NUMBER = re.compile(r"(?:(?<![\w.)])[-+])?(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?")
WAYS = ("auto", "tag", "number", "boxed", "line", "all")
# Room for any number of digits: Python's usual context refuses to compute with more than a million.
EXACT = Context(prec=50, Emax=MAX_EMAX, Emin=MIN_EMIN)


def correctness(
    completions: list,
    answer: list,
    *,
    extract: Literal["auto", "tag", "number", "boxed", "line", "all"] = "auto",
    tag: str = "answer",
    tolerance: float = 0.0,
    ignore_case: bool = False,
    **kwargs: object,
) -> list[float | None]:
    """1 when the completion's answer equals the row's answer, else 0.

    The completion's answer is the text of its last <answer>…</answer>, or its last number when it has
    no such tags. Numbers are compared by value (42 and 42.0, 1,000 and 1000), anything else as stripped
    text. A row with no answer gets None: the reward does not apply.

    Args:
        extract: where the answer is: in the tag or else the last number (auto), in the tag, the last number, the
            last \\boxed{…}, the last line, or all of the completion.
        tag: the name of the tag that holds the answer.
        tolerance: how far off a number may be and still be right.
        ignore_case: whether paris is as good as Paris.
    """
    check(extract, tag, tolerance)
    scores: list[float | None] = []
    for completion, right in zip(completions, answer, strict=True):
        expected = "" if right is None else str(right).strip()
        given = given_answer(text_of(completion), extract, tag) if expected else ""
        scores.append(float(equal(given, expected, tolerance, ignore_case)) if expected else None)
    return scores


def check(extract: str, tag: str, tolerance: float) -> None:
    """Raises ValueError for a parameter that makes no sense."""
    if extract not in WAYS:
        raise ValueError(f"extract must be one of {', '.join(WAYS)}, not {extract!r}.")
    if not isinstance(tag, str) or not re.fullmatch(r"\w[\w.:-]*", tag):
        raise ValueError(f"tag must be a name such as answer, not {tag!r}.")
    if not 0 <= tolerance < float("inf"):
        raise ValueError(f"tolerance must be 0 or more, not {tolerance!r}.")


def equal(given: str, expected: str, tolerance: float, ignore_case: bool) -> bool:
    """Whether two answers are the same: numbers by value, anything else as text."""
    mine, right = value(given), value(expected)
    if tolerance and isinstance(mine, Decimal) and isinstance(right, Decimal):
        return EXACT.subtract(mine, right).copy_abs() <= Decimal(str(tolerance))
    if ignore_case and isinstance(mine, str) and isinstance(right, str):
        return mine.casefold() == right.casefold()
    return mine == right


def given_answer(text: str, extract: str = "auto", tag: str = "answer") -> str:
    """What a completion gives as its answer; empty when it gives none."""
    if extract == "all":
        return text.strip()
    if extract == "line":
        return text.strip().rpartition("\n")[2].strip()
    if extract == "boxed":
        return boxed(text)
    opening, closing = f"<{tag}>", f"</{tag}>"
    start = text.rfind(opening, 0, max(text.rfind(closing), 0)) if extract != "number" else -1
    if start >= 0:
        return text[start + len(opening) : text.find(closing, start)].strip()
    numbers = NUMBER.findall(text) if extract != "tag" else []
    return numbers[-1] if numbers else ""


def boxed(text: str) -> str:
    """What stands in the last \\boxed{…}; empty when its braces never close."""
    start = text.rfind("\\boxed{") + len("\\boxed{")
    if start < len("\\boxed{"):
        return ""
    depth = 1
    for brace in re.finditer(r"[{}]", text[start:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return text[start : start + brace.start()].strip()
    return ""


def value(text: str) -> Decimal | str:
    """The number that `text` writes, or `text` itself."""
    return Decimal(text.replace(",", "")) if NUMBER.fullmatch(text) else text


def text_of(completion: str | list[dict]) -> str:
    """The text of a completion: itself, or what the last message of a chat says."""
    if isinstance(completion, str):
        return completion
    return (completion[-1]["content"] or "") if completion else ""
