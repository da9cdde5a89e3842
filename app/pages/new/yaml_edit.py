"""Change settings in a YAML text and leave the rest as it was typed: order, comments, other fields."""

from typing import Any

from groupwise.app.pages.new.yaml_splices import NotInPlace, Splices
from groupwise.storage.spec.words.problem import SpecError
from groupwise.storage.spec.yaml import yaml_text
from groupwise.storage.spec.yaml.yaml_text import Document, dump

ABSENT = object()  # as a value: the setting is not there
Path = tuple[str, ...]


def mapping_of(text: str) -> Document | None:
    """The text, parsed; None where it is no YAML mapping."""
    try:
        document = yaml_text.parse_document(text)
    except SpecError:
        return None
    return document if isinstance(document.values, dict) else None


def load(text: str) -> dict[str, Any] | None:
    """The settings as plain values; None where the text is no YAML mapping."""
    document = mapping_of(text)
    return None if document is None else yaml_text.copy_plain(document.values)


def get_setting(raw: dict[str, Any], path: Path) -> Any:
    """The value at a path, or ABSENT."""
    for part in path:
        if not isinstance(raw, dict) or part not in raw:
            return ABSENT
        raw = raw[part]
    return raw


def set_setting(raw: dict[str, Any], path: Path, value: Any) -> None:
    """Set or (ABSENT) remove one setting in plain values. What is on the way to it and no mapping becomes one."""
    *way, last = path
    for part in way:
        if not isinstance(raw.get(part), dict):
            if value is ABSENT:
                return
            raw[part] = {}
        raw = raw[part]
    if value is ABSENT:
        raw.pop(last, None)
    else:
        raw[last] = value


def rewrite(document: Document, wanted: dict[str, Any], written: dict[str, str] | None = None) -> str:
    """The text with other settings: only the lines of those that differ change, and no comment is lost. `written`: how
    a person typed a value, by dotted path.

    Where a place cannot be found (an explicit key, “? name”), the whole is written anew, its comments first.
    """
    splices = Splices(document, written or {})
    try:
        text = splices.make(wanted)
    except NotInPlace:
        text = None
    made = mapping_of(text) if text is not None else None
    if text is not None and made is not None and is_written_alike(made.values, wanted):
        return text
    return "".join(f"{comment}\n" for comment in splices.comments()) + dump(wanted)


def is_written_alike(one: Any, other: Any) -> bool:
    """Whether two values are written alike: 1 is not 1.0 here, and .nan is .nan."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(is_written_alike(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(is_written_alike, one, other))
    return bool(one == other) or (one != one and other != other)
