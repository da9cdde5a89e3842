"""Penalty for completions that come close to the length limit."""


def soft_overlong_punishment(
    completions: list,
    completion_ids: list[list[int]],
    *,
    max_completion_len: int = 256,
    soft_punish_cache: int = 64,
    **kwargs: object,
) -> list[float | None]:
    """0 until shortly before the length limit, then falling to -1 at the limit.

    Equation 13 of DAPO (Yu et al. 2025, arXiv 2503.14476), and TRL's get_soft_overlong_punishment: 0 up to
    `max_completion_len` − `soft_punish_cache` tokens, then in a straight line to -1 at `max_completion_len`. It
    never rewards being short. DAPO's own cache is a fifth of its limit.

    Args:
        max_completion_len: the limit in tokens: the run's own max_completion_length.
        soft_punish_cache: over how many tokens before the limit the penalty grows; 0: only beyond the limit.
    """
    if isinstance(max_completion_len, bool) or max_completion_len < 1:
        raise ValueError(f"max_completion_len must be a number from 1, not {max_completion_len!r}.")
    if not 0 <= soft_punish_cache <= max_completion_len:
        raise ValueError(f"soft_punish_cache must be from 0 to max_completion_len, not {soft_punish_cache!r}.")
    return [score(len(ids), max_completion_len, soft_punish_cache) for ids in completion_ids]


def score(tokens: int, limit: int, cache: int) -> float:
    """The penalty of a completion of so many tokens."""
    if tokens <= limit - cache:
        return 0.0
    return (limit - cache - tokens) / cache if tokens <= limit else -1.0
