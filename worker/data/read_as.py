"""What the preview says of how a file was read: in words, with its first rows, and what looks read wrongly."""

import contextlib
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from groupwise.storage.registry.messages.preview import RAW_CELL, RAW_COLUMNS, RAW_ROWS, SHEETS, ReadAs
from groupwise.storage.spec.rows.file_format import ENCODING_WORDS, SEPARATOR_WORDS, SEPARATORS
from groupwise.storage.spec.rows.heading_names import unnamed_columns
from groupwise.storage.spec.rows.prompt_template import named_columns
from groupwise.storage.spec.rows.row_filter import ConditionError, parse_condition
from groupwise.storage.spec.spec import DataSpec
from groupwise.storage.spec.words.problem import ADVICE, BLOCKING, WARNING, Fix, Problem
from groupwise.worker.data import mapping
from groupwise.worker.data.files.csv_table import NO_HEADING
from groupwise.worker.data.files.file_reading import FileReading
from groupwise.worker.data.files.formulas import LOST
from groupwise.worker.data.files.heading import is_a_row
from groupwise.worker.data.files.long_numbers import INEXACT
from groupwise.worker.data.files.shown_otherwise import OTHERWISE
from groupwise.worker.data.files.text_encoding import misread_letters
from groupwise.worker.data.files.workbook import MERGED, UNNAMED
from groupwise.worker.data.unasked import asking_columns


def describe_reading(table: Any, first: mapping.Rows, asked: DataSpec) -> ReadAs | None:
    """How the file of a table.Table was read; None for what is no file."""
    reading = table.reading
    if reading is None:
        return None
    columns = table.columns[:RAW_COLUMNS]
    return ReadAs(
        kind=reading.kind,
        words=reading.in_words(),
        settings={f"data.{name}": value for name, value in reading.settings().items()},
        found=[f"data.{name}" for name in reading.settings() if getattr(asked, name) is None],
        sheets=name_sheets(reading.sheets),
        columns=len(table.columns),
        heading=[mapping.shorten_cell(name, RAW_CELL) for name in columns],
        lines=[[mapping.shorten_cell(row.get(name), RAW_CELL) for name in columns] for row in first[:RAW_ROWS]],
    )


def name_sheets(sheets: tuple[str, ...]) -> list[str]:
    """The names of a workbook's sheets, as an answer carries them."""
    return [name[:200] for name in sheets[:SHEETS]]


def reading_problems(table: Any, first: mapping.Rows, asked: DataSpec) -> list[Problem]:
    """What looks read wrongly, each with what would read it otherwise."""
    reading = table.reading
    if reading is None:
        return []
    return [
        *_one_column(table.columns, reading, asked),
        *(_misread(table, first, asked) or _doubt(reading)),
        *_mixed_problem(table, reading),
        *_heading_problem(table, first, asked),
    ]


def note_problems(table: Any, first: mapping.Rows, asked: DataSpec) -> list[Problem]:
    """The table's notes as problems; those about a heading that is no heading come of that, which is said."""
    doubted = table.reading is not None and bool(_heading_problem(table, first, asked))
    about_heading = (UNNAMED, MERGED) if doubted else ()
    notes = [note for note in notes_of_used(table, asked) if not any(words in note for words in about_heading)]
    said = [Problem("data.source", note, level=WARNING, fixes=_note_fixes(table, note)) for note in notes]
    return [*said, *(Problem("data.source", note, level=ADVICE) for note in notes_of_left_out(table, asked))]


def notes_of_used(table: Any, asked: DataSpec) -> list[str]:
    """The table's notes, of those about cells that are not read as they are written those about columns in use;
    those about empty cells of rows that the filter leaves out are `notes_of_left_out`."""
    used = _quoted_in_use(table, asked)
    about_cells = (OTHERWISE, INEXACT)
    return [
        note for note in table.notes
        if (not any(words in note for words in about_cells) or any(name in note for name in used))
        and not (LOST in note and _is_left_out(note, table.columns, used, asked))
    ]  # fmt: skip


def notes_of_left_out(table: Any, asked: DataSpec) -> list[str]:
    """The table's notes about empty cells of which the filter leaves out every row: why those rows are missing."""
    used = _quoted_in_use(table, asked)
    left = [note for note in table.notes if LOST in note and _is_left_out(note, table.columns, used, asked)]
    return [f"{note} Until then, the condition leaves these rows out." for note in left]


def _quoted_in_use(table: Any, asked: DataSpec) -> list[str]:
    return [f"“{name}”" for name in (asked.answer_column, *asking_columns(asked, table.columns))]


def _is_left_out(note: str, columns: list[str], used: list[str], asked: DataSpec) -> bool:
    """Whether the filter leaves out every row that a note about empty cells is of: those of its columns in use, or of
    all that it names where none is."""
    quoted = [f"“{name}”" for name in columns if f"“{name}”" in note]
    about = [name for name in quoted if name in used] or quoted
    return bool(about) and all(name in _filled_columns(asked) for name in about)


def _filled_columns(asked: DataSpec) -> set[str]:
    """The columns, in quotation marks, of which the filter keeps no empty cell."""
    found = set()
    for written in asked.filter:
        with contextlib.suppress(ConditionError):  # which is said of the filter
            one = parse_condition(written)
            found |= set() if one.holds({one.column: ""}) else {f"“{one.column}”"}
    return found


def _note_fixes(table: Any, note: str) -> tuple[Fix, ...]:
    line = table.reading.skip_lines + 1 if table.reading else 1
    return (Fix(f"Skip line {line}: it is a title", {"data.skip_lines": line}),) if note.startswith(MERGED) else ()


def _doubt(reading: FileReading) -> list[Problem]:
    """Two encodings fit: few letters tell them apart. Both readings of a word are shown, to choose by."""
    if reading.doubt is None:
        return []
    here, there = (ENCODING_WORDS[name] for name in (reading.doubt.name, reading.doubt.rival))
    message = (
        f"read as {here}, judged by few letters: “{reading.doubt.word}” would be “{reading.doubt.rival_word}” in "
        f"{there}. If it looks wrong, change the encoding."
    )
    fix = Fix(f"Read it as {there}", {"data.encoding": reading.doubt.rival})
    return [Problem("data.encoding", message, level=ADVICE, fixes=(fix,))]


def _mixed_problem(table: Any, reading: FileReading) -> list[Problem]:
    """Lines in another encoding than the rest: which, and how they are read."""
    odd = reading.odd
    if odd is None:
        return []
    which = (
        f"line {odd.first:,} of {table.path.name} is"
        if odd.count == 1
        else (f"{odd.count:,} lines of {table.path.name}, line {odd.first:,} first, are")
    )
    message = (
        f"{which} not in UTF-8 as the rest is: read as Windows-1252, so “{odd.word}” is in line {odd.first:,}. If it "
        "looks wrong, save the file anew in UTF-8."
    )
    fix = Fix("Read all of it as Windows-1252", {"data.encoding": "cp1252"})
    return [Problem("data.encoding", message, level=WARNING, fixes=(fix,))]


def without_effects(problems: list[Problem]) -> list[Problem]:
    """The problems without those that come of a first line taken for the heading: what the columns are called is to be
    said first. Where that keeps the run from being launched, it does so itself."""
    heading = next((one for one in problems if one.field == "data.heading"), None)
    effects = [one for one in problems if one.level == BLOCKING and one.field in _BY_COLUMNS]
    if heading is None or not effects:
        return problems
    line = Fix("Keep the first line as the heading, then choose the columns", {"data.heading": "line"})
    cause = replace(heading, level=BLOCKING, fixes=(*heading.fixes, line))
    return [cause if one is heading else one for one in problems if one not in effects]


def is_heading_in_doubt(problems: list[Problem]) -> bool:
    """Whether the columns may have other names: nothing is suggested by these."""
    return any(one.field == "data.heading" and one.level == BLOCKING for one in problems)


def are_names_mixed(table: Any) -> bool:
    """Whether a name of a column is rather those of several, apart by another separator: “answer,hint”."""
    return table.reading is not None and table.reading.mixed is not None and table.reading.mixed.in_heading


_BY_COLUMNS = ("data.prompt_template", "data.prompt_column", "data.answer_column")


def _heading_problem(table: Any, first: mapping.Rows, asked: DataSpec) -> list[Problem]:
    """A first line that is a title or a row, taken for the names of the columns."""
    if asked.heading is not None or table.reading.heading != "line":
        return []
    if table.reading.kind in ("csv", "sheet") and (below := table.title_fix()):
        title = mapping.shorten_cell(table.columns[0], 40)
        message = f"the first line looks like a title, but is taken for the heading: “{title}”."
        return [Problem("data.heading", message, level=WARNING, fixes=(below,))]
    if not is_a_row(table.columns, first):
        return []
    names = ", ".join(f"“{mapping.shorten_cell(name, 40)}”" for name in table.columns[:3])
    message = f"the first line looks like a row, but is taken for the heading: {names}."
    return [Problem("data.heading", message, level=WARNING, fixes=(_as_row(table.columns, first, asked),))]


def _as_row(columns: list[str], first: mapping.Rows, asked: DataSpec) -> Fix:
    """The click that takes the first line for a row; where no column was chosen yet, with those that fit then."""
    if is_mapped(asked):
        return NO_HEADING
    numbered = unnamed_columns(len(columns))
    rows = [dict(zip(numbered, cells, strict=True)) for cells in (columns, *(_cells(row, columns) for row in first))]
    guessed = {path: value for path, value in mapping.guess(numbered, rows).items() if value is not None}
    return replace(NO_HEADING, settings={**NO_HEADING.settings, **guessed})


def is_mapped(asked: DataSpec) -> bool:
    """Whether columns were chosen."""
    return bool(mapped_paths(asked))


def mapped_paths(asked: DataSpec) -> list[str]:
    """The settings, by dotted path, by which columns were chosen."""
    return [f"data.{name}" for name in _MAPPING if getattr(asked, name) != getattr(mapping.UNSAID, name)]


def is_mapped_to_others(asked: DataSpec, columns: Collection[str]) -> bool:
    """Whether columns were chosen, and none that there is: they are another file's."""
    chosen = {path: getattr(asked, path.removeprefix("data.")) for path in mapped_paths(asked)}
    named = {*named_columns(chosen.pop("data.prompt_template", "")), *filter(None, chosen.values())}
    return bool(named) and not named & set(columns)


_MAPPING = ("prompt_template", "prompt_column", "answer_column")


def _cells(row: dict[str, Any], columns: list[str]) -> list[Any]:
    return [row.get(name) for name in columns]


def _one_column(columns: list[str], reading: FileReading, asked: DataSpec) -> list[Problem]:
    if len(columns) > 1 or not reading.separator:
        return []
    other = next((name for name, mark in SEPARATORS.items() if mark in columns[0] and name != reading.separator), None)
    if other is None or asked.separator is None:
        return []
    message = (
        f"with {SEPARATOR_WORDS[reading.separator]} there is only one column; it looks separated by "
        f"{SEPARATOR_WORDS[other]}."
    )
    fix = Fix(f"Separate by {SEPARATOR_WORDS[other]}", {"data.separator": other})
    return [Problem("data.separator", message, level=WARNING, fixes=(fix,))]


def _misread(table: Any, first: mapping.Rows, asked: DataSpec) -> list[Problem]:
    texts = [*table.columns, *(cell for row in first for cell in row.values() if isinstance(cell, str))]
    example = misread_letters(texts)
    if not example:
        return []
    fixes: tuple[Fix, ...] = ()
    if asked.encoding not in (None, "utf-8") and table.reading.encoding:
        fixes = (Fix("Find the encoding", {}, ("data.encoding",)),)
        message = f"looks wrong: “{example}”. The file may be in another encoding."
        return [Problem("data.encoding", message, level=WARNING, fixes=fixes)]
    message = (
        f"some letters were damaged before the file was saved: “{example}”. Export it again, with UTF-8 throughout."
    )
    return [Problem("data.source", message, level=WARNING)]
