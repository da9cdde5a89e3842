"""Reward for staying in one script, told by the letters."""

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

SCRIPTS = {
    "arabic", "armenian", "bengali", "cyrillic", "devanagari", "ethiopic", "georgian", "greek", "gujarati", "gurmukhi",
    "han", "hangul", "hebrew", "hiragana", "kannada", "katakana", "khmer", "lao", "latin", "malayalam", "mongolian",
    "myanmar", "oriya", "sinhala", "tamil", "telugu", "thaana", "thai", "tibetan",
}  # fmt: skip
# What the languages are written in that need more than one script, or are better known by their own name.
LANGUAGES = {
    "chinese": {"han"}, "japanese": {"han", "hiragana", "katakana"}, "korean": {"hangul"}, "english": {"latin"},
    "german": {"latin"}, "french": {"latin"}, "spanish": {"latin"}, "russian": {"cyrillic"}, "hindi": {"devanagari"},
}  # fmt: skip
NAMES = {"cjk": "han", "ideographic": "han"}  # Unicode's names for Chinese characters
CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|\$\$.*?(?:\$\$|\Z)|\\[A-Za-z]+|</?[A-Za-z][\w-]*>", re.DOTALL)


def language_consistency(
    completions: list, *, scripts: Sequence[str] = ("latin",), ignore_code: bool = True, **kwargs: object
) -> list[float | None]:
    """The share of the completion's letters that are of the expected script.

    Against thoughts that wander from one language into another (DeepSeek-R1 used such a reward). It tells scripts,
    not languages: English and German are both Latin. Digits, signs and mathematical letters count neither way. A
    completion with no letters at all gets 1, an empty one 0.

    Args:
        scripts: the scripts, such as latin, cyrillic, han, arabic, or a language: japanese, korean, russian.
        ignore_code: leave out code between backticks, formulas between $$, LaTeX commands and tags.
    """
    expected = scripts_of(scripts)
    return [score(text_of(completion), expected, ignore_code) for completion in completions]


def scripts_of(given: Sequence[str]) -> set[str]:
    """The scripts that a parameter names. Raises ValueError for a name that is none."""
    names = [str(name).lower() for name in ([given] if isinstance(given, str) else given or [])]
    unknown = [name for name in names if name not in SCRIPTS and name not in LANGUAGES]
    if unknown or not names:
        known = ", ".join(sorted(SCRIPTS | set(LANGUAGES)))
        raise ValueError(f"scripts must be of {known}, not {', '.join(unknown) or 'empty'}.")
    return set().union(*(LANGUAGES.get(name, {name}) for name in names))


def score(text: str, expected: set[str], ignore_code: bool) -> float:
    """The share of one text's letters that are of the expected scripts."""
    if not text.strip():
        return 0.0
    counts: Counter[str] = Counter()
    for letter, times in Counter(CODE.sub(" ", text) if ignore_code else text).items():
        counts[script(letter)] += times
    letters = counts.total() - counts[""]
    return sum(counts[name] for name in expected) / letters if letters else 1.0


@functools.lru_cache(maxsize=10_000)
def script(letter: str) -> str:
    """The script of a character, by the first word of its Unicode name; empty for what is of no script."""
    if not letter.isalpha():
        return ""
    words = unicodedata.name(letter, "").lower().replace("-", " ").split()
    if words and words[0] in ("fullwidth", "halfwidth"):
        words = words[1:]
    name = NAMES.get(words[0], words[0]) if words else ""
    return "" if name in ("mathematical", "modifier", "double", "script", "black", "micro") else name


def text_of(completion: str | list[dict]) -> str:
    """The text of a completion: itself, or what the last message of a chat says."""
    if isinstance(completion, str):
        return completion
    return (completion[-1]["content"] or "") if completion else ""
