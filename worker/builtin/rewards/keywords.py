"""Reward for words that a completion must use, or must not."""

import re
from collections.abc import Sequence

NEEDS_PARAMETERS = [["words", "forbidden"]]


def keywords(
    completions: list,
    *,
    words: Sequence[str] = (),
    forbidden: Sequence[str] = (),
    partial: bool = True,
    ignore_case: bool = True,
    whole_words: bool = True,
    **kwargs: object,
) -> list[float | None]:
    """The share of the wanted words that the completion uses; 0 when it uses a forbidden one.

    A word counts once however often it is said. With no wanted words it is 1 unless a forbidden one is there.
    An empty completion gets 0.

    Args:
        words: words or phrases that it must use.
        forbidden: words or phrases that it must not use.
        partial: credit for each word; false: all or nothing.
        ignore_case: whether paris is as good as Paris.
        whole_words: whether "art" in "start" does not count.
    """
    wanted, banned = phrases("words", words), phrases("forbidden", forbidden)
    if not wanted and not banned:
        raise ValueError("words must name at least one word, or forbidden must.")
    flags = re.IGNORECASE if ignore_case else re.NOFLAG
    yes, no = ([finder(phrase, whole_words, flags) for phrase in group] for group in (wanted, banned))
    return [score(text_of(completion), yes, no, partial) for completion in completions]


def phrases(name: str, given: Sequence[str]) -> list[str]:
    """The phrases of a parameter, each once. Raises ValueError for one that is no text."""
    found = [given] if isinstance(given, str) else list(given or [])
    if not all(isinstance(phrase, str) and phrase.strip() for phrase in found):
        raise ValueError(f"{name} must be a list of words, such as [because, therefore], not {given!r}.")
    return list(dict.fromkeys(phrase.strip() for phrase in found))


def finder(phrase: str, whole: bool, flags: re.RegexFlag) -> re.Pattern[str]:
    """What finds a phrase. Not by \\b, which fails beside signs: C++ is a word, too."""
    text = re.escape(phrase)
    return re.compile(rf"(?<!\w){text}(?!\w)" if whole else text, flags)


def score(text: str, wanted: list[re.Pattern[str]], banned: list[re.Pattern[str]], partial: bool) -> float:
    """What one completion gets."""
    if not text.strip() or any(pattern.search(text) for pattern in banned):
        return 0.0
    if not wanted:
        return 1.0
    share = sum(pattern.search(text) is not None for pattern in wanted) / len(wanted)
    return share if partial else float(share == 1)


def text_of(completion: str | list[dict]) -> str:
    """The text of a completion: itself, or what the last message of a chat says."""
    if isinstance(completion, str):
        return completion
    return (completion[-1]["content"] or "") if completion else ""
