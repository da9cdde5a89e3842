"""Penalty for a completion that says the same again and again."""

from collections.abc import Sequence
from typing import Literal


def repetition_penalty(
    completions: list,
    completion_ids: list[list[int]],
    *,
    ngram_size: int = 3,
    max_penalty: float = -1.0,
    unit: Literal["tokens", "words"] = "tokens",
    **kwargs: object,
) -> list[float | None]:
    """0 when nothing is repeated, and the lower the more of it is repetition.

    max_penalty × (1 − distinct n-grams ÷ n-grams): appendix C.2 of Yeo et al. 2025, "Demystifying Long
    Chain-of-Thought Reasoning" (arXiv 2502.03373), and TRL's get_repetition_penalty_reward. A completion of fewer
    than `ngram_size` tokens gets 0.

    Args:
        ngram_size: how many tokens (or words) in a row count as the same thing said again.
        max_penalty: what a completion that is all repetition comes close to; not above 0.
        unit: what is counted: the model's tokens, or words in lower case.
    """
    if isinstance(ngram_size, bool) or not isinstance(ngram_size, int) or not 1 <= ngram_size <= 100:
        raise ValueError(f"ngram_size must be a whole number from 1 to 100, not {ngram_size!r}.")
    if not float("-inf") < max_penalty <= 0:
        raise ValueError(f"max_penalty must be 0 or less, not {max_penalty!r}.")
    if unit not in ("tokens", "words"):
        raise ValueError(f"unit must be tokens or words, not {unit!r}.")
    told: list[Sequence[object]] = list(completion_ids)
    if unit == "words":
        told = [text_of(completion).lower().split() for completion in completions]
    return [max_penalty * repeated(items, ngram_size) or 0.0 for items in told]


def repeated(items: Sequence[object], size: int) -> float:
    """The share of the n-grams that were there before."""
    count = len(items) - size + 1
    if count < 1:
        return 0.0
    return 1 - len(set(zip(*(items[start:] for start in range(size)), strict=False))) / count


def text_of(completion: str | list[dict]) -> str:
    """The text of a completion: itself, or what the last message of a chat says."""
    if isinstance(completion, str):
        return completion
    return (completion[-1]["content"] or "") if completion else ""
