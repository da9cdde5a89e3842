"""Answers “what does this data look like, and what will the model read?”, for any row of any source.

Nothing of the data is ever run: cells are text, capped, and templates reach columns only.
"""

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from groupwise.storage.checks.data import CHOOSE_ANOTHER, MEANWHILE
from groupwise.storage.registry.messages.message import Answer
from groupwise.storage.registry.messages.preview import (
    CELL,
    COLUMNS,
    ROLE,
    SAMPLE,
    TEXT,
    ChatMessage,
    Column,
    PreviewAnswer,
    PreviewQuestion,
    RowCount,
    ShownRow,
)
from groupwise.storage.registry.messages.problem import Failed, messages_of
from groupwise.storage.spec.answer_numbers import written_with
from groupwise.storage.spec.rows import patterns, row_filter
from groupwise.storage.spec.rows.file_format import FILE_SETTINGS, file_kind
from groupwise.storage.spec.rows.prompt_cells import cell_in_prompt
from groupwise.storage.spec.spec import DataSpec, ModelSpec
from groupwise.storage.spec.words.number_words import count_words, join_words
from groupwise.storage.spec.words.problem import WARNING, Fix, Problem
from groupwise.worker.data import data, mapping, preview_source, read_as, tokens
from groupwise.worker.data.files.csv_table import NO_HEADING
from groupwise.worker.data.files.data_error import DataError
from groupwise.worker.data.files.file_reading import FileReading
from groupwise.worker.data.files.table import Table

FIRST = 20  # rows from which kinds and guesses are made
SOUGHT = 1000  # rows among which one that the filter keeps is looked for, and what fills a column


def answer_preview(question: PreviewQuestion) -> Answer:
    """What columns the data has, a row, the prompt made of it, what is wrong, and settings that may fit."""
    try:
        return preview(question.data, question.model, question.row)
    except DataError as error:
        return failed_preview(error, question.data)


def preview(asked: DataSpec, model: ModelSpec, chosen: int | None = None) -> PreviewAnswer:
    """Show what a row of a spec's data becomes: the chosen one, else the first that the filter keeps. Raises DataError
    where there is nothing to show."""
    table = preview_source.table_of(asked)
    first = list(itertools.islice(table.rows(), FIRST))
    refuse_all_empty(table, first, asked)
    kept = _first_kept(asked, table.rows()) if chosen is None else None
    index, row, exact = (*kept, True) if kept else (chosen or 0, *table.row(chosen or 0))
    filled = first + _filling_rows(table, first)
    count, counted = table.count()
    most = SOUGHT if count > SOUGHT or not counted else None
    guessed = {} if read_as.are_names_mixed(table) else mapping.guess(table.columns, filled)
    found = mapping.mapping_problems(asked, table.columns, filled, guessed, most)
    shown = _render_row(asked, model, row, found)
    found += read_as.note_problems(table, first, asked)
    found = read_as.without_effects(found + read_as.reading_problems(table, first, asked))
    found = [replace(one, fixes=tuple(_with_mapping_below(fix, asked) for fix in one.fixes)) for one in found]
    cells = {name: mapping.cut_cell(row.get(name), CELL) for name in table.columns[:COLUMNS]}
    return PreviewAnswer(
        columns=[_column(name, filled) for name in table.columns[:COLUMNS]],
        rows=RowCount(count=count, exact=counted),
        row=ShownRow(index=index, cells=cells, kept=_is_kept(asked, row)),
        **shown,
        guess={} if read_as.is_heading_in_doubt(found) else guessed,
        read_as=read_as.describe_reading(table, first, asked),
        problems=messages_of(found),
        note=_note(count, counted, exact, index, len(table.columns)) + _sheet_note(table.reading, index),
    )


def _filling_rows(table: Table, first: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of the rows behind the first, those in which a column has something that had nothing before: by the first rows
    alone, one whose answers begin later would be called empty."""
    empty = {name for name in table.columns if mapping.kind([row.get(name) for row in first]) == "empty"}
    found: list[dict[str, Any]] = []
    rows = itertools.islice(table.rows(), len(first), SOUGHT) if empty else iter(())
    with contextlib.suppress(DataError):  # of a row farther on: said where all are checked
        for row in rows:
            if filled := {name for name in empty if mapping.kind([row.get(name)]) != "empty"}:
                empty -= filled
                found.append(row)
            if not empty:
                break
    return found


def refuse_all_empty(table: Table, first: list[dict[str, Any]], asked: DataSpec) -> None:
    """Raises DataError for a file of which only the heading is filled: that is all there is to say of it."""
    cells = (cell for row in first for cell in row.values())
    if not asked.source.startswith("file:") or any(cell_in_prompt(cell).strip() for cell in cells):
        return
    count, exact = table.count()
    if exact and 0 < count <= len(first):
        name = asked.source.partition(":")[2]
        names = "column names" if file_kind(name) in ("json", "parquet") else "a heading"
        rows = "its only row is" if count == 1 else f"its {count} rows are"
        raise DataError(f"{name} has {names}, and {rows} empty.")  # by which source.js knows it


def failed_preview(error: DataError, asked: DataSpec) -> Failed:
    """An answer that says why there is none. Where a file cannot be read, how a person said that it is may be why."""
    of_reading = error.field in ("data.source", *(f"data.{name}" for name in FILE_SETTINGS))
    said = tuple(f"data.{name}" for name in FILE_SETTINGS if getattr(asked, name) is not None)
    found = (_find_reading(said),) if said and of_reading and asked.source.startswith("file:") else ()
    unusable = error.field == "data.source"
    offered = tuple(_with_mapping_below(fix, asked) for fix in error.fixes)
    another = (CHOOSE_ANOTHER,) if unusable and asked.source.startswith("file:") else ()
    meanwhile = (MEANWHILE,) if unusable and not offered else ()
    # A heading alone is rather a file without its rows than a row without a heading.
    ways = another + offered if NO_HEADING in error.fixes else offered + another
    problem = Problem(error.field, str(error), fixes=found + ways + meanwhile)
    sheets = read_as.name_sheets(error.sheets)
    return Failed(error=str(error), field=error.field, problems=messages_of([problem]), sheets=sheets)


def _with_mapping_below(fix: Fix, asked: DataSpec) -> Fix:
    """A click that takes the heading below a title, with the columns that fit then where none were chosen, or none that
    the file has (those of another file): they would be the next to put right."""
    skip = fix.settings.get("data.skip_lines")
    if skip is None:
        return fix
    try:
        table = preview_source.table_of(asked.model_copy(update={"skip_lines": skip}))
        if read_as.is_mapped(asked) and not read_as.is_mapped_to_others(asked, table.columns):
            return fix
        guessed = mapping.guess(table.columns, list(itertools.islice(table.rows(), FIRST)))
    except DataError:  # said once the click is made
        return fix
    fitting = {path: value for path, value in guessed.items() if value is not None}
    label = f"{fix.label}; use the mapping that fits" if fitting else fix.label
    chosen = [*read_as.mapped_paths(asked), *(["data.answer_pattern"] if asked.answer_pattern else [])]
    gone = tuple(path for path in chosen if path not in fitting) if fitting else ()
    return replace(fix, label=label, settings={**fix.settings, **fitting}, removed=(*fix.removed, *gone))


def _find_reading(said: tuple[str, ...]) -> Fix:
    """`said`: the settings that a person gave, which go; the button names them."""
    names = [path.removeprefix("data.").replace("skip_lines", "lines to skip") for path in said]
    return Fix(f"Detect the {join_words(names)}", {}, said)


def _column(name: str, rows: mapping.Rows) -> Column:
    values = [row.get(name) for row in rows]
    sample = next((value for value in values if row_filter.text(value).strip()), None)
    return Column(
        name=name, kind=mapping.kind(values), sample=" ".join(mapping.shorten_cell(sample, SAMPLE).split()),
        decimal=written_with(value for value in values if isinstance(value, str) and len(value) <= CELL),
    )  # fmt: skip


def _first_kept(asked: DataSpec, rows: Iterator[dict[str, Any]]) -> tuple[int, dict[str, Any]] | None:
    """The first row that the filter keeps, with its number; None without a filter, and where none near the beginning
    is kept."""
    if not asked.filter:
        return None
    try:
        return next((found for found in enumerate(itertools.islice(rows, SOUGHT)) if _is_kept(asked, found[1])), None)
    except DataError:
        return None  # of a row farther on: said where all are checked


def _is_kept(asked: DataSpec, row: dict[str, Any]) -> bool:
    try:
        return data.keeps(row, [row_filter.parse_condition(written) for written in asked.filter])
    except row_filter.ConditionError:
        return True  # said at the filter itself


def _render_row(asked: DataSpec, model: ModelSpec, row: dict[str, Any], found: list[Problem]) -> dict[str, Any]:
    """What a row becomes. What goes wrong on the way is added to the problems, and the rest is shown."""
    shown: dict[str, Any] = {"messages": None, "prompt": "", "tokens": None, "chat": True, "answer": None}
    shown["written_answer"] = None
    try:
        reader = tokens.reader(model)
        shown["chat"] = reader.chat
    except DataError as error:
        reader = None
        if not tokens.is_to_be_downloaded(model):
            found.append(Problem(error.field, str(error), level=WARNING))
    try:
        shown["answer"] = _answer(asked, row)
        if asked.answer_numbers:
            written = _answer(asked.model_copy(update={"answer_numbers": None}), row)
            shown["written_answer"] = written if written != shown["answer"] else None
    except DataError as error:
        found.append(Problem(error.field, str(error)))
    if any(problem.field.startswith("data.prompt") and problem.level != WARNING for problem in found):
        return shown
    try:
        prompt = data.prompt(row, asked, shown["chat"])
        if isinstance(prompt, list):
            shown["messages"] = [
                ChatMessage(role=str(each["role"])[:ROLE], content=mapping.cut_cell(each["content"], TEXT))
                for each in prompt
            ]
        if reader is not None:
            shown["prompt"] = mapping.cut_cell(reader.text(prompt), TEXT)
            shown["tokens"] = reader.counts([prompt])[0]
        elif isinstance(prompt, str):
            shown["prompt"] = mapping.cut_cell(prompt, TEXT)
    except DataError as error:
        found.append(Problem(error.field, str(error), fixes=error.fixes + _without_system(asked, error)))
    return shown


def _without_system(asked: DataSpec, error: DataError) -> tuple[Fix, ...]:
    """Some models' templates know no system message."""
    refused = asked.system_prompt and "system" in str(error).lower()
    return (Fix("Leave the system prompt out", {}, ("data.system_prompt",)),) if refused else ()


def _answer(asked: DataSpec, row: dict[str, Any]) -> str | None:
    """The answer in a row; None where there is none, or the pattern is none, which is said there. Raises DataError."""
    if asked.answer_column not in row or asked.answer_column is None or patterns.fault(asked.answer_pattern or ""):
        return None
    found = data.answer_of_row(row, asked)
    return None if found is None or found != found else mapping.cut_cell(found, CELL)  # NaN is none


def _sheet_note(reading: FileReading | None, index: int) -> str:
    """Where a row of a workbook stands in it, so that it can be found there."""
    return f" Row {index + 1:,} here is {reading.row_words(index)}." if reading and reading.sheet_rows else ""


def _note(count: int, counted: bool, exact: bool, index: int, columns: int) -> str:
    said = f"{count_words(count, 'row')}." if counted else f"About {count_words(count, 'row')}."
    if not exact:
        said += f" The file is large: this is a row near {index + 1:,}, not exactly that one."
    if columns > COLUMNS:
        said += f" The first {COLUMNS} of {columns:,} columns are shown."
    return said
