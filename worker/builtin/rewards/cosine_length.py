"""Reward for right answers that keep short, and for wrong ones that go on trying."""

import math
import re
from decimal import Decimal

# The sign belongs to the number only where it cannot be a minus between two terms, as in 5-3.
NUMBER = re.compile(r"(?:(?<![\w.)])[-+])?(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?")


def cosine_length(
    completions: list,
    answer: list,
    completion_ids: list[list[int]],
    *,
    max_len: int = 256,
    min_value_wrong: float = -1.0,
    max_value_wrong: float = -0.5,
    min_value_correct: float = 0.5,
    max_value_correct: float = 1.0,
    **kwargs: object,
) -> list[float | None]:
    """High for a short right answer, lowest for a short wrong one, by a cosine of the length.

    Appendix C.1 of Yeo et al. 2025, "Demystifying Long Chain-of-Thought Reasoning" (arXiv 2502.03373), and TRL's
    get_cosine_scaled_reward: a right answer falls from max_value_correct to min_value_correct as it nears `max_len`
    tokens; a wrong one rises from min_value_wrong to max_value_wrong, so that it pays to think on. The answer is
    the text of the last <answer>…</answer>, else of the last \\boxed{…}, else the last number; numbers are compared
    by value, anything else as text (TRL's compares by math-verify). A row with no answer gets None.

    Args:
        max_len: tokens at which the curve ends: the run's own max_completion_length.
        min_value_wrong: what the shortest wrong answer gets.
        max_value_wrong: what the longest wrong answer gets.
        min_value_correct: what the longest right answer gets.
        max_value_correct: what the shortest right answer gets.
    """
    if isinstance(max_len, bool) or not max_len >= 1:
        raise ValueError(f"max_len must be a number from 1, not {max_len!r}.")
    right_ends, wrong_ends = (max_value_correct, min_value_correct), (min_value_wrong, max_value_wrong)
    if not all(math.isfinite(end) for end in right_ends + wrong_ends):
        raise ValueError("min_value_wrong, max_value_wrong, min_value_correct and max_value_correct must be finite.")
    scores: list[float | None] = []
    for completion, right, ids in zip(completions, answer, completion_ids, strict=True):
        expected = "" if right is None else str(right).strip()
        correct = bool(expected) and value(given_answer(text_of(completion))) == value(expected)
        ends = right_ends if correct else wrong_ends
        scores.append(between(*ends, len(ids) / max_len) if expected else None)
    return scores


def between(shortest: float, longest: float, progress: float) -> float:
    """From one value to the other along half a cosine; from the limit on it stays at the other."""
    return longest + (shortest - longest) * (1 + math.cos(math.pi * min(progress, 1.0))) / 2


def given_answer(text: str) -> str:
    """What a completion gives as its answer; empty when it gives none."""
    start = text.rfind("<answer>", 0, max(text.rfind("</answer>"), 0))
    if start >= 0:
        return text[start + len("<answer>") : text.find("</answer>", start)].strip()
    if "\\boxed{" in text:
        return boxed(text.rpartition("\\boxed{")[2])
    numbers = NUMBER.findall(text)
    return numbers[-1] if numbers else ""


def boxed(rest: str) -> str:
    """What stands before the brace that closes the box; empty when it never closes."""
    depth = 1
    for brace in re.finditer(r"[{}]", rest):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return rest[: brace.start()].strip()
    return ""


def value(text: str) -> Decimal | str:
    """The number that `text` writes, or `text` itself."""
    return Decimal(text.replace(",", "")) if NUMBER.fullmatch(text) else text


def text_of(completion: str | list[dict]) -> str:
    """The text of a completion: itself, or what the last message of a chat says."""
    if isinstance(completion, str):
        return completion
    return (completion[-1]["content"] or "") if completion else ""
