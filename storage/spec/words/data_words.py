"""What people call the source of the data and the rows held out of it, under `data`: how a spec says it. Pure."""

from collections.abc import Mapping
from typing import Any

from groupwise.storage.spec.words.problem import Fix, Problem

# Kind of source → what it names, and how people call that.
_SOURCES = {
    "file": ("the file", ("path", "file", "filename", "file_name", "file_path", "data_file", "data_files",
                          "train_file")),
    "task": ("the task", ("task", "task_name", "builtin_task")),
    "gym": ("the task", ("gym", "gym_task")),
}  # fmt: skip
_HELD = ("eval", "evaluation", "test", "val", "validation", "valid", "dev", "heldout", "held_out", "holdout")
_COUNTED = ("rows", "row", "size", "split", "samples", "examples", "fraction", "ratio", "share", "count", "holdout")
_HELD_OUT = frozenset({f"{one}_{other}" for one in _HELD for other in _COUNTED} | {"held_out", "heldout", "hold_out"})


def source_by_kind(path: str, value: Any, beside: Mapping[str, Any], line: int | None = None) -> Problem | None:
    """The problem of a source that is given by its kind, as `data.path` or `data.task`; None of any other setting.
    `beside`: what else is set there, where a source that only says its kind is answered by it."""
    part, _, name = path.rpartition(".")
    kind = next((one for one, (_, names) in _SOURCES.items() if name in names), "")
    if part != "data" or not kind or not isinstance(value, str) or not value.strip():
        return None
    said, remove = f"there is no such field. The source names {_SOURCES[kind][0]}", Fix("Remove it", {}, (path,))
    source = value if value.startswith(f"{kind}:") else f"{kind}:{value}"
    if beside.get("source") not in (None, kind, f"{kind}:"):
        return Problem(path, f"{said}, and is set already.", line, fixes=(remove,))
    use = Fix(f"Write it as “source: {source}”", {"data.source": source}, (path,))
    return Problem(path, f"{said}: “source: {source}”.", line, fixes=(use, remove))


def held_out_by_name(path: str, value: Any, beside: Mapping[str, Any], line: int | None = None) -> Problem | None:
    """The problem of held-out rows under a name of others, as `data.eval_rows` or `data.eval_split`; None of any other
    setting. A number of rows or a share is taken over where none is set; the name of a split is neither."""
    part, _, name = path.rpartition(".")
    if part != "data" or name not in _HELD_OUT:
        return None
    remove = Fix("Remove it", {}, (path,))
    if beside.get("holdout") is not None:
        words = "there is no such field. Did you mean “holdout”? It is set already."
        return Problem(path, words, line, fixes=(remove,))
    if not _is_count_or_share(value):
        words = "there is no such field. Rows are held out of the same data: “holdout” is how many, or a share of them."
        return Problem(path, words, line, fixes=(remove,))
    rename = Fix("Rename it to holdout", {"data.holdout": value}, (path,))
    return Problem(path, "there is no such field. Did you mean “holdout”?", line, fixes=(rename, remove))


def _is_count_or_share(value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and (0 < value < 1 or (isinstance(value, int) and value > 0))
