"""Reward for the shape of a completion: a thought, then an answer, and nothing else."""

import re

TAGS = ["<think>", "</think>", "<answer>", "</answer>"]


def format(completions: list, **kwargs: object) -> list[float]:
    """1 when the completion is exactly <think>…</think><answer>…</answer>, else 0.

    Both must hold some text. Whitespace is allowed around the two blocks, anything else is not.
    """
    return [float(is_formatted(text_of(completion))) for completion in completions]


def is_formatted(text: str) -> bool:
    """Whether the four tags stand in `text` once each, in order, with text only inside the pairs."""
    # Splitting at the tags takes linear time and leaves the tags at the odd places, the texts at the even.
    parts = re.split("(" + "|".join(TAGS) + ")", text)
    if parts[1::2] != TAGS:
        return False
    before, thought, between, answer, after = (part.strip() for part in parts[::2])
    return bool(thought and answer) and not (before or between or after)


def text_of(completion: str | list[dict]) -> str:
    """The text of a completion: itself, or what the last message of a chat says."""
    if isinstance(completion, str):
        return completion
    return (completion[-1]["content"] or "") if completion else ""
