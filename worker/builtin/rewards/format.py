"""Reward for the shape of a completion: a thought, then an answer, and nothing else."""

import re
from collections.abc import Sequence


def format(
    completions: list,
    *,
    tags: Sequence[str] = ("think", "answer"),
    strict: bool = True,
    after_penalty: float = 0.001,
    **kwargs: object,
) -> list[float]:
    """1 for exactly the tagged blocks, such as <think>…</think><answer>…</answer>, else 0.

    Each must hold some text. Whitespace is allowed around the blocks, anything else is not.
    Not strict, it gives partial credit (common practice): each opening and closing tag that stands there once
    and in its place earns an equal share (0.25 each of four), and each character after the last closing tag
    costs `after_penalty`; never less than 0.

    Args:
        tags: the names of the blocks, in order.
        strict: all or nothing; false: partial credit for each tag.
        after_penalty: what each character after the end costs, when not strict.
    """
    wanted = marks(tags, after_penalty)
    grade = is_formatted if strict else partial_credit
    return [float(grade(text_of(completion), wanted, after_penalty)) for completion in completions]


def marks(tags: Sequence[str], after_penalty: float) -> list[str]:
    """The opening and closing tags in order. Raises ValueError for names that cannot be tags."""
    names = [tags] if isinstance(tags, str) else list(tags or [])
    good = all(isinstance(name, str) and re.fullmatch(r"\w[\w.:-]*", name) for name in names)
    if not names or not good or len(set(names)) < len(names):
        raise ValueError(f"tags must be names that differ, such as [think, answer], not {tags!r}.")
    if not 0 <= after_penalty < float("inf"):
        raise ValueError(f"after_penalty must be 0 or more, not {after_penalty!r}.")
    return [mark for name in names for mark in (f"<{name}>", f"</{name}>")]


def pieces(text: str, wanted: list[str]) -> list[str]:
    """The text split at its tags, which are at the odd places: takes linear time whatever the text is."""
    return re.split("(" + "|".join(map(re.escape, wanted)) + ")", text)


def is_formatted(text: str, wanted: list[str], after_penalty: float) -> bool:
    """Whether the tags stand in `text` once each, in order, with text only inside the pairs."""
    parts = pieces(text, wanted)
    if parts[1::2] != wanted:
        return False
    outside, inside = parts[::4], parts[2::4]
    return all(part.strip() for part in inside) and not any(part.strip() for part in outside)


def partial_credit(text: str, wanted: list[str], after_penalty: float) -> float:
    """The share of tags that stand in `text` once and in order, less what the text after the end costs."""
    parts = pieces(text, wanted)
    found = parts[1::2]
    last, earned = -1, 0
    for mark in wanted:
        if found.count(mark) == 1 and found.index(mark) > last:
            last, earned = found.index(mark), earned + 1
    after = text.rpartition(wanted[-1])[2].strip() if wanted[-1] in found else ""
    return max(0.0, earned / len(wanted) - after_penalty * len(after))


def text_of(completion: str | list[dict]) -> str:
    """The text of a completion: itself, or what the last message of a chat says."""
    if isinstance(completion, str):
        return completion
    return (completion[-1]["content"] or "") if completion else ""
