"""What is wrong with the conditions on rows: none at all, several in one, or signs of another language. Pure."""

import re

from groupwise.storage.spec.rows.row_filter import (
    EMPTINESS,
    MAX_LENGTH,
    OPERATORS,
    ORDER,
    ConditionError,
    parse_condition,
)
from groupwise.storage.spec.spec import DataSpec
from groupwise.storage.spec.words.number_words import join_words
from groupwise.storage.spec.words.problem import Fix, Problem

LONGEST_SHOWN = 60  # characters of a condition on a button
COMPARED = ("=", "!=", *ORDER)
_SIGNS = re.compile(r"(?:\"(?:[^\"\\]|\\.)*\"|[^\"<>=!])*?([<>=!][<>=!~]+)(?=[\s\d.+-]|$)")  # the first of a condition
_JOINED = re.compile(r"\s+(and|or|AND|OR)\s+|\s*(&&?|\|\|?)\s*")
# Signs and words of other languages for what is written otherwise here.
_OTHERWISE = (
    (re.compile(r"\s*(?:≥|(?<![<>!=])=>)\s*"), " >= "),
    (re.compile(r"\s*(?:≤|(?<![<>!=])=<(?![a-z]\w*>))\s*"), " <= "),
    (re.compile(r"\s*(?:≠|<>|!==|=/=|=!(?=[\s\d]))\s*"), " != "),
    (re.compile(r"\s*===\s*"), " = "),
    (re.compile(r"\s+is\s+not\s+(?:null|none|nan)\s*$", re.IGNORECASE), " is not empty"),
    (re.compile(r"\s+is\s+(?:null|none|nan)\s*$", re.IGNORECASE), " is empty"),
    (re.compile(r"\blen\(\s*([^()]+?)\s*\)"), r"length of \1"),
)


def check_conditions(data: DataSpec) -> list[Problem]:
    """Every condition that cannot be read, or that would be read as another than was meant."""
    return [problem for number, written in enumerate(data.filter) for problem in _slips_of(number, written, data)]


def _slips_of(number: int, written: str, data: DataSpec) -> list[Problem]:
    path = f"data.filter.{number}"
    remove = Fix("Remove it", {}, (path,))
    meant = write_in_our_signs(written)
    better = (Fix(f"Use {meant}", {path: meant}),) if meant and len(meant) <= LONGEST_SHOWN else ()
    hint = f" Did you mean “{meant}”?" if better else ""
    if not better and (signs := _no_comparison(written)):
        said = f"“{signs}” is not a comparison. Comparisons are {join_words(list(OPERATORS))}."
        return [Problem(path, said, fixes=(remove,))]
    try:
        condition = parse_condition(written)
    except ConditionError as error:
        return [Problem(path, f"{error}{hint}", fixes=(*better, remove))]
    if better:
        return [
            Problem(
                path,
                f"would compare a column “{condition.column}” with “{condition.value}”.{hint}",
                fixes=(*better, remove),
            )
        ]
    parts, word = split_joined(written)
    if not word:
        return []
    if word in ("or", "|", "||"):
        message = "is several conditions joined with “or”, but all have to hold here. Of one text, “matches” takes a|b."
        return [Problem(path, message, fixes=(remove,))]
    said = "is several conditions in one: each is an entry of its own, and all have to hold."
    every = [*data.filter[:number], *parts, *data.filter[number + 1 :]]
    return [Problem(path, said, fixes=(Fix(f"Write it as {len(parts)} conditions", {"data.filter": every}), remove))]


def _no_comparison(written: str) -> str:
    """The signs that stand where a comparison belongs and are none, as <=> is, of which the first would be read as one
    and the rest as part of the value; "" where there are no such."""
    found = _SIGNS.match(written) if len(written) <= MAX_LENGTH else None
    if found is None or found[1] in (*COMPARED, "=="):
        return ""
    try:
        first = parse_condition(f"{written[: found.start(1)]} = 1")
    except ConditionError:
        return ""
    return found[1] if first.operator == "=" else ""  # else they stand in what is searched for


def write_in_our_signs(written: str) -> str | None:
    """A condition that is written in signs of another language (≥, =>, is not null) in those of this one; None of any
    other, and where that is no condition either."""
    if len(written) > MAX_LENGTH:  # no condition, and long runs of spaces would be looked at from each of them
        return None
    meant = written
    for sign, ours in _OTHERWISE:
        meant = sign.sub(ours, meant)
    if '"' in written or meant == written:
        return None
    try:
        condition = parse_condition(meant)
    except ConditionError:
        return None
    return meant.strip() if condition.operator in (*COMPARED, *EMPTINESS) else None


def split_joined(written: str) -> tuple[list[str], str]:
    """The conditions that one text joins, and by which word; no word where it is one condition: a value in quotes is
    text, and so is what is searched for."""
    if '"' in written or parse_condition(written).operator not in COMPARED:
        return [written], ""
    word = next((found[1] or found[2] for found in _JOINED.finditer(written)), "").lower()
    parts = [part.strip() for part in _JOINED.split(written)[::3]]
    try:
        conditions = [parse_condition(part) for part in parts]
    except ConditionError:
        return [written], ""
    plain = all(one.operator in (*COMPARED, *EMPTINESS) for one in conditions)
    return (parts, word) if word and plain else ([written], "")
