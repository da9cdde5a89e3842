"""Rows that ask nothing, and cells that no prompt can say: what training leaves out, counted, and what it refuses."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from groupwise.storage.spec.rows.prompt_cells import cell_in_prompt
from groupwise.storage.spec.rows.prompt_template import named_columns
from groupwise.storage.spec.spec import DataSpec
from groupwise.storage.spec.words.number_words import count_words, join_words
from groupwise.worker.data.files.data_error import DataError

Say = Callable[[str], None]


@dataclass(frozen=True)
class LeftOut:
    """`rows` (a Dataset, or a stream) without those that ask nothing. `tell` is called once as many as are wanted were
    read: it says how many were left out, and raises DataError where none is left."""

    rows: Any
    tell: Callable[[], None] = lambda: None


def asking_columns(spec: DataSpec, columns: Collection[str] = ()) -> list[str]:
    """The columns that a row's question comes from: the prompt column, or what the template names in braces. `columns`:
    those that there are."""
    named = named_columns(spec.prompt_template, columns)
    return [spec.prompt_column] if spec.prompt_column else list(dict.fromkeys(named))


def asks(row: dict[str, Any], columns: list[str]) -> bool:
    """Whether one of these columns says something in this row."""
    return any(cell_in_prompt(row.get(name)).strip() for name in columns)


def leave_out(rows: Any, spec: DataSpec, say: Say) -> LeftOut:
    """The rows without those that ask nothing; `say` is told how many those were. Raises DataError where none is left,
    of a stream when that is told."""
    columns = asking_columns(spec, getattr(rows, "column_names", None) or ())
    if not hasattr(rows, "__len__"):
        return _leave_out_of_stream(rows, spec, columns, say)
    left = rows.filter(asks, fn_kwargs={"columns": columns})
    _tell(spec, columns, len(rows) - len(left), count_words(len(rows), "row"), say, none_left=not len(left))
    return LeftOut(left)


def _leave_out_of_stream(rows: Any, spec: DataSpec, columns: list[str], say: Say) -> LeftOut:
    """Nobody knows how many rows a stream has: those that pass are counted as they are read, a few ahead of what is
    wanted."""
    seen = {True: 0, False: 0}

    def asks_counted(row: dict[str, Any]) -> bool:
        found = asks(row, columns)
        seen[found] += 1
        return found

    def tell() -> None:
        read = f"the {count_words(sum(seen.values()), 'row')} that were read"
        _tell(spec, columns, seen[False], read, say, none_left=not seen[True])

    return LeftOut(rows.filter(asks_counted), tell)


def _tell(spec: DataSpec, columns: list[str], gone: int, total: str, say: Say, *, none_left: bool) -> None:
    """`gone`: how many are left out; `total`: of which, in words."""
    if gone and none_left:
        field = "data.prompt_column" if spec.prompt_column else "data.prompt_template"
        raise DataError(f"none of the {total.removeprefix('the ')} has a prompt: {_empty(columns)}", field)
    if gone:
        has, is_left = ("has", "is left out") if gone == 1 else ("have", "are left out")
        say(f"{gone:,} of {total} {has} no prompt, and {is_left}: {_empty(columns)}.")


def _empty(columns: list[str]) -> str:
    named = join_words([f"“{name}”" for name in columns[:5]])
    return f"{named} {'is' if len(columns) == 1 else 'are'} empty there"


def refuse_mapping(name: str, cell: Any, field: str) -> None:
    """Raises DataError for a cell that a prompt could only say as code: a mapping, a list with one, or bytes."""
    if said := unsayable_words(name, cell):
        raise DataError(said, field)


def unsayable_words(name: str, cell: Any) -> str:
    """What to say of a cell of this column that a prompt could only say as code; "" of any other."""
    kind = _unsayable_kind(cell)
    if not kind:
        return ""
    refused = f"“{name}” holds {kind}, which cannot be a prompt"
    if isinstance(cell, dict) and "role" in cell and "content" in cell:
        chat = '[{"role": "user", "content": "…"}]'
        return (
            f"{refused}: its text stands in “content”. Write each as a chat, which is a list of messages, such as "
            f"{chat}, or write “content” as a column of its own"
        )
    return f"{refused}. Choose a column with text or numbers"


def _unsayable_kind(cell: Any) -> str:
    inner = cell if isinstance(cell, list) else [cell]
    if not any(isinstance(one, (dict, bytes)) for one in inner):
        return ""
    return "a list of mappings" if isinstance(cell, list) else "bytes" if isinstance(cell, bytes) else "a mapping"
