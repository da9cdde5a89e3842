"""Reward for thinking in steps that can be told apart."""

import re
from typing import Literal

# How a step begins: "Step 2:", "3." or "3)", a bullet at the start of a line, or a word of order.
STEP = re.compile(
    r"\bstep[ \t]{1,3}[0-9]{1,3}\b[:.)]?|^[ \t]{0,8}(?:[0-9]{1,3}[.)]|[-*•])(?=\s)"
    r"|\b(?:first(?:ly)?|second(?:ly)?|third(?:ly)?|next|finally|lastly),",
    re.IGNORECASE | re.MULTILINE,
)


def reasoning_steps(
    completions: list,
    *,
    steps: int = 3,
    min_characters: int = 20,
    where: Literal["thought", "all"] = "thought",
    **kwargs: object,
) -> list[float | None]:
    """The share of the wanted steps that are there: numbered, bulleted, or First, Finally.

    After Open-R1's reward of the same name. Against its loophole (bullets with nothing behind them) a step counts
    only with `min_characters` of its own text, and the same text only once.

    Args:
        steps: how many steps earn 1.
        min_characters: how much text a step must hold to count.
        where: in the thought (<think>…</think>, or what stands before <answer>), or in all of the completion.
    """
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise ValueError(f"steps must be a whole number from 1, not {steps!r}.")
    if min_characters < 0:
        raise ValueError(f"min_characters must be 0 or more, not {min_characters!r}.")
    if where not in ("thought", "all"):
        raise ValueError(f"where must be thought or all, not {where!r}.")
    texts = [text_of(completion) for completion in completions]
    thoughts = [thought(text) if where == "thought" else text for text in texts]
    return [min(1.0, count(text, min_characters) / steps) for text in thoughts]


def thought(text: str) -> str:
    """What a completion thinks before it answers."""
    before = text.partition("</think>")[0] if "</think>" in text else text.partition("<answer>")[0]
    return before.partition("<think>")[2] if "<think>" in before else before


def count(text: str, least: int) -> int:
    """How many steps of enough text there are, each different."""
    said = (part.strip().casefold() for part in STEP.split(text)[1:])
    return len({part for part in said if len(part) >= least})


def text_of(completion: str | list[dict]) -> str:
    """The text of a completion: itself, or what the last message of a chat says."""
    if isinstance(completion, str):
        return completion
    return (completion[-1]["content"] or "") if completion else ""
