# Regular expression: 1 where a pattern is found, with the pattern as a parameter.
"""Looks for a pattern. What stands after the * are parameters: each run can set them without touching the code."""

import re


def finds_pattern(completions: list, *, pattern: str = r"[0-9]+", whole: bool = False, **kwargs: object) -> list[float]:
    """1 when the pattern is found in the completion, else 0.

    Args:
        pattern: A regular expression, as in Python.
        whole: Whether the whole completion has to fit it.
    """
    compiled = re.compile(pattern, re.DOTALL)
    looks = compiled.fullmatch if whole else compiled.search
    return [float(looks(text_of(completion).strip()) is not None) for completion in completions]


def text_of(completion: str | list[dict]) -> str:
    """The text of a completion: itself, or what the last message of a chat says."""
    if isinstance(completion, str):
        return completion
    return (completion[-1]["content"] or "") if completion else ""
