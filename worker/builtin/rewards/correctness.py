"""Reward for the right answer: what a completion answers, compared with its dataset row."""

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
WAYS = ("auto", "tag", "number", "boxed", "line", "all")


def correctness(
    completions: list,
    answer: list,
    *,
    extract: Literal["auto", "tag", "number", "boxed", "line", "all"] = "auto",
    tag: str = "answer",
    tolerance: float = 0.0,
    ignore_case: bool = False,
    decimal: Literal["point", "comma"] = "point",
    **kwargs: object,
) -> list[float | None]:
    """1 when the completion's answer equals the row's answer, else 0.

    The completion's answer is the text of its last <answer>…</answer>, or its last number when it opens no such tag;
    a tag that is never closed is no answer. Where the row's answer is a number, numbers are compared by value (42,
    42.0 and 42 kg; 1,000 and 1000; 1/2 and 0.5), anything else as stripped text. A row with no answer gets None: the
    reward does not apply.

    Args:
        extract: where the answer is: in the tag or else the last number (auto), in the tag, the last number, the
            last \\boxed{…}, the last line, or all of the completion.
        tag: the name of the tag that holds the answer.
        tolerance: how far off a number may be and still be right.
        ignore_case: whether paris is as good as Paris.
        decimal: how numbers are written: 1,234.5 (point) or 1.234,5 (comma). A run takes it from data.answer_numbers.
    """
    check(extract, tag, tolerance, decimal)
    scores: list[float | None] = []
    for completion, right in zip(completions, answer, strict=True):
        expected = "" if right is None else str(right).strip()
        given = given_answer(text_of(completion), extract, tag, decimal) if expected else ""
        wanted = number_of(expected, decimal if isinstance(right, str) else "point")
        if not expected:
            scores.append(None)
        elif wanted is None:
            scores.append(float(given == expected or (ignore_case and given.casefold() == expected.casefold())))
        else:
            scores.append(float(near(said_number(given, decimal), wanted, tolerance)))
    return scores


def check(extract: str, tag: str, tolerance: float, decimal: str) -> None:
    """Raises ValueError for a parameter that makes no sense."""
    if extract not in WAYS:
        raise ValueError(f"extract must be one of {', '.join(WAYS)}, not {extract!r}.")
    if not isinstance(tag, str) or not re.fullmatch(r"\w[\w.:-]*", tag):
        raise ValueError(f"tag must be a name such as answer, not {tag!r}.")
    if not 0 <= tolerance < float("inf"):
        raise ValueError(f"tolerance must be 0 or more, not {tolerance!r}.")
    if decimal not in NUMBERS:
        raise ValueError(f"decimal must be point or comma, not {decimal!r}.")


def number_of(answer: str, decimal: str) -> Decimal | None:
    """The number that a row's answer is, with nothing around it; None where it is text."""
    return numeral_value(answer, decimal) if NUMBERS[decimal].fullmatch(answer) else None


def near(given: Decimal | None, wanted: Decimal, tolerance: float) -> bool:
    """Whether a number is the right one, or no further off than it may be."""
    if given is None or not tolerance:
        return given == wanted
    return EXACT.subtract(given, wanted).copy_abs() <= Decimal(str(tolerance))


def given_answer(text: str, extract: str, tag: str, decimal: str) -> str:
    """What a completion gives as its answer; empty when it gives none."""
    if extract == "all":
        return text.strip()
    if extract == "line":
        return text.strip().rpartition("\n")[2].strip()
    if extract == "boxed":
        return boxed(text)
    opening, closing = f"<{tag}>", f"</{tag}>"
    start = text.rfind(opening, 0, max(text.rfind(closing), 0)) if extract != "number" else -1
    if start >= 0:
        return text[start + len(opening) : text.find(closing, start)].strip()
    if extract == "tag" or (extract == "auto" and is_opened(text, opening)):
        return ""
    numbers = NUMBERS[decimal].findall(text)
    return numbers[-1] if numbers else ""


def is_opened(text: str, tag: str) -> bool:
    """Whether a text opens this tag, or ends within the opening one: `<answe`."""
    return tag in text or text.endswith(tuple(tag[:end] for end in range(3, len(tag))))


def boxed(text: str) -> str:
    """What stands in the last \\boxed{…}; empty when its braces never close."""
    start = text.rfind("\\boxed{") + len("\\boxed{")
    if start < len("\\boxed{"):
        return ""
    depth = 1
    for brace in re.finditer(r"[{}]", text[start:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return text[start : start + brace.start()].strip()
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
