"""How a script cuts an answer out of a column → answer_column and answer_pattern, with a note on what has no place."""

import re
from typing import Any

from groupwise.storage.checks.script_reader.reading import Reading
from groupwise.storage.checks.script_reader.values import (
    Column,
    Either,
    Item,
    Made,
    Plain,
    Text,
    Value,
    inner_values,
    plain_or,
)

AFTER_HASHES = r"####\s*(.+)"  # what the many functions that split GSM8K's answers at #### come to
_STRIPS = {"strip", "lstrip", "rstrip"}
# What a replacement in the script makes of a number → how data.answer_numbers reads the same.
_NUMBERS = {(",", ""): "point", (",", "."): "comma"}
# … and what is taken off there reads so, too: what stands around a number (number_of_answer), or its thousands' mark.
_AROUND = re.compile(r"[^\w.,:/+\-−]+")
_THOUSANDS = {"comma": "."}
_CASES = {"lower", "upper", "casefold", "title", "capitalize"}


def answer_settings(reading: Reading, name: str, value: Value) -> dict[str, Any]:
    """The settings of an answer that a function makes."""
    return _Cut(reading, name, value).settings()


class _Cut:
    """Takes the steps apart that lead from a column to the answer, from the last one back."""

    def __init__(self, reading: Reading, name: str, value: Value) -> None:
        self.reading, self.name, self.value = reading, name, value
        self.pattern: str | None = None
        self.derived = False  # the pattern is none that the script says
        self.numbers: str | None = None
        self.changes: list[Made] = []  # of the text itself, the last one first

    def settings(self) -> dict[str, Any]:
        column = self._back(self.value)
        if column is not None:
            self.numbers = next(filter(None, map(_numbers_of, self.changes)), None)
        self._note_changes()
        if column is None:
            return self._lost()
        if self.derived:
            self.reading.unsaid.set("data.answer_pattern", self.pattern, "what the script's split gives")
        cut = {"answer_pattern": self.pattern, "answer_numbers": self.numbers}
        return {"answer_column": column} | {name: value for name, value in cut.items() if value is not None}

    def _lost(self) -> dict[str, Any]:
        columns = {inner.name for inner in inner_values(self.value) if isinstance(inner, Column)}
        if len(columns) != 1:
            self.reading.note(f"“{self.name}”", self.value, "is computed by the script: choose the answer column here.")
            return {"answer_column": None}
        column = columns.pop()
        after = f"is cut out of the column “{column}”: set the answer pattern here."
        self.reading.note(f"“{self.name}”", self.value, after)
        return {"answer_column": column}

    def _back(self, value: Value) -> str | None:
        for _ in range(30):
            if isinstance(value, Column):
                return value.name
            before = self._step(value)
            if before is None:
                return None
            value = before
        return None

    def _step(self, value: Value) -> Value | None:
        """What a value was before its last step; None where the step has no place in a spec."""
        if isinstance(value, Either):
            there = [option for option in value.options if not (isinstance(option, Plain) and not option.value)]
            return self._one_of(value, there)
        if isinstance(value, Text) and len(value.parts) == 1:
            return value.parts[0]
        if isinstance(value, Item) and isinstance(value.of, Made):
            return self._split(value.of, plain_or(value.key))
        if not isinstance(value, Made):
            return None
        if value.receiver is None:
            return self._function(value)
        if value.name in _STRIPS and not value.arguments:
            return value.receiver
        if value.name == "group" and isinstance(value.receiver, Made):
            return self._searched(value.receiver, plain_or(value.arguments[0], 0) if value.arguments else 0)
        if value.name in (*_STRIPS, *_CASES, "replace", "removeprefix", "removesuffix"):
            self.changes.append(value)
            return value.receiver
        return None

    def _one_of(self, value: Either, options: list[Value]) -> Value | None:
        """Where there is a choice: the one option that comes from a column through steps, the others being the column
        itself."""
        if len(options) > 1 or len(value.options) == 1:  # or it is there under a condition alone
            steps = [option for option in options if not isinstance(option, Column)]
            self.reading.note(
                f"“{self.name}”", value, "depends on a condition in the script: look at it in the preview."
            )
            options = steps if len(options) > 1 else options
        return options[0] if len(options) == 1 else None

    def _function(self, call: Made) -> Value | None:
        """str(x), float(x), and re.sub's."""
        if call.path in ("str", "int", "float", "Decimal", "decimal.Decimal") and len(call.arguments) == 1:
            if call.path != "str":
                self.reading.note(f"“{self.name}”", call, f"is made {call.path} in the script; here it stays text, and "
                                  "rewards that ship compare numbers by value.")  # fmt: skip
            return call.arguments[0]
        if call.path in ("re.sub", "regex.sub") and len(call.arguments) >= 3:
            self.changes.append(call)
            return call.arguments[2]
        return None

    def _note_changes(self) -> None:
        """Of those that the way numbers are read covers one note; of each other one that it was not taken."""
        made = self.changes[::-1]
        covered = [call for call in made if self.numbers and _is_covered(call, self.numbers)]
        if covered:
            said = " and ".join(dict.fromkeys(map(_in_words, covered)))
            self.reading.note(said, covered[0], f"on “{self.name}” became answer_numbers: {self.numbers}, which keeps "
                              "only the number of an answer. Look at it in the preview.")  # fmt: skip
        for call in made:
            if call not in covered:
                self.reading.note(_in_words(call), call, f"on “{self.name}” was not taken: answers stay as they are "
                                  "cut out here. Look at them in the preview.")  # fmt: skip

    def _split(self, call: Made, index: Any) -> Value | None:
        """text.split("####")[1], and [-1]; also of partition."""
        mark = plain_or(call.arguments[0]) if call.arguments else None
        if call.receiver is None or not isinstance(mark, str) or not mark or self.pattern is not None:
            return self._searched(call, index) if call.name == "search" else None
        self.pattern, self.derived = _split_pattern(call, mark, index), True
        if self.pattern is None:
            return None
        return call.receiver

    def _searched(self, call: Made, group: Any) -> Value | None:
        """re.search(pattern, text).group(1)."""
        pattern = plain_or(call.arguments[0]) if call.arguments else None
        text: Value | None = call.arguments[1] if len(call.arguments) > 1 else None
        if isinstance(call.receiver, Made) and call.receiver.name == "compile" and call.receiver.arguments:
            pattern, text = plain_or(call.receiver.arguments[0]), call.arguments[0] if call.arguments else None
        known = call.path in ("re.search", "regex.search") or (call.path == ".search" and text is not None)
        if not known or not isinstance(pattern, str) or self.pattern is not None or len(call.arguments) > 2:
            return None
        if group not in (0, 1) or (group == 1) != bool(_groups(pattern)):
            return None
        self.pattern = pattern
        return text


def _in_words(call: Made) -> str:
    return f"{call.name}({', '.join(repr(plain_or(value, '…'))[:30] for value in call.arguments[:2])})"


def _replaced(call: Made) -> tuple[Any, Any] | None:
    """What a replacement takes away, and what it puts there; None of other steps."""
    if call.name != "replace" or len(call.arguments) != 2:
        return None
    return plain_or(call.arguments[0]), plain_or(call.arguments[1])


def _numbers_of(call: Made) -> str | None:
    """How numbers are written where a replacement makes plain ones of them; None where it does something else."""
    replaced = _replaced(call)
    return _NUMBERS.get(replaced) if replaced else None


def _is_covered(call: Made, numbers: str) -> bool:
    """Whether an answer of which only the number is kept, read so, is without what a replacement takes away, too."""
    old, new = _replaced(call) or (None, None)
    if (old, new) == (_THOUSANDS.get(numbers), "") or _numbers_of(call) == numbers:
        return True
    return isinstance(old, str) and new == "" and bool(_AROUND.fullmatch(old))


def _split_pattern(call: Made, mark: str, index: Any) -> str | None:
    """The pattern of what split, rsplit, partition or rpartition gives at an index; None for all else."""
    if mark.strip() == "####" and index in (1, 2, -1):
        return AFTER_HASHES
    escaped, once = re.escape(mark), len(call.arguments) > 1
    after, last = rf"{escaped}([\s\S]*)", rf"(?:\A|{escaped})((?:(?!{escaped})[\s\S])*)\Z"
    between = rf"{escaped}([\s\S]*?)(?:{escaped}|\Z)"
    found = {
        ("split", 0): rf"\A([\s\S]*?)(?:{escaped}|\Z)", ("partition", 0): rf"\A([\s\S]*?)(?:{escaped}|\Z)",
        ("split", 1): after if once else between, ("split", -1): after if once else last,
        ("rsplit", -1): last, ("rsplit", 1): last if once else between,
        ("partition", 2): after, ("partition", -1): after, ("rpartition", 2): last, ("rpartition", -1): last,
    }  # fmt: skip
    return found.get((call.name, index)) if index.__class__ is int else None


def _groups(pattern: str) -> int:
    try:
        return re.compile(pattern).groups
    except (re.error, RecursionError, OverflowError):
        return 0
