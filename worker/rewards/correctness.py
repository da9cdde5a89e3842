"""Reward for the right answer: what a completion answers, compared with its dataset row."""

import re
from decimal import Decimal

# The sign belongs to the number only where it cannot be a minus between two terms, as in 5-3.
NUMBER = re.compile(r"(?:(?<![\w.)])[-+])?(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?")


def correctness(completions: list, answer: list, **kwargs: object) -> list[float | None]:
    """1 when the completion's answer equals the row's answer, else 0.

    The completion's answer is the text of its last <answer>…</answer>, or its last number when it has
    no such tags. Numbers are compared by value (42 and 42.0, 1,000 and 1000), anything else as stripped
    text. A row with no answer gets None: the reward does not apply.
    """
    return [score(text_of(completion), right) for completion, right in zip(completions, answer, strict=True)]


def score(text: str, right: object) -> float | None:
    """The reward of one completion's text, given the row's answer."""
    expected = "" if right is None else str(right).strip()
    if not expected:
        return None
    return float(value(given_answer(text)) == value(expected))


def given_answer(text: str) -> str:
    """What a completion gives as its answer; empty when it gives none."""
    start = text.rfind("<answer>", 0, max(text.rfind("</answer>"), 0))
    if start >= 0:
        return text[start + len("<answer>") : text.find("</answer>", start)].strip()
    numbers = NUMBER.findall(text)
    return numbers[-1] if numbers else ""


def value(text: str) -> Decimal | str:
    """The number that `text` writes, or `text` itself."""
    return Decimal(text.replace(",", "")) if NUMBER.fullmatch(text) else text


def text_of(completion: str | list[dict]) -> str:
    """The text of a completion: itself, or what the last message of a chat says."""
    if isinstance(completion, str):
        return completion
    return (completion[-1]["content"] or "") if completion else ""
