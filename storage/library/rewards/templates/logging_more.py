# Log more: Shows a column beside the completions and charts a number, with log_extra and log_metric.
"""What a reward function can show beside its scores, and how it can tell where training is."""

from collections.abc import Callable
from typing import Any


def short_enough(
    completions: list,
    trainer_state: Any = None,
    log_extra: Callable[[str, list], None] | None = None,
    log_metric: Callable[[str, float], None] | None = None,
    *,
    most: int = 50,
    easy_steps: int = 20,
    **kwargs: object,
) -> list[float]:
    """1 up to so many words, less beyond; in the first steps twice as many are allowed.

    Args:
        most: So many words earn everything.
        easy_steps: For so many steps the limit is twice as high.
    """
    step = trainer_state.global_step if trainer_state else 0
    limit = 2 * most if step < easy_steps else most
    words = [len(text_of(completion).split()) for completion in completions]
    if log_extra:
        log_extra("words", words)
    if log_metric and words:
        log_metric("words/mean", sum(words) / len(words))
    return [min(1.0, limit / max(count, 1)) for count in words]


def text_of(completion: str | list[dict]) -> str:
    """The text of a completion: itself, or what the last message of a chat says."""
    if isinstance(completion, str):
        return completion
    return (completion[-1]["content"] or "") if completion else ""
