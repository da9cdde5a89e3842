"""Reward for right answers that keep short, and for wrong ones that go on trying."""

import math
import re
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import Literal

# The sign belongs to a number only where it cannot be a minus between two terms, as in 5-3. A number is none where it
# is part of a word (CO2); 1/2 is one, 1/2/2024 is not.
NUMBERS = {
    "point": re.compile(
        r"(?:(?<![\w.)])[-+\u2212][€$£¥]?)?(?<![A-Za-z0-9])(?:"
        r"(?<![/.])[0-9]+/0*[1-9][0-9]*(?![/0-9]|[.,][0-9])"
        r"|[1-9][0-9]{0,2}(?:(?:\.[0-9]{3})+,[0-9]+|(?:\.[0-9]{3}){2,}(?![0-9]))"
        r"|(?:[1-9][0-9]{0,2}(?:[,'\u2019\u00a0\u2009\u202f][0-9]{3})+(?![0-9])|[0-9]+)"
        r"(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3}(?![0-9]))?)"
    ),
    "comma": re.compile(
        r"(?:(?<![\w.)])[-+\u2212][€$£¥]?)?(?<![A-Za-z0-9])(?:"
        r"(?<![/,])[0-9]+/0*[1-9][0-9]*(?![/0-9]|[.,][0-9])"
        r"|[1-9][0-9]{0,2}(?:(?:,[0-9]{3})+\.[0-9]+|(?:,[0-9]{3}){2,}(?![0-9]))"
        r"|(?:[1-9][0-9]{0,2}(?:[.'\u2019 \u00a0\u2009\u202f][0-9]{3})+(?![0-9])(?:,[0-9]+)?"
        r"|[0-9]+(?:[.,][0-9]+)?)(?:[eE][-+]?[0-9]{1,3}(?![0-9]))?)"
    ),
}
# Room for any number of digits: Python's usual context refuses to compute with more than a million.
EXACT = Context(prec=50, Emax=MAX_EMAX, Emin=MIN_EMIN)
# What may stand around the one number of an answer: x = $46, **46**, \\boxed{46}; 46 km/h, 46 %, 46.
BEFORE = re.compile(r"(?:[\s=$€£¥*#]|\\boxed\{|[A-Za-z_]\w{0,19}\s{0,3}=)*")
AFTER = re.compile(r"\s*(?:\\?%|,-|[€$£¥]|°?[^\W\d_]{1,20}[²³23]?(?:/[^\W\d_]{1,20}[²³23]?)?)?[\s}*$.]*")


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
    decimal: Literal["point", "comma"] = "point",
    **kwargs: object,
) -> list[float | None]:
    """High for a short right answer, lowest for a short wrong one, by a cosine of the length.

    Appendix C.1 of Yeo et al. 2025, "Demystifying Long Chain-of-Thought Reasoning" (arXiv 2502.03373), and TRL's
    get_cosine_scaled_reward: a right answer falls from max_value_correct to min_value_correct as it nears `max_len`
    tokens; a wrong one rises from min_value_wrong to max_value_wrong, so that it pays to think on. The answer is
    the text of the last <answer>…</answer>, else of the last \\boxed{…}, else the last number; a tag that is never
    closed is no answer. Numbers are compared by value, anything else as text (TRL's compares by math-verify). A row
    with no answer gets None.

    Args:
        max_len: tokens at which the curve ends: the run's own max_completion_length.
        min_value_wrong: what the shortest wrong answer gets.
        max_value_wrong: what the longest wrong answer gets.
        min_value_correct: what the longest right answer gets.
        max_value_correct: what the shortest right answer gets.
        decimal: how numbers are written: 1,234.5 (point) or 1.234,5 (comma). A run takes it from data.answer_numbers.
    """
    if isinstance(max_len, bool) or not max_len >= 1:
        raise ValueError(f"max_len must be a number from 1, not {max_len!r}.")
    right_ends, wrong_ends = (max_value_correct, min_value_correct), (min_value_wrong, max_value_wrong)
    if not all(math.isfinite(end) for end in right_ends + wrong_ends):
        raise ValueError("min_value_wrong, max_value_wrong, min_value_correct and max_value_correct must be finite.")
    if decimal not in NUMBERS:
        raise ValueError(f"decimal must be point or comma, not {decimal!r}.")
    scores: list[float | None] = []
    for completion, right, ids in zip(completions, answer, completion_ids, strict=True):
        expected = "" if right is None else str(right).strip()
        correct = bool(expected) and is_right(given_answer(text_of(completion), decimal), right, expected, decimal)
        ends = right_ends if correct else wrong_ends
        scores.append(between(*ends, len(ids) / max_len) if expected else None)
    return scores


def between(shortest: float, longest: float, progress: float) -> float:
    """From one value to the other along half a cosine; from the limit on it stays at the other."""
    return longest + (shortest - longest) * (1 + math.cos(math.pi * min(progress, 1.0))) / 2


def is_right(given: str, right: object, expected: str, decimal: str) -> bool:
    """Whether an answer is the row's (`expected`: as text): numbers by value, anything else as text."""
    written = decimal if isinstance(right, str) else "point"
    if not NUMBERS[written].fullmatch(expected):
        return given == expected
    return said_number(given, decimal) == numeral_value(expected, written)


def given_answer(text: str, decimal: str) -> str:
    """What a completion gives as its answer; empty when it gives none."""
    start = text.rfind("<answer>", 0, max(text.rfind("</answer>"), 0))
    if start >= 0:
        return text[start + len("<answer>") : text.find("</answer>", start)].strip()
    if is_opened(text, "<answer>"):
        return ""
    if "\\boxed{" in text:
        return boxed(text.rpartition("\\boxed{")[2])
    numbers = NUMBERS[decimal].findall(text)
    return numbers[-1] if numbers else ""


def is_opened(text: str, tag: str) -> bool:
    """Whether a text opens this tag, or ends within the opening one: `<answe`."""
    return tag in text or text.endswith(tuple(tag[:end] for end in range(3, len(tag))))


def boxed(rest: str) -> str:
    """What stands before the brace that closes the box; empty when it never closes."""
    depth = 1
    for brace in re.finditer(r"[{}]", rest):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return rest[: brace.start()].strip()
    return ""


def numeral_value(numeral: str, decimal: str) -> Decimal:
    """The number that a match of NUMBERS writes. 1.234 is as `decimal` has it."""
    plain = re.sub(r"[\s'\u2019€$£¥]", "", numeral).replace("\u2212", "-")
    if "/" in plain:
        above, below = plain.split("/")
        return EXACT.divide(Decimal(above), Decimal(below))
    marks = re.findall(r"[.,]", plain)
    own = "," if decimal == "comma" else "."
    grouped = re.fullmatch(r"[-+]?[1-9][0-9]{0,2}[.,][0-9]{3}", plain)
    if len(set(marks)) == 2 or (len(marks) == 1 and (marks[0] == own or not grouped)):
        whole, _, rest = plain.rpartition(marks[-1])
        return Decimal(f"{re.sub('[.,]', '', whole)}.{rest}")
    return Decimal(re.sub(r"[.,]", "", plain))


def said_number(text: str, decimal: str) -> Decimal | None:
    """The number that an answer says, as in = 46, 46 kg or \\boxed{46}; None where it says more than that."""
    start = BEFORE.match(text)
    found = NUMBERS[decimal].match(text, start.end() if start else 0)
    if not found or not AFTER.fullmatch(text, found.end()):
        return None
    return numeral_value(found[0], decimal)


def text_of(completion: str | list[dict]) -> str:
    """The text of a completion: itself, or what the last message of a chat says."""
    if isinstance(completion, str):
        return completion
    return (completion[-1]["content"] or "") if completion else ""
