"""Re-scoring a run's history: old against new, over everything that is stored, and nothing of the run changes."""

from __future__ import annotations

import hashlib
import math
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.home.paths import RunFolder
from groupwise.storage.library.rewards import library
from groupwise.storage.record import run_files
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Event
from groupwise.storage.registry.questions import RESCORE
from groupwise.worker.questions.workbench import history, rescore
from groupwise.worker.training.weighting import Weighting
from tests.support.workbench import READS, answered, end_warm_hosts, own, run_with, stored

# The opposite of what the run was scored with.
TURNED = READS.replace("float(text)", "-float(text)")


@pytest.fixture(autouse=True)
def prepared(registry_home: Path) -> Iterator[None]:
    yield
    end_warm_hosts()


def ask(folder: RunFolder, *functions: dict[str, Any], **payload: Any) -> dict[str, Any]:
    return answered(RESCORE, {"run": folder.id, "functions": list(functions), **payload})


def test_the_same_function_changes_nothing() -> None:
    """Advantages that a run had rounded otherwise stood there as changes of 0.00."""
    rounded = [
        replace(group, completions=[replace(one, advantage=one.advantage + 0.001) for one in group.completions])
        for group in stored([2.0, 3.0], step=2)
    ]
    folder = run_with(stored([0.5, 1.0], [0.0, None, 2.0]), rounded)
    found = ask(folder, own(READS))
    assert found["completions"] == 7 and found["functions"][0]["changed"] == 0
    assert found["totals"]["old"] == found["totals"]["new"] and found["totals"]["old_mean"] == pytest.approx(8.5 / 7)
    assert (found["advantages"]["flipped"], found["ranks"]["swapped"], found["groups"]) == (0, 0, [])
    assert found["functions"][0]["none"] == 1 and found["functions"][0]["was_there"]
    said, counted = found["sentences"]
    assert said == "Nothing changes: every completion keeps its reward and its advantage."
    assert counted.startswith("The new total counts ") and found["functions"][0]["counts"]


def test_the_opposite_function_turns_everything_round() -> None:
    folder = run_with(stored([0.0, 1.0], [1.0, 1.0]), stored([2.0, 3.0], step=2))
    found = ask(folder, own(TURNED))
    assert found["advantages"] == {"total": 6, "flipped": 4, "share": pytest.approx(4 / 6), "gained": 0, "lost": 0}
    assert found["ranks"] == {"pairs": 2, "swapped": 2, "share": 1.0, "parted": 0, "merged": 0}
    assert found["steps"]["step"] == [1, 2]
    assert found["steps"]["old"] == [0.75, 2.5] and found["steps"]["new"] == [-0.75, -2.5]
    assert found["ties"]["old"]["bearing"] == found["ties"]["new"]["bearing"] == 2
    assert found["scale_rewards"] == "none"  # as the run's own settings have it
    one = found["groups"][0]["completions"][0]
    assert one["old"]["advantage"] == -one["new"]["advantage"] == -0.5 and one["text"] in ("0.0", "2.0")
    assert one["old"]["scores"].keys() == {"reads", "flat"} and one["new"]["scores"]["flat"] == 0.0


def test_what_is_not_scored_again_counts_as_it_did() -> None:
    folder = run_with(stored([0.0, 1.0], second=0.5))
    found = ask(folder, own(READS, weight=3.0))
    assert found["totals"]["old_mean"] == pytest.approx(1.5) and found["totals"]["new_mean"] == pytest.approx(2.5)
    new = "def extra(completions, **kwargs):\n    return [10.0] * len(completions)\n"
    found = ask(folder, own(new))
    assert found["totals"]["new_mean"] == pytest.approx(11.5) and not found["functions"][0]["was_there"]
    assert found["functions"][0]["old"]["mean"] is None
    assert found["sentences"][0] == "The mean reward goes from 1.50 to 11.5."  # as the figure below has them


def test_a_run_without_any_score_has_nothing_to_compare_with() -> None:
    """As it was seen: “No advantage changes its sign” of a run in which no completion was scored."""
    groups = stored([0.0, 1.0], [1.0, 1.0])
    none = [(None, "none"), (None, "none")]
    bare = [
        replace(group, completions=[replace(one, reward=None, advantage=0.0, scores=none) for one in group.completions])
        for group in groups
    ]
    found = ask(run_with(bare), own(READS))
    assert found["totals"]["old_mean"] is None and found["ranks"]["pairs"] == 0
    assert found["sentences"][:2] == [
        "The run has no scores to compare with: none of its completions was scored. The new mean reward is 0.75.",
        "1 of 2 groups would have a learning signal, instead of 0.",
    ]


def test_weights_and_scaling_alone_can_be_tried() -> None:
    folder = run_with(stored([0.0, 1.0], second=0.5))
    assert ask(folder, weights={"flat": 0.0})["totals"]["new_mean"] == pytest.approx(0.5)
    scaled = ask(folder, scale_rewards="group")
    assert scaled["advantages"]["flipped"] == 0
    new = [one["new"]["advantage"] for one in scaled["groups"][0]["completions"]]
    assert new == pytest.approx([-0.7070, 0.7070], abs=1e-4)


def test_batch_scaling_takes_each_steps_groups_together() -> None:
    folder = run_with(stored([0.0, 1.0], [5.0, 5.0]), stored([2.0, 4.0], step=2))
    found = ask(folder, scale_rewards="batch")
    by_step = {group["step"]: [one["new"]["advantage"] for one in group["completions"]] for group in found["groups"]}
    assert by_step[1] == pytest.approx([-0.5 / 2.6300, 0.5 / 2.6300], rel=1e-3)  # std of 0, 1, 5, 5
    assert by_step[2] == pytest.approx([-1 / 1.4143, 1 / 1.4143], rel=1e-3)


def test_a_stages_weights_are_those_of_its_steps() -> None:
    events = [Event("stage", "", {"weights": {"reads": 1.0, "flat": 2.0}, "total": 4})]
    folder = run_with(stored([0.0, 1.0], second=0.5), events=events)
    writer = RunWriter(folder.db, 1, {"reads": 1.0, "flat": 2.0})
    writer.commit(1, events=[Event("stage", "", {"weights": {"reads": 5.0}, "total": 4})])
    late = stored([0.0, 1.0], step=2, scale=5.0)
    for one in late[0].completions:
        one.scores[1] = (None, "absent")  # the second stage does not use flat
    writer.commit(2, groups=late)
    writer.close()
    found = ask(folder, own(READS))
    assert found["totals"]["old"] == found["totals"]["new"] and found["steps"]["new"] == [1.5, 2.5]
    assert found["sentences"][-1] == (
        "The new total counts reads (weight 1 to 5, as it changed in training), flat (weight 2)."
    ), "no stage had flat at 1"
    flat = own("def flat(completions, **kwargs):\n    return [7.0] * len(completions)\n")
    assert ask(folder, flat)["steps"]["new"] == [14.5, 2.5]
    even = own("def even(completions, **kwargs):\n    return [7.0] * len(completions)\n")
    replaced = ask(folder, even, instead="flat")
    assert replaced["steps"]["new"] == [14.5, 2.5], "it counts where flat did, as much as that"
    assert replaced["sentences"][-1].endswith("even (weight 2); not flat (weight 0 instead of 2).")
    assert ask(folder, even, instead="nothing")["field"] == "instead"


def test_a_weight_that_changed_is_the_one_of_its_step() -> None:
    folder = run_with(stored([0.0, 1.0]))
    writer = RunWriter(folder.db, 1, {"reads": 1.0, "flat": 2.0})
    writer.commit(2, groups=stored([0.0, 1.0], step=2, scale=4.0), metrics={"rewards/reads/weight": 4.0})
    writer.close()
    found = ask(folder, own(READS))
    assert found["steps"]["new"] == found["steps"]["old"] == [0.5, 2.0]


def moving_weight(reward: dict[str, Any], by_stage: bool, recorded: Callable[[int], float | None]) -> RunFolder:
    """A run of six steps, or two stages of three, that scored with the weights of this function, reads, as they moved;
    `recorded`: what its record has of them, by the step."""
    stage = {"training": {"max_steps": 3}}
    rewards, stages = [{"name": "reads", **reward}, {"name": "flat", "weight": 2.0}], [stage, stage] if by_stage else []
    for name in ("reads", "flat"):
        library.save_reward(name, READS.replace("reads", name))
    folder = run_with(rewards=rewards, stages=stages)
    writer, spec = RunWriter(folder.db, 1, {"reads": 1.0, "flat": 2.0}), run_files.spec_of(folder)
    assert spec is not None
    for step in range(1, 7):
        number, at = divmod(step - 1, 3) if by_stage else (0, step - 1)
        if at == 0:
            weighting, facts = Weighting(spec.rewards), {"stage": number + 1, "weights": {"reads": 1.0, "flat": 2.0}}
            writer.commit(step - 1, events=[Event("stage", "", facts)] if by_stage else [])
        groups = stored([0.0, 1.0, 1.0, None], step=step, scale=weighting.at(at)[0])
        weighting.saw("reads", [math.nan if value is None else value for value in (0.0, 1.0, 1.0, None)])
        told = recorded(step)
        writer.commit(step, groups=groups, metrics={} if told is None else {"rewards/reads/weight": told})
    writer.close()
    return folder


@pytest.mark.parametrize("by_stage", [False, True], ids=["one run", "stages"])
@pytest.mark.parametrize(
    "reward",
    [
        {"schedule": [{"step": 0, "weight": 1.0}, {"step": 2, "weight": 0.2}]},
        {"adapt": {"every": 2, "low": 0.1, "high": 0.5, "down": 0.2, "least": 0.2}},
    ],
    ids=["schedule", "adapt"],
)
def test_a_weight_that_moved_between_two_logs_is_the_one_of_its_step(reward: dict[str, Any], by_stage: bool) -> None:
    """As it was seen with logging_steps 10 and nothing changed: “goes from 1.25 to 1.39”, “weight 0.28 to 1”."""
    folder = moving_weight(reward, by_stage, lambda step: 0.5 if step % 3 == 0 else None)  # means, of logged steps
    found = ask(folder, own(READS))
    assert found["steps"]["new"] == pytest.approx(found["steps"]["old"])
    assert found["sentences"][0].startswith("Nothing changes:") and not found["groups"]
    assert "reads (weight 0.2 to 1, as it changed in training)" in found["sentences"][-1]
    mine = ask(folder, own(READS.replace("reads", "my_reads")), instead="reads")
    assert mine["totals"]["new_mean"] == pytest.approx(found["totals"]["old_mean"])
    assert "my_reads (weight 0.2 to 1)" in mine["sentences"][-1]
    set_to = ask(folder, own(READS, weight=3.0))["sentences"][-1]
    assert "reads (weight 3 instead of 0.2 to 1)" in set_to and "flat (weight 2)" in set_to


def test_calls_keep_groups_whole_and_steps_apart_where_the_function_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rescore, "AT_ONCE", 5)
    counts = "def counts(completions, **kwargs):\n    return [float(len(completions))] * len(completions)\n"
    folder = run_with(stored([0.0, 1.0], [0.0, 1.0]), stored([0.0, 1.0], [1.0] * 7, step=2))
    found = ask(folder, own(counts))
    values = [one["new"]["scores"]["counts"] for group in found["groups"] for one in group["completions"]]
    assert set(values) <= {2.0, 4.0, 7.0} and found["functions"][0]["new"]["mean"] == pytest.approx((16 + 4 + 49) / 13)
    steps = """
def steps(completions, trainer_state, **kwargs):
    return [float(trainer_state.global_step)] * len(completions)
"""
    assert ask(folder, own(steps), weights={"reads": 0.0, "flat": 0.0})["steps"]["new"] == [0.0, 1.0]


def test_functions_see_prompts_columns_and_token_ids() -> None:
    code = """
def sees(prompts, completions, completion_ids, answer, **kwargs):
    return [float(len(ids)) if p[0]["content"] == f"1+{int(a) - 1}?" else None
            for p, ids, a in zip(prompts, completion_ids, answer)]
"""
    found = ask(run_with(stored([0.0, 1.0], [0.0, 1.0])), own(code))
    assert found["functions"][0]["new"]["mean"] == 3.0 and found["functions"][0]["none"] == 0


def test_what_a_resume_trained_over_does_not_count() -> None:
    began = [Event("begin", "", {"total": 8})]
    folder = run_with(stored([0.0, 1.0]), stored([5.0, 9.0], step=2), events=began)
    writer = RunWriter(folder.db, 2, {"reads": 1.0, "flat": 2.0})
    writer.commit(1, events=began)
    writer.commit(2, groups=stored([2.0, 3.0], step=2))
    writer.close()
    found = ask(folder, own(READS))
    assert found["completions"] == 4 and found["steps"]["old"] == [0.5, 2.5]


def test_some_rows_that_fail_have_no_score_and_are_named() -> None:
    code = READS.replace("float(text)", "1 / float(text)")
    found = ask(run_with(stored([0.0, 1.0], [2.0, 4.0])), own(code))
    (function,) = found["functions"]
    assert function["errors"] == 1 and function["failures"][0]["step"] == 1 and function["failures"][0]["index"] == 0
    assert "ZeroDivisionError" in function["failures"][0]["message"] and function["failures"][0]["line"] == 4
    assert "failed on 1 completion," in found["sentences"][-1]


def test_a_failure_of_several_calls_counts_all_that_it_left_without_a_score(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rescore, "AT_ONCE", 16)
    code = READS.replace("float(text)", "1 / (float(text) // 2)")
    found = ask(run_with(*[stored([0.0, 1.0, 2.0] * 5, step=step) for step in (1, 2, 3)]), own(code))
    (function,) = found["functions"]
    assert [one["count"] for one in function["failures"]] == [function["errors"]] == [30]


def test_what_fails_again_and_again_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rescore, "AT_ONCE", 2)
    folder = run_with(*[stored([0.0, 1.0], step=step) for step in range(1, 9)])
    found = ask(folder, own("def f(completions, **kwargs):\n    raise ValueError('it is Monday')\n"))
    assert "failed 3 times in a row" in found["error"] and "it is Monday" in found["error"]
    assert found["field"] == "functions"


def test_nothing_of_the_run_changes() -> None:
    folder = run_with(stored([0.0, 1.0]))
    before = _files(folder)
    assert "error" not in ask(folder, own(TURNED))
    assert _files(folder) == before


def _files(folder: RunFolder) -> dict[str, str]:
    """Every file's hash, but for SQLite's two beside an open database."""
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.path.rglob("*"))
        if path.is_file() and path.suffix not in (".db-shm", ".db-wal")
    }


def test_long_texts_are_capped_in_the_groups_that_change_most() -> None:
    groups = stored([0.0, 1.0])
    groups[0].completions[1].text = "x" * 100_000
    found = ask(
        run_with(groups), own("def f(completions, **kwargs):\n    return list(range(len(completions), 0, -1))\n")
    )
    texts = [one["text"] for one in found["groups"][0]["completions"]]
    assert [len(text) for text in texts] == [3, 4000]


def test_a_run_that_is_gone_or_empty_says_so() -> None:
    empty, gone, unwritten = run_with(), run_with(stored([0.0, 1.0])), run_with(stored([0.0, 1.0]))
    shutil.rmtree(gone.path)
    unwritten.db.unlink()
    assert "no completions" in ask(empty, own(READS))["error"]
    assert "deleted" in ask(gone, own(READS))["error"]
    assert "Nothing is recorded" in ask(unwritten, own(READS))["error"]
    damaged = run_with(stored([0.0, 1.0]))
    damaged.db.write_bytes(b"no database at all" * 100)
    assert "could not be read" in ask(damaged, own(READS))["error"] or "recorded" in ask(damaged, own(READS))["error"]


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        ({}, "functions"), ({"run": None}, "run"), ({"run": "a/b"}, "run"), ({"functions": "x"}, "functions"),
        ({"weights": [1]}, "weights"), ({"weights": {"reads": "1"}}, "weights.reads"),
        ({"weights": {"x": 1}}, "weights"),
        ({"scale_rewards": 7}, "scale_rewards"), ({"functions": [{"name": "nope"}]}, "functions.0.name"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_said_at_its_field(payload: dict[str, Any], field: str) -> None:
    folder = run_with(stored([0.0, 1.0]))
    found = answered(RESCORE, {"run": folder.id, "functions": [], **payload})
    assert found["error"].strip() and found["field"] == field


def test_a_record_is_read_by_groups_that_follow_each_other() -> None:
    folder = run_with(stored([0.0, 1.0], [None, 3.0]))
    record = history.open_run(folder.id)
    groups = record.groups()
    assert [(group.size, group.first, group.step) for group in groups] == [(2, 0, 1), (2, 2, 1)]
    assert record.scores(groups[1:], ["flat", "reads", "new"]).tolist()[1][:2] == [0.0, 3.0]
    record.close()
