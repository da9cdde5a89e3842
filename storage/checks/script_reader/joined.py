"""Datasets that a script joins. A run has one of them: a person says which, and the script is read as if it trained on
that one, with all that it does to its rows."""

from dataclasses import dataclass, field
from typing import Any

from groupwise.storage.checks.script_reader.reading import Reading, quote_code, short_path
from groupwise.storage.checks.script_reader.source import is_source, makes_rows, note_no_source, source_settings
from groupwise.storage.checks.script_reader.values import Item, Items, Made, Value, beginning, plain_or, script_line
from groupwise.storage.spec.words.number_words import join_words

_JOINS = ("concatenate_datasets", "interleave_datasets")


@dataclass
class _Parts:
    """What a call joins. `values`: the datasets that can be named, each once; `settings`: where the rows of each come
    from; `others`: what the rest is called, and the sentences that say why it cannot be taken."""

    values: list[Value] = field(default_factory=list)
    settings: list[dict[str, Any]] = field(default_factory=list)
    others: dict[str, list[str]] = field(default_factory=dict)


def chosen_part(reading: Reading, value: Value) -> Value | None:
    """The dataset that was chosen of those that a call joins (Reading.chosen); None where it joins none, or none was
    chosen. What is left out is noted."""
    if not joins(value):
        return None
    assert isinstance(value, Made)
    parts = _Parts()
    _sort_parts(reading, value, parts)
    reading.datasets = _labels(parts.settings)
    reading.untaken = list(dict.fromkeys(sentence for said in parts.others.values() for sentence in said))
    for sentence in reading.untaken:
        reading.tell(sentence, value)
    reading.account(value)
    _note_mixing(reading, value)
    if not 1 <= reading.chosen <= len(parts.values):
        _note_none_chosen(reading, value, parts)
        return None
    name = reading.datasets[reading.chosen - 1]
    others = [*(other for other in reading.datasets if other != name), *parts.others]
    left = f" {join_words(others)} {'were' if len(others) > 1 else 'was'} left out." if others else ""
    reading.note(f"{value.name}(…)", value, f"was not taken, as a run has one dataset: {name} was chosen.{left}")
    return parts.values[reading.chosen - 1]


def _note_mixing(reading: Reading, call: Made) -> None:
    """Name how the rows are mixed: a run has those of one dataset, in its own order."""
    places = {"interleave_datasets": ("datasets", "probabilities", "seed"), "concatenate_datasets": ("dsets",)}
    given = dict(zip(places[call.name], call.arguments, strict=False)) | call.keywords
    names = [one for one in ("probabilities", "seed", "stopping_strategy") if plain_or(given.get(one), 0) is not None]
    known = {name: plain_or(given[name], "") for name in names if name in given}
    said = [f"{name} {value}".rstrip() for name, value in known.items()]
    if said:
        after = "say how rows are mixed, and were not taken: a run has the rows of one dataset."
        reading.note(f"{call.name}’s {join_words(said)}", call, after)


def joins(value: Value) -> bool:
    """Whether a value is a call that joins datasets."""
    return isinstance(value, Made) and value.name in _JOINS


def _sort_parts(reading: Reading, call: Made, parts: _Parts) -> None:
    """Sort what a call joins, and what is joined inside. Nothing is noted of the datasets yet: what was noted of one
    that is not chosen would be about another run."""
    given = call.arguments[0] if call.arguments else call.keywords.get("dsets", call.keywords.get("datasets"))
    known = isinstance(given, Items)
    if given is not None and (not isinstance(given, Items) or given.open):
        rest = "More datasets" if known else "The datasets"
        after = f"that {call.name}(…) joins are computed by the script."
        parts.others.setdefault(rest.lower(), []).append(f"{rest} ({reading.place(script_line(call))}) {after}")
    for value in given.items if isinstance(given, Items) else []:
        unheard = Reading(reading.script, reading.lines, reading.place, reading.known_settings)
        if isinstance(value, Made) and joins(value):
            _sort_parts(reading, value, parts)
        elif not (settings := _settings_of(unheard, value)):
            parts.others.setdefault(_name_of_part(reading, value), []).extend(unheard.line_notes)
        elif all(value is not other for other in parts.values):
            parts.values.append(value)
            parts.settings.append(settings)


def _name_of_part(reading: Reading, value: Value) -> str:
    """What a dataset is called that has no name: the call that it begins with, and its line."""
    first = beginning(value)
    said = f"{short_path(first)}(…)" if isinstance(first, Made) else quote_code(first.node)
    return f"{said} ({reading.place(script_line(first))})"


def _settings_of(reading: Reading, value: Value) -> dict[str, Any]:
    """Where the rows of one of them come from, whatever steps they went through; {}, and a note, where that cannot be
    told."""
    split = ""
    for _ in range(50):
        if isinstance(value, Item):
            said = plain_or(value.key)
            split, value = said if isinstance(said, str) else split, value.of
        elif isinstance(value, Made) and is_source(value):
            found = source_settings(reading, value)
            return {"split": split, **found} if found.get("source") else {}
        elif isinstance(value, Made) and value.receiver is not None and not makes_rows(value):
            value = value.receiver
        else:
            break
    note_no_source(reading, value)
    return {}


def _labels(found: list[dict[str, Any]]) -> list[str]:
    """A name for each, by which they can be told apart."""
    names = [one["source"].partition(":")[2] for one in found]
    said = [", ".join(str(one[field]) for field in ("config", "split") if one.get(field)) for one in found]
    longer = [
        f"{name} ({more})" if more and names.count(name) > 1 else name for name, more in zip(names, said, strict=True)
    ]
    return [f"{name}, no. {n}" if longer.count(name) > 1 else name for n, name in enumerate(longer, 1)]


def _note_none_chosen(reading: Reading, call: Made, parts: _Parts) -> None:
    names = [*reading.datasets, *parts.others]
    joined = f"it joins {join_words(names)}, and " if len(parts.values) + len(parts.others) > 1 else ""
    steps = dict.fromkeys(step for part in parts.values for step in _steps_of(reading, part))
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
