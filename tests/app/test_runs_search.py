"""What is searched for on Runs: what rows show, verdicts too, tags, settings and metrics."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from groupwise.app.pages.run_list import runs_table, search
from groupwise.storage.analysis import outcome
from groupwise.storage.record import states
from groupwise.storage.registry import labels, registry, trash
from tests.support.made_runs import made_run, running
from tests.support.table_of_runs import drawn


def fell(step: int) -> dict[str, float | None]:
    return {"reward": 2.0 - step / 30 + step % 3 / 50, "kl": 0.01}


def names(**payload: object) -> list[str]:
    """The names of the runs that are found, in order."""
    names = {run.id: run.name for run in [*registry.list_runs(), *(one.run for one in trash.deleted_runs())]}
    return sorted(names[found] for found in re.findall(r'<tr data-run="([^"]+)"', drawn(**payload)["rows"]))


@pytest.fixture
def three(registry_home: Path) -> dict[str, str]:
    made = {
        "good": made_run("good", 40, training={"learning_rate": 1e-5, "num_generations": 4}),
        "bad": made_run("bad", 40, metrics=fell, training={"learning_rate": 1e-3, "beta": 0.0}),
        "lr=2e-4": made_run("lr=2e-4", 40, training={"learning_rate": 2e-4}, state=states.STOPPED),
    }
    labels.retag([made["good"]], add=["Paper", "b"])
    labels.retag([made["bad"]], add=["paper-2", "Two Words"])
    return made


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("reward fell", ["bad"]), ("finished", ["bad", "good"]), ("finished fell", ["bad"]),
        ("tag:paper", ["good"]), ("tag:Paper tag:b", ["good"]), ("tag:pap", []), ("tag:paper good", ["good"]),
        ("learning_rate>1e-4", ["bad", "lr=2e-4"]), ("learning_rate > 1e-4 finished", ["bad"]),
        ("training.learning_rate<=1e-5", ["good"]), ("learning_rate=0.0002", ["lr=2e-4"]),
        ("learning_rate!=0.0002", ["bad", "good"]), ("beta=0", ["bad"]), ("num_generations<8", ["good"]),
        ("kl<=0.01", ["bad"]), ("reward>1", ["good", "lr=2e-4"]), ("step>=40", ["bad", "good", "lr=2e-4"]),
        ("model=starter", ["bad", "good", "lr=2e-4"]), ("model!=starter", []), ("data=arithmetic", None),
        ('tag:"two words" bad', ["bad"]), ('tag:"two', []), ("lr=2e-4", ["lr=2e-4"]), (">", []), ("=", ["lr=2e-4"]),
        ("lr=", ["lr=2e-4"]), ("tag=paper", ["good"]), ("state=finished", ["bad", "good"]),
        ("state:stopped", ["lr=2e-4"]), ("State:fin", ["bad", "good"]), ("state!=finished", ["lr=2e-4"]),
        ("state=stopped name:2e", ["lr=2e-4"]), ('name="good"', ["good"]), ("model:start", None), ("state=failed", []),
    ],
)  # fmt: skip
def test_runs_are_searched_by_what_rows_show_and_by_values(
    three: dict[str, str], asked: str, found: list[str] | None
) -> None:
    assert names(search=asked) == (sorted(three) if found is None else found)
    every = {run.id: run.name for run in registry.list_runs()}
    assert sorted(every[one] for one in runs_table.matching_runs({"search": asked})["runs"]) == names(search=asked)  # type: ignore[union-attr]


def test_where_nothing_is_found_it_is_said_how_settings_are_searched(three: dict[str, str]) -> None:
    assert drawn(search="nope")["nothing"] == f"No run matches “nope”. {search.HINT}"
    assert drawn(search="nope", states=["failed"])["nothing"] == f"No failed run matches “nope”. {search.HINT}"


LEFT_OUT = {
    "foo=3": "no setting or metric is called “foo”.",
    "lr>0.01": "no setting or metric is called “lr”. Did you mean “learning_rate”?",
    "learning_rat<1": "no setting or metric is called “learning_rat”. Did you mean “learning_rate”?",
    "learning_rate>abc": "“abc” is not a number.",
    "kl<0,01": "“0,01” is not a number. Did you mean 0.01?",
    "learning_rate>": "a number is missing behind it.",
    "state:": "a value is missing behind it.",
    "model>3": "model is no number; compare it with = or !=.",
    "state=done": f"there is no such state. The states: {', '.join(states.LABELS)}.",
    "tag:": 'the name of a tag is missing, as in tag:NAME or tag:"TWO WORDS".',
    "tag!=b": "a run has a tag or has not; search for tag:NAME.",
}


@pytest.mark.parametrize("asked", LEFT_OUT)
def test_a_part_that_means_nothing_is_left_out_and_why_is_said(three: dict[str, str], asked: str) -> None:
    said = f"“{asked}” is left out: {LEFT_OUT[asked]}"
    shown = drawn(search=asked)
    assert (shown["faults"], shown["nothing"], names(search=asked)) == (said, "", sorted(three))
    assert drawn(search=f"good {asked}")["faults"] == said and names(search=f"good {asked}") == ["good"]
    assert len(runs_table.matching_runs({"search": f"fell {asked}"})["runs"]) == 1, "Choose all takes what is shown"  # type: ignore[arg-type]
    trash.delete_run(three["good"])
    assert drawn(search=f"gone {asked}", deleted=True)["nothing"].startswith("No deleted run matches “gone")
    outcome.work_out_some()  # as the worker does
    assert drawn(search=asked, deleted=True)["faults"] in (said, "")


def test_nothing_is_left_out_of_a_search_that_means_something(three: dict[str, str]) -> None:
    for asked in ("reward fell", "tag:pap", "lr=2e-4", "kl>9", "reward!=1", "state=failed", "", "3>2", "a -> b"):
        assert drawn(search=asked)["faults"] == ""


def test_deleted_runs_and_those_that_train_are_searched_alike(three: dict[str, str]) -> None:
    outcome.work_out_some()  # as the worker does
    trash.delete_run(three["bad"])
    assert names(search="learning_rate>1e-4", deleted=True) == ["bad"] == names(search="tag:paper-2", deleted=True)
    running(three["lr=2e-4"])
    assert names(search="learning_rate>1e-4") == ["lr=2e-4"] == names(search="running reward>1")


@pytest.mark.parametrize(
    "asked", ["a=" * 90, "=" * 200, "tag:" * 50, "x<" + "9" * 190, "nan>=nan", "seed=1e999", "\0=\0"]
)
def test_anything_may_be_searched_for(three: dict[str, str], asked: str) -> None:
    assert "fault" not in runs_table.draw_runs({"search": asked})


def test_a_failed_run_is_found_by_its_reason_which_its_row_shows(three: dict[str, str]) -> None:
    """“reward” found the verdict of one run, and not the reason of another in the same column."""
    failed = made_run("third", 3, state=states.FAILED)
    registry.set_state(failed, states.FAILED, "Failed at step 3: the reward function “mine” scored nothing.")
    assert names(search="reward") == ["bad", "third"]
    assert names(search="SCORED nothing failed") == ["third"] and names(search="scored fell") == []
