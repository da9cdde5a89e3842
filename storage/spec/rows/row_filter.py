"""Which rows are kept: conditions such as `level <= 3` or `question contains train`, as text, as a form, as Python.

A condition is COLUMN OPERATOR VALUE. A column whose name looks like part of a condition stands in double quotes
(`"is empty" = yes`), and so does a value that is meant as text (`zip = "00501"`; bare, 00501 is the number 501). Two
values that both read as numbers are compared as numbers, anything else as text; nothing is ever executed.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from groupwise.storage.spec.rows import patterns

MAX_LENGTH = 1000  # characters of one condition
ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
}  # fmt: skip
EMPTINESS = ("is empty", "is not empty")
OPERATORS = ("=", "!=", *ORDER, "contains", "does not contain", "matches", *EMPTINESS)
LENGTHS = tuple(f"length {operator}" for operator in ("=", "!=", *ORDER))  # how the form says `length of COLUMN`

_CONDITION = re.compile(
    r"""\s*(?P<length>length\s+of\s+)?
        (?:(?P<quoted>"(?:[^"\\]|\\.)*")|(?P<bare>[^"\s].*?))
        \s*(?P<operator><=|>=|!=|==|<|>|=
           |(?<![^\s"])(?:does\s+not\s+contain|contains|matches|is\s+not\s+empty|is\s+empty)(?!\S))
        \s*(?P<value>.*?)\s*""",
    re.DOTALL | re.VERBOSE,
)
_EXAMPLES = "Write it like level <= 3, subject = algebra, answer is not empty, or length of question < 500."


class ConditionError(ValueError):
    """A text that is no condition; the message says why and what would be one."""


@dataclass(frozen=True)
class Condition:
    """One condition. `value` is as it was written, with its quotes where it has any; "" where none is needed."""

    column: str
    operator: str
    value: str = ""
    length: bool = False

    def __str__(self) -> str:
        column = json.dumps(self.column, ensure_ascii=False) if _needs_quotes(self.column) else self.column
        return f"{'length of ' * self.length}{column} {self.operator} {self.value}".rstrip()

    def holds(self, row: dict[str, Any]) -> bool:
        """Whether a row is kept: a cell that is missing, empty or of another kind just does not match. Raises only
        patterns.TooSlow."""
        cell = row.get(self.column)
        if self.length:
            return _compare(len(text(cell)), self.operator, int(number(self.value)))
        words, wanted = text(cell), number(self.value)
        if self.operator in EMPTINESS:
            return (words.strip() == "") == (self.operator == "is empty")
        if self.operator == "matches":
            return patterns.search_pattern(unquoted_value(self.value), words) is not None
        if self.operator in ("contains", "does not contain"):
            return (unquoted_value(self.value) in words) == (self.operator == "contains")
        if wanted == wanted:  # the value reads as a number, so the cell should too
            return _compare(number(cell), self.operator, wanted)
        if self.operator in ORDER and not words:
            return False
        return _compare(words, self.operator, unquoted_value(self.value))


def parse_condition(written: str) -> Condition:
    """The condition that a text means. Raises ConditionError."""
    if len(written) > MAX_LENGTH:
        raise ConditionError(f"is longer than {MAX_LENGTH} characters.")
    found = _CONDITION.fullmatch(written)
    if not found:
        raise ConditionError(f"“{written[:80]}” is not a condition. {_EXAMPLES}")
    operator = " ".join(found["operator"].split()).replace("==", "=")
    condition = Condition(_from_json_text(found["quoted"]) or found["bare"] or "", operator, found["value"],
                          bool(found["length"]))  # fmt: skip
    fault = _fault(condition, written.strip())
    if fault:
        raise ConditionError(fault)
    return condition


def to_form(condition: Condition) -> tuple[str, str, str]:
    """(column, operator, value) as the builder shows them; the operator is one of OPERATORS or LENGTHS."""
    return condition.column, f"{'length ' * condition.length}{condition.operator}", condition.value


def from_form(column: str, operator: str, value: str) -> Condition:
    """The condition that the builder's three fields mean. Raises ConditionError, as `parse_condition` does."""
    length = operator in LENGTHS
    if not column.strip():
        raise ConditionError("choose a column.")
    if not length and operator not in OPERATORS:
        raise ConditionError(f"“{operator[:40]}” is not a comparison. There are {', '.join(OPERATORS + LENGTHS)}.")
    value = "" if operator in EMPTINESS else value.strip()
    return parse_condition(
        str(Condition(column, operator.removeprefix("length ") if length else operator, value, length))
    )


def to_python(condition: Condition) -> str:
    """A Python expression over `row` that is true where the condition holds; it needs `re` where the condition
    matches a pattern, and the functions `text` and `number` of this file."""
    cell, operator = f"row.get({condition.column!r})", condition.operator
    compared = "==" if operator == "=" else operator
    if condition.length:
        return f"len(text({cell})) {compared} {int(number(condition.value))}"
    if operator in EMPTINESS:
        return f"text({cell}).strip() {'==' if operator == 'is empty' else '!='} ''"
    value, wanted = unquoted_value(condition.value), number(condition.value)
    if operator == "matches":
        return f"re.search({value!r}, text({cell})) is not None"
    if operator in ("contains", "does not contain"):
        return f"{value!r} {'in' if operator == 'contains' else 'not in'} text({cell})"
    if wanted == wanted:
        return f"number({cell}) {compared} {wanted!r}"
    filled = "'' != " if operator in ORDER else ""  # an empty cell is neither before nor after anything
    return f"{filled}text({cell}) {compared} {value!r}"


def unquoted_value(value: str) -> str:
    """A condition's value without its quotes, if it has any."""
    return value if _from_json_text(value) is None else str(_from_json_text(value))


def text(cell: object) -> str:
    """A cell as text: nothing (missing, NaN, an empty list) is "", true is "true", a list or mapping is JSON."""
    if cell is None or cell != cell or cell == [] or cell == {}:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    return json.dumps(cell, ensure_ascii=False, default=str) if isinstance(cell, (list, dict)) else str(cell)


def number(cell: object) -> float:
    """The number that a cell is or writes; NaN, which equals nothing, where it is none."""
    written = "" if isinstance(cell, (bool, list, dict)) else str(cell).strip()
    if re.fullmatch(r"[-+]?[0-9]{1,300}", written):
        return int(written)  # whole numbers stay whole: ids are longer than a float is exact
    found = re.fullmatch(r"[-+]?([0-9]{1,300}\.?[0-9]{0,300}|\.[0-9]{1,300})([eE][-+]?[0-9]{1,3})?", written)
    return float(written) if found else float("nan")


def _compare(left: Any, operator: str, right: Any) -> bool:
    if operator in ORDER:
        return ORDER[operator](left, right)
    return bool(left == right) if operator == "=" else bool(left != right)


def _from_json_text(value: str | None) -> str | None:
    """What a text in double quotes says (JSON's escapes); None where it is not in quotes."""
    if value is None or len(value) < 2 or value[0] != '"' or value[-1] != '"':
        return None
    try:
        said = json.loads(value, strict=False)
    except ValueError:
        return None
    return said if isinstance(said, str) else None


def _needs_quotes(column: str) -> bool:
    """Whether a column's bare name would be read as something else."""
    if not column or column != column.strip() or "\n" in column:
        return True
    found = _CONDITION.fullmatch(f"{column} = 1")
    return not found or found["bare"] != column or bool(found["length"]) or found["value"] != "1"


def _fault(condition: Condition, written: str) -> str:
    """Why a condition that reads as one makes no sense, in words; "" where it does."""
    column, operator, value = condition.column, condition.operator, condition.value
    if not column:
        return f"“{condition}” names no column. {_EXAMPLES}"
    if operator in EMPTINESS:
        return f"“{operator}” takes no value, so “{value[:40]}” is too much." if value else _no_length(condition)
    if not value:
        return f"“{written}” lacks a value. Empty cells are found by “{column} is empty”."
    if condition.length:
        whole = re.fullmatch(r"[0-9]{1,9}", value) is not None
        return _no_length(condition) or ("" if whole else f"a length is a whole number, not “{value[:40]}”.")
    if operator == "matches":
        wrong = patterns.fault(unquoted_value(value))
        return f"“{value[:60]}” is not a regular expression: {wrong}." if wrong else ""
    return ""


def _no_length(condition: Condition) -> str:
    fits = not condition.length or condition.operator in ("=", "!=", *ORDER)
    return "" if fits else f"a length can be compared (=, !=, <, <=, >, >=), but “{condition.operator}” is for text."
