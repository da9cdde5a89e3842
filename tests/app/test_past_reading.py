"""A data file that a run used before is offered with how that run read and mapped it."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupwise.app.pages.new.past_reading import describe_files
from groupwise.app.pages.rewards import library_view, sources
from groupwise.storage.home import paths
from groupwise.storage.record import states
from tests.support.runs import ended_run

SPEC = """name: {name}
data:
  source: file:a.csv
  skip_lines: {skipped}
  prompt_template: "{{Frage}}"
  answer_column: Lösung
  answer_numbers: comma
rewards:
- name: correctness
"""


@pytest.fixture
def file(registry_home: Path) -> Path:
    for name in ("a.csv", "b.csv"):
        (paths.data_folder() / name).write_text("Aufgaben\nFrage;Lösung\n1+1?;2\n")
    return paths.data_folder() / "a.csv"


def test_a_file_is_read_as_the_newest_run_that_began_read_it(file: Path) -> None:
    assert [one["past"] for one in describe_files()] == [None, None]
    ended_run(SPEC.format(name="first", skipped=2), state=states.FINISHED, step=3, created=1.0)
    ended_run(SPEC.format(name="second", skipped=1), state=states.FINISHED, step=3, created=2.0)
    ended_run(SPEC.format(name="never begun", skipped=7), state=states.FAILED, created=3.0)
    of_a, of_b = describe_files()
    settings = {"skip_lines": 1, "prompt_template": "{Frage}", "answer_column": "Lösung", "answer_numbers": "comma"}
    assert of_a["past"] == {"run": "second", "settings": {f"data.{name}": value for name, value in settings.items()}}
    assert of_b["past"] is None
    assert sources.list_sources()["files"] == describe_files()


def test_a_run_whose_spec_is_gone_says_nothing_of_its_file(file: Path) -> None:
    run_id = ended_run(SPEC.format(name="gone", skipped=1), state=states.FINISHED, step=3)
    paths.run_folder(run_id).spec.unlink()
    assert describe_files()[0]["past"] is None


def test_a_block_s_sentence_names_the_column_that_is_mapped_as_the_answer() -> None:
    blocks = [{"kind": "number_equals", "settings": {"where": "last"}, "weight": 1.0}]

    def words(mapped: str) -> str:
        return library_view.build_code("x", blocks, "", mapped)["words"][0]

    assert "equals the number in the column “Lösung”, which rewards get as “answer”." in words("Lösung")
    assert words("") == words("answer") and "the number in the column “answer”." in words("")
