"""Where questions or answers are, when the column that a spec names for them is empty: fixes that name another."""

from typing import Any

from groupwise.storage.checks.data import CHOOSE_ANOTHER
from groupwise.storage.spec.rows.column_names import ANSWERS, find_named
from groupwise.storage.spec.rows.row_filter import text
from groupwise.storage.spec.spec import DataSpec
from groupwise.storage.spec.words.problem import Fix
from groupwise.worker.data import mapping
from groupwise.worker.data.unasked import asking_columns

LONGEST_BUTTON = 60  # characters of a column's name that a button has room for


def questions_elsewhere(asked: DataSpec, rows: mapping.Rows, columns: list[str]) -> tuple[Fix, ...]:
    """The button for the column that is probably asked: the guess of those that are not empty, or else the first of
    them that is no answer's; another file where there is none."""
    filled = _filled(rows, columns)
    chat = mapping.guess(filled, rows).get("data.prompt_column")
    named = asking_columns(_guessed(filled, rows), filled)
    free = [name for name in filled if name != asked.answer_column and not find_named(ANSWERS, [name])]
    others = [name for name in named if name in filled] + free
    if chat:
        return _use(chat, {"data.prompt_column": chat})
    if not others:
        return (CHOOSE_ANOTHER,) if asked.source.startswith("file:") else ()
    if asked.prompt_column:
        return _use(others[0], {"data.prompt_column": others[0]})
    template, better = asked.prompt_template, "{" + others[0] + "}"
    empty = asking_columns(asked, columns)
    written = template.replace("{" + empty[0] + "}", better) if len(empty) == 1 else better
    return _use(others[0], {"data.prompt_template": written})


def answers_elsewhere(asked: DataSpec, rows: mapping.Rows, columns: list[str]) -> tuple[Fix, ...]:
    """The button for the column that probably has the answers, with the pattern that finds them there; none where the
    guess is a column that is asked, or the one that is the answer's already."""
    guessed = mapping.guess(_filled(rows, columns), rows)
    better, pattern = guessed.get("data.answer_column"), guessed.get("data.answer_pattern")
    if not better or better in (*asking_columns(asked, columns), asked.answer_column):
        return ()
    return (mapping.use_answers(better, pattern, asked),) if len(better) <= LONGEST_BUTTON else ()


def _guessed(filled: list[str], rows: mapping.Rows) -> DataSpec:
    """What would be asked by the guess; by no guess, nothing."""
    template = mapping.guess(filled, rows).get("data.prompt_template")
    return DataSpec(prompt_template=template or "-")


def _filled(rows: mapping.Rows, columns: list[str]) -> list[str]:
    """The columns in which something stands in these rows."""
    return [name for name in columns if any(_says_something(row.get(name)) for row in rows)]


def _says_something(cell: Any) -> bool:
    return bool(text(cell).strip())


def _use(column: str, settings: dict[str, Any]) -> tuple[Fix, ...]:
    return (Fix(f"Use “{column}”", settings),) if len(column) <= LONGEST_BUTTON else ()
