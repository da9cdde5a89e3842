"""A data file that a run used before is offered with how that run read and mapped it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.new import new_run, presets, taken_name, yaml_edit
from groupwise.app.pages.new.past_reading import describe_files
from groupwise.app.pages.new.view import describe_text
from groupwise.app.pages.rewards import library_view, sources
from groupwise.storage.home import paths
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.record import states
from tests.support.made_runs import stopped_before_it_started
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
training:
  max_completion_length: 48
  learning_rate: 0.001
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
    read = {f"data.{name}": value for name, value in settings.items()}
    sampling = {"max_completion_length": 48}
    assert of_a["past"] == {"run": "second", "at": 2.0, "settings": read, "data": read, "sampling": sampling}
    assert of_b["past"] is None
    assert sources.list_sources()["files"] == describe_files()


def test_which_rows_that_run_used_is_told_apart_from_how_it_read_them(file: Path) -> None:
    rows = "  filter: ['Lösung > 1']\n  limit: 20\n  holdout: 2\n  columns: [Lösung]\nrewards"
    ended_run(SPEC.format(name="some", skipped=1).replace("rewards", rows), state=states.FINISHED, step=3)
    past = describe_files()[0]["past"]
    some = {"data.filter": ["Lösung > 1"], "data.limit": 20, "data.holdout": 2}
    assert past["data"] == {**past["settings"], **some} and past["settings"]["data.columns"] == ["Lösung"]


def test_a_new_run_on_a_file_has_its_data_and_nothing_of_the_data_before() -> None:
    data = {"source": "file:a.csv", "filter": ["b > 1"], "limit": 20, "answer_column": None, "columns": ["b"]}
    opened = new_run.open_new_run({"data": {**data, "nothing": 1}, "reward": "length"})
    assert yaml_edit.load(opened["text"])["data"] == data
    assert (opened["before"]["data.limit"], opened["before"]["name"]) == ("2500", "arithmetic-quickstart")
    changes = {one["field"]: (one["before"], one["after"]) for one in opened["arrival"]["changes"]}
    assert changes["data.source"] == ("the built-in task arithmetic", "a.csv") and opened["arrival"]["data"] == "a.csv"
    assert changes["data.limit"] == ("2500", "20") and changes["data.holdout"][0] == "16"
    assert changes["data.filter"] == ("none", "b > 1")


def test_a_name_that_data_gives_is_no_other_runs(registry_home: Path) -> None:
    sources = ("file:Klasse 7b.xlsx", "hub:openai/gsm8k", "task:arithmetic", "file:.csv", None)
    assert [taken_name.name_of_data(one) for one in sources] == ["Klasse 7b", "gsm8k", "arithmetic", ".csv", ""]
    stopped_before_it_started("Klasse 7b", presets.quickstart_text())
    assert taken_name.name_of_data("file:Klasse 7b.xlsx") == "Klasse 7b-2"
    for emptied in ("name: ''\n", ""):
        text = f"{emptied}data: {{source: 'file:Klasse 7b.xlsx'}}\nrewards: [{{name: format}}]\n"
        seen = describe_text(text, Offer())
        (problem,) = [one for one in seen["problems"] if one["field"] == "name"]
        assert [fix["label"] for fix in problem["fixes"]] == ["Use “Klasse 7b-2”"]


@pytest.mark.parametrize("sent", [None, 3, [], "x", {}, {"source": None}, {"limit": 3}, {"source": "a", "filter": {}}])
def test_an_address_may_ask_for_any_data(sent: Any) -> None:
    opened = new_run.open_new_run({"data": sent})
    assert "fault" not in opened and opened["text"]


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
