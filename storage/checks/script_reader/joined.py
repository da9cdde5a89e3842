"""Datasets that a script joins. A run has one of them: a person says which, and the script is read as if it trained on
that one, with all that it does to its rows."""

from typing import Any

from groupwise.storage.checks.script_reader.reading import Reading
from groupwise.storage.checks.script_reader.source import is_source, source_settings
from groupwise.storage.checks.script_reader.values import Item, Items, Made, Value, plain_or, script_line
from groupwise.storage.spec.words.number_words import join_words

_JOINS = ("concatenate_datasets", "interleave_datasets")


def chosen_part(reading: Reading, value: Value) -> Value | None:
    """The dataset that was chosen of those that a call joins (Reading.chosen); None where it joins none, or none was
    chosen. What is left out is noted."""
    if not (isinstance(value, Made) and value.name in _JOINS):
        return None
    parts, found = _known_parts(reading, value)
    reading.datasets = _labels(found)
    reading.account(value)
    if not 1 <= reading.chosen <= len(parts):
        _note_none_chosen(reading, value, parts)
        return None
    name = reading.datasets[reading.chosen - 1]
    others = [other for other in reading.datasets if other != name]
    left = f" {join_words(others)} {'were' if len(others) > 1 else 'was'} left out." if others else ""
    reading.note(f"{value.name}(…)", value, f"was not taken, as a run has one dataset: {name} was chosen.{left}")
    return parts[reading.chosen - 1]


def _known_parts(reading: Reading, call: Made) -> tuple[list[Value], list[dict[str, Any]]]:
    """The datasets that can be named, each once, and of each where its rows come from. Nothing is noted of them yet:
    what was noted of one that is not chosen would be about another run."""
    given = call.arguments[0] if call.arguments else call.keywords.get("dsets", call.keywords.get("datasets"))
    unheard = Reading(reading.script, reading.lines, reading.place, reading.known_settings)
    parts, found = list[Value](), list[dict[str, Any]]()
    for value in given.items if isinstance(given, Items) else []:
        if (settings := _settings_of(unheard, value)) and all(value is not other for other in parts):
            parts.append(value)
            found.append(settings)
    return parts, found


def _settings_of(reading: Reading, value: Value) -> dict[str, Any]:
    """Where the rows of one of them come from, whatever steps they went through; {} where that cannot be told."""
    split = ""
    for _ in range(50):
        if isinstance(value, Item):
            said = plain_or(value.key)
            split, value = said if isinstance(said, str) else split, value.of
        elif isinstance(value, Made) and is_source(value):
            found = source_settings(reading, value)
            return {"split": split, **found} if found.get("source") else {}
        elif isinstance(value, Made) and value.receiver is not None:
            value = value.receiver
        else:
            break
    return {}


def _labels(found: list[dict[str, Any]]) -> list[str]:
    """A name for each, by which they can be told apart."""
    names = [one["source"].partition(":")[2] for one in found]
    said = [", ".join(str(one[field]) for field in ("config", "split") if one.get(field)) for one in found]
    longer = [
        f"{name} ({more})" if more and names.count(name) > 1 else name for name, more in zip(names, said, strict=True)
    ]
    return [f"{name}, no. {n}" if longer.count(name) > 1 else name for n, name in enumerate(longer, 1)]


def _note_none_chosen(reading: Reading, call: Made, parts: list[Value]) -> None:
    joined = f"it joins {join_words(reading.datasets)}, and " if len(parts) > 1 else ""
    steps = dict.fromkeys(step for part in parts for step in _steps_of(reading, part))
    without = f" Until then, what the script does to their rows is left out: {', '.join(steps)}." if steps else ""
    after = f"was not taken: {joined}a run has one dataset. Choose one, or join them in one file.{without}"
    reading.note(f"{call.name}(…)", call, after)


def _steps_of(reading: Reading, value: Value) -> list[str]:
    """What is done to the rows of a dataset, in the script's order."""
    steps: list[str] = []
    inner: Value | None = value
    while inner is not None and not is_source(inner) and len(steps) < 50:
        if isinstance(inner, Made):
            steps.append(f"{inner.name}(…) ({reading.place(script_line(inner))})")
        inner = inner.receiver if isinstance(inner, Made) else inner.of if isinstance(inner, Item) else None
    return steps[::-1]
