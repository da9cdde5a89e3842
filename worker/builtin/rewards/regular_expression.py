"""Reward for text that a regular expression finds, or must not find."""

from typing import Any


def regular_expression(
    completions: list,
    *,
    pattern: str = r"<answer>.+?</answer>",
    whole: bool = False,
    times: int = 1,
    absent: bool = False,
    ignore_case: bool = False,
    dot_all: bool = True,
    timeout: float = 0.2,
    **kwargs: object,
) -> list[float | None]:
    """1 when the pattern is found in the completion, else 0.

    With `times` above 1, partial credit: the share of so many matches that there are. A completion that the pattern
    takes longer than `timeout` to look through gets None: whether it matches is not known.

    Args:
        pattern: a regular expression, as the Python package `regex` reads it (all of `re`, and more).
        whole: whether it must match the completion from its first to its last character, whitespace around it apart.
        times: how many matches earn 1.
        absent: turned round: 1 when the pattern is not found.
        ignore_case: whether a and A are the same.
        dot_all: whether the dot stands for a line break, too.
        timeout: seconds that one completion may take.
    """
    compiled = compile_pattern(pattern, ignore_case, dot_all)
    if isinstance(times, bool) or not isinstance(times, int) or times < 1:
        raise ValueError(f"times must be a whole number from 1, not {times!r}.")
    if not timeout > 0:
        raise ValueError(f"timeout must be more than 0 seconds, not {timeout!r}.")
    found = [share(compiled, text_of(completion), whole, times, timeout) for completion in completions]
    return [1 - value if absent and value is not None else value for value in found]


def compile_pattern(pattern: str, ignore_case: bool, dot_all: bool) -> Any:
    """The pattern, compiled. Raises ValueError where it is none."""
    import regex

    if not isinstance(pattern, str) or not pattern:
        raise ValueError("pattern must be a regular expression, such as ####\\s*[0-9]+.")
    try:
        return regex.compile(pattern, ignore_case * regex.IGNORECASE | dot_all * regex.DOTALL | regex.MULTILINE)
    except regex.error as error:
        raise ValueError(f"pattern is not a regular expression: {error}.") from None


def share(compiled: Any, text: str, whole: bool, times: int, timeout: float) -> float | None:
    """The share of `times` matches that a text has, at most 1; None when it took too long to say."""
    try:
        if whole:
            return float(compiled.fullmatch(text.strip(), timeout=timeout) is not None)
        matches = 0
        for _ in compiled.finditer(text, timeout=timeout):
            matches += 1
            if matches == times:
                break
        return matches / times
    except TimeoutError:
        return None


def text_of(completion: str | list[dict]) -> str:
    """The text of a completion: itself, or what the last message of a chat says."""
    if isinstance(completion, str):
        return completion
    return (completion[-1]["content"] or "") if completion else ""
