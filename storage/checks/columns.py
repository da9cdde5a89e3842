"""Columns that a spec names and the data has not. Pure."""

from collections.abc import Collection

from groupwise.storage.checks.reward_columns import TASK_COLUMNS, source_kind_and_name
from groupwise.storage.spec.rows import row_filter
from groupwise.storage.spec.rows.column_names import RESERVED, say_columns
from groupwise.storage.spec.rows.prompt_template import COLUMN, PLAIN
from groupwise.storage.spec.spec import DataSpec
from groupwise.storage.spec.words.problem import Fix, Problem


def check_known_columns(data: DataSpec) -> list[Problem]:
    """Columns that are named and cannot be there, where the source's are known beforehand."""
    there = TASK_COLUMNS.get(source_kind_and_name(data)[0])
    if there is None:
        return []
    listed = say_columns(there)
    found = []
    for name in [] if data.prompt_column else COLUMN.findall(data.prompt_template):
        if name not in there and PLAIN.fullmatch(name):
            fixed = data.prompt_template.replace("{" + name + "}", "{question}")
            fix = Fix("Use the column “question”", {"data.prompt_template": fixed})
            found.append(Problem("data.prompt_template", f"there is no column “{name}”. {listed}", fixes=(fix,)))
    for field, wanted in (("prompt_column", "question"), ("answer_column", "answer")):
        name = getattr(data, field)
        if name and name not in there:
            fix = Fix(f"Use the column “{wanted}”", {f"data.{field}": wanted})
            found.append(Problem(f"data.{field}", f"there is no column “{name}”. {listed}", fixes=(fix,)))
    return [*found, *unknown_columns(data, there, listed)]


def unknown_columns(data: DataSpec, columns: Collection[str], listed: str) -> list[Problem]:
    """Filters on columns that there are none of, and such columns for the rewards. `listed`: the columns in words."""
    found = []
    for number, written in enumerate(data.filter):
        try:
            name = row_filter.parse_condition(written).column
        except row_filter.ConditionError:
            continue  # said where the text is checked
        if name not in columns:
            fix = Fix("Remove it", {}, (f"data.filter.{number}",))
            found.append(Problem(f"data.filter.{number}", f"there is no column “{name}”. {listed}", fixes=(fix,)))
    for number, name in enumerate(data.columns or []):
        if name not in columns or name in RESERVED:
            why = "the rewards have their own of this name" if name in columns else f"there is no column “{name}”"
            fix = Fix("Remove it", {}, (f"data.columns.{number}",))
            found.append(Problem(f"data.columns.{number}", f"{why}. {listed}", fixes=(fix,)))
    return found
