"""A title that stands above the heading of a table: it is said, with the click that takes the heading below it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openpyxl
import pytest

from groupwise.storage.home import paths
from groupwise.storage.spec.spec import DataSpec
from groupwise.worker.data.preview import PreviewQuestion, answer_preview
from tests.support.data_files import opened, put, shown

TITLE = "Klasse 4b, Plus und Minus"
SUMS = [["Aufgabe", "Ergebnis"], *([f"{n}+{n}", 2 * n] for n in range(1, 9))]


def book(rows: list[list[Any]], merged: str = "") -> None:
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    if merged:
        made.active.merge_cells(merged)
    made.save(paths.data_folder() / "a.xlsx")


@pytest.mark.parametrize("above", [[[TITLE]], [[TITLE], []], [[TITLE], ["Stand: Mai"]], [["Klasse", "4b"]]])
def test_a_title_taken_for_the_heading_is_said_once_and_one_click_takes_the_heading_below(
    registry_home: Path, above: list[list[Any]]
) -> None:
    book([*above, *SUMS], "A1:B1" if len(above[0]) == 1 else "")
    problems = [(one.field, one.level) for one in shown("a.xlsx").problems]
    assert problems == [("data.heading", "blocking")], "columns that are not named, or not chosen, come of it"
    fix = shown("a.xlsx").problems[0].fixes[0]
    assert fix.label == f"The heading is in line {len(above) + 1}: “Aufgabe”, “Ergebnis”; use the mapping that fits"
    assert fix.settings["data.skip_lines"] == len(above)
    after = {path.removeprefix("data."): value for path, value in fix.settings.items()}
    assert [one.level for one in shown("a.xlsx", **after).problems if one.level == "blocking"] == []
    assert shown("a.xlsx", skip_lines=len(above)).guess["data.prompt_template"] == "{Aufgabe}"
    assert "title" not in str(shown("a.xlsx", heading="line").problems[0].message), "it was said to be the heading"


@pytest.mark.parametrize("above", [f'"{TITLE}",\n', f'"{TITLE}",\n,\n', f'"{TITLE}"\n'])
def test_a_title_of_a_csv_file_comes_with_the_same_click(registry_home: Path, above: str) -> None:
    put("a.csv", above + "Aufgabe,Ergebnis\n" + "".join(f"{n}+{n},{2 * n}\n" for n in range(1, 9)))
    [problem] = answer_preview(PreviewQuestion(data=DataSpec(source="file:a.csv"))).problems
    assert problem.fixes[0].settings["data.skip_lines"] == above.count("\n")
    assert problem.fixes[0].settings["data.prompt_template"] == "{Aufgabe}"
    mine = DataSpec(source="file:a.csv", prompt_column="Ergebnis")
    chosen = answer_preview(PreviewQuestion(data=mine)).problems[0]
    assert chosen.fixes[0].settings == {"data.skip_lines": above.count("\n")}, "a column was chosen"
    old = DataSpec(source="file:a.csv", prompt_column="Frage", answer_column="Antwort", answer_pattern="x(.)")
    [other] = answer_preview(PreviewQuestion(data=old)).problems
    fix = other.fixes[0]
    assert fix.label.endswith("; use the mapping that fits"), "the columns are those of another file"
    assert fix.settings == problem.fixes[0].settings
    assert set(fix.removed) == {"data.prompt_column", "data.answer_pattern"}
    assert opened("a.csv", skip_lines=above.count("\n")).columns == ["Aufgabe", "Ergebnis"]


@pytest.mark.parametrize("heading", [["question", None], ["Titel", None]])
def test_rows_are_no_heading_below_a_title(registry_home: Path, heading: list[Any]) -> None:
    book([heading, *SUMS[1:]])
    assert "title" not in str([one.message for one in shown("a.xlsx").problems])


def test_a_merged_heading_that_may_be_a_title_is_skipped_by_one_click(registry_home: Path) -> None:
    book([[TITLE, None], ["wer", "wo"], ["x", "y"], ["z", "u"]], "A1:B1")
    [merged] = [one for one in shown("a.xlsx").problems if "merged" in one.message]
    assert [fix.settings for fix in merged.fixes] == [{"data.skip_lines": 1}]
