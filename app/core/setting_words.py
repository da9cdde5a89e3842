"""The values of settings in the words of the form, for people who never saw the YAML. Pure."""

from typing import Any

from groupwise.app.core.field_labels import REWARD
from groupwise.storage.analysis.compare import fields
from groupwise.storage.spec.rows import file_format

# What the form calls the choices of how a file is read, by the setting's path.
FILE_WORDS: dict[str, dict[str, str]] = {
    "data.separator": file_format.SEPARATOR_WORDS,
    "data.quote": file_format.QUOTE_WORDS,
    "data.encoding": file_format.ENCODING_WORDS,
    "data.heading": file_format.HEADING_WORDS,
}
_CHOICES = {
    **FILE_WORDS,
    "data.answer_numbers": {"point": "only the number: 1,234.5", "comma": "only the number: 1.234,5"},
}
# What a setting without a value comes to, where that is not just “not set”.
_UNSET = {
    **dict.fromkeys(FILE_WORDS, "found in the file"),
    "data.skip_lines": "found in the file", "data.sheet": "the first",
    "data.limit": "all", "data.columns": "all", "data.shuffle": "not shuffled", "data.answer_numbers": "as written",
    "data.answer_column": "no answer",
}  # fmt: skip


def source_words(source: str) -> str:
    """Data as a sentence names it: the built-in task arithmetic, Aufgaben.xlsx, openai/gsm8k."""
    kind, _, name = source.partition(":")
    tasks = {"task": "the built-in task ", "gym": "the reasoning-gym task "}
    return f"{tasks.get(kind, '')}{name.strip() or source}"


def compared_words(name: str, value: Any) -> str:
    """A setting's value by its dotted name: commas, Windows-1252, first line, on, not set."""
    if value is None:
        return _UNSET.get(name, "not set")
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (list, dict)) and not value:
        return "none"
    if name.endswith(".schedule") and isinstance(value, list):
        return ", ".join(f"{fields.words(one['weight'])} at step {fields.words(one['step'])}" for one in value)
    if name.endswith(".adapt") and isinstance(value, dict):
        return ", ".join(f"{_adapt_label(part)} {fields.words(given)}" for part, given in value.items())
    if isinstance(value, list) and all(isinstance(one, (str, int, float)) for one in value):
        return ", ".join(fields.words(one) for one in value)
    return _CHOICES.get(name, {}).get(str(value)) or fields.words(value)


def _adapt_label(part: str) -> str:
    """What the form calls a part of an adaptive weight, within a sentence."""
    label = REWARD[f"adapt.{part}"][0]
    return label[:1].lower() + label[1:]
