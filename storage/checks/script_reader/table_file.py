"""A file that a script reads by its path, with pandas or datasets: its name, and how it is read."""

import codecs
from typing import Any

from groupwise.storage.checks.script_reader.made_rows import is_comprehension
from groupwise.storage.checks.script_reader.reading import Reading
from groupwise.storage.checks.script_reader.unsaid import NO_CHANGE
from groupwise.storage.checks.script_reader.values import Item, Made, Value, plain_or
from groupwise.storage.spec.rows.file_format import ENCODING_WORDS, SEPARATORS, settings_of_source

READERS = {"from_json", "from_csv", "from_parquet", "read_csv", "read_json", "read_parquet", "read_excel"}
_FROM_TABLE = {"from_pandas", "from_list", "from_dict"}
_PLACES = {"read_excel": ["io", "sheet_name"]}
_PATHS = ("io", "filepath_or_buffer", "path_or_buf", "path_or_paths", "path")
_FIELDS = {"sheet_name": "sheet", "skiprows": "skip_lines", "sep": "separator", "delimiter": "separator",
           "encoding": "encoding", "nrows": "limit"}  # fmt: skip
_USUAL: dict[str, tuple[Any, ...]] = {
    "sheet_name": (0,), "header": (0, "infer"), "sep": (None,), "delimiter": (None,), "skiprows": (None, 0),
    "encoding": (None,), "nrows": (None,), "quotechar": ('"',), "decimal": (".",), "column_names": (None,),
    "names": (None,), "lines": (True,), "orient": (None, "records"),
}  # fmt: skip
_NO_MATTER = {"engine", "low_memory", "dtype_backend"}
_AFTER = {"decimal": "could not be taken: set data.answer_numbers to how answers write their numbers."}


def reads_file(value: Value | None) -> bool:
    """Whether a value is a file that is read by its path."""
    return isinstance(value, Made) and value.name in READERS


def table_of(value: Value) -> Value | None:
    """Dataset.from_pandas(df), from_list(df.to_dict("records")): the table that a dataset is made of, where that was
    read from a file."""
    if not isinstance(value, Made) or value.name not in _FROM_TABLE:
        return None
    given = value.arguments[0] if value.arguments else next(iter(value.keywords.values()), None)
    inner, listed = given, False
    for _ in range(50):
        listed |= is_comprehension(inner)
        if reads_file(inner) or (listed and isinstance(inner, Made) and inner.name == "load_dataset"):
            return given
        inner = inner.receiver if isinstance(inner, Made) else inner.of if isinstance(inner, Item) else None
    return None


def path_and_rest(load: Made) -> tuple[Value | None, dict[str, Value]]:
    """The path that a call reads from, and what else it is given, by name."""
    places = _PLACES.get(load.name, ["path"])
    given = dict(zip(places, load.arguments, strict=False)) | load.keywords
    given |= {f"argument {number}": one for number, one in enumerate(load.arguments, 1) if number > len(places)}
    path = next((name for name in (*_PATHS, *given) if name in given), "")
    return given.pop(path, None), given


def reading_settings(reading: Reading, load: Made, rest: dict[str, Value], source: str) -> dict[str, Any]:
    """How the file is read, as settings under data; a note on all else that the call is given."""
    taken: dict[str, Any] = {}
    for name, value in rest.items():
        reading.account(value)
        field, said = _FIELDS.get(name, ""), _setting(name, plain_or(value))
        if name in _NO_MATTER or plain_or(value, ...) in _USUAL.get(name, ()):
            reading.leave_out(f"{load.name}'s {name}", value, NO_CHANGE)
        elif said is not None and (field == "limit" or field in settings_of_source(source)):
            taken[field] = said
        else:
            reading.note(f"{load.name}'s {name}", value, _AFTER.get(name, "could not be taken."))
    reading.note_dark(load.dark, f"{load.name}'s settings")
    return taken


def _setting(name: str, said: Any) -> Any:
    """What a setting is called here; None where it has no such value."""
    if name in ("skiprows", "nrows"):
        least, most = (0, 1000) if name == "skiprows" else (1, 10**12)
        return said if type(said) is int and least <= said <= most else None
    if not isinstance(said, str):
        return None
    if name in ("sep", "delimiter"):
        return next((word for word, mark in SEPARATORS.items() if mark == said), None)
    if name == "encoding":
        return _encoding_here(said)
    return said if name == "sheet_name" and 0 < len(said) <= 200 else None


def _encoding_here(said: str) -> str | None:
    """A codec by the name that a spec has for it, whichever of its names the script says; None where there is none."""
    if said.lower() in ENCODING_WORDS:
        return said.lower()
    codec = _codec_name(said)
    return next((word for word in ENCODING_WORDS if codec and _codec_name(word) == codec), None)


def _codec_name(name: str) -> str | None:
    try:
        return codecs.lookup(name).name
    except (LookupError, ValueError):  # ValueError: a null character
        return None
