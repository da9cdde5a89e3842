"""A RunSpec's data → the datasets a trainer takes; step by step what the run folder's train.py writes out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from datasets import Dataset, disable_progress_bars, load_dataset

from storage import home
from storage.spec import DataSpec

BUILDERS = {".jsonl": "json", ".csv": "csv", ".parquet": "parquet"}
COLUMN = re.compile(r"\{([^{}]+)\}")
PLAIN = re.compile(r"\w[\w .:-]*")  # what is meant as a column; other braces, as in JSON, are text


class DataError(Exception):
    """The data cannot be used as the spec says; the message says why."""


TaskRows = Callable[[int], list[dict[str, Any]]]


def load(spec: DataSpec, *, chat: bool, task: TaskRows | None = None) -> tuple[Dataset, Dataset | None]:
    """(training rows, held-out rows or None), each with prompt, answer and the source's other columns.

    `chat`: prompts are lists of messages; else plain text, for a model with no chat template. `task` makes the rows
    of a built-in task.
    """
    disable_progress_bars()
    rows = Dataset.from_list(task(spec.limit or 4000)) if task else _file(spec)
    columns = ", ".join(rows.column_names)
    named = COLUMN.findall(spec.prompt_template)
    missing = [name for name in named if name not in rows.column_names and PLAIN.fullmatch(name)]
    if missing or not named:
        wrong = f"uses {{{missing[0]}}}, but" if missing else "names no column;"
        raise DataError(f"the prompt template (data.prompt_template) {wrong} the columns are {columns}")
    if spec.answer_column and spec.answer_column not in rows.column_names:
        raise DataError(
            f"there is no answer column “{spec.answer_column}” (data.answer_column); the columns are {columns}"
        )
    if len(rows) <= spec.holdout:
        raise DataError(f"{spec.holdout} of {len(rows)} rows are held out, which leaves none to train on")
    shaped = rows.map(shape, fn_kwargs={"spec": spec, "chat": chat})
    if spec.answer_pattern and all(value is None for value in shaped["answer"]):
        raise DataError(f"the answer pattern (data.answer_pattern) is found in none of the {len(shaped)} rows")
    if not spec.holdout:
        return shaped, None
    return shaped.select(range(spec.holdout, len(shaped))), shaped.select(range(spec.holdout))


def shape(row: dict[str, Any], spec: DataSpec, chat: bool) -> dict[str, Any]:
    """The prompt and the answer of one row."""
    text = COLUMN.sub(lambda found: str(row[found[1]]) if found[1] in row else found[0], spec.prompt_template)
    system = [{"role": "system", "content": spec.system_prompt}] if spec.system_prompt else []
    plain = f"{spec.system_prompt}\n\n{text}" if spec.system_prompt else text
    shaped: dict[str, Any] = {"prompt": [*system, {"role": "user", "content": text}] if chat else plain}
    if spec.answer_column:
        shaped["answer"] = answer(row[spec.answer_column], spec.answer_pattern)
    return shaped


def answer(value: Any, pattern: str | None) -> Any:
    """The answer in a cell: the cell itself, or the pattern's first group (or whole match); None where it is not
    found."""
    if not pattern:
        return value
    found = re.search(pattern, str(value))
    return found[found.re.groups and 1].strip() if found else None


def _file(spec: DataSpec) -> Dataset:
    name = spec.source.removeprefix("file:")
    path = home.data_file(name)
    try:
        rows = load_dataset(BUILDERS[path.suffix.lower()], data_files=str(path), split="train")
    except Exception as error:  # datasets raises many kinds for a damaged file; all mean the same to a person
        cause = str(error.__cause__ or error).splitlines()[0][:300]
        raise DataError(f"{name} cannot be read as {path.suffix[1:].upper()}: {cause}") from error
    return rows.select(range(min(spec.limit, len(rows)))) if spec.limit else rows
