"""The table of runs as its page asks for it: sorted, filtered, with any setting or metric, and changed."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from groupwise.app.core import run_facts, run_query
from groupwise.app.pages.run import header
from groupwise.app.pages.run_list import changes, choices, columns, runs_table
from groupwise.app.ui import live, run_labels, state_badge
from groupwise.storage.analysis import outcome
from groupwise.storage.analysis.doctor.examine import Report
from groupwise.storage.analysis.doctor.verdict import PROBLEM, SUSPICION, WARNING, Verdict
from groupwise.storage.analysis.outcome import Outcome
from groupwise.storage.home import paths
from groupwise.storage.record import states
from groupwise.storage.registry import commands, labels, outcomes, registry, trash
from tests.support.homes import wait_for
from tests.support.made_runs import made_run, running
from tests.support.table_of_runs import Draw, cells, drawn

SPEC = "name: waits\nrewards: [{name: format}]\ntraining: {learning_rate: 3e-5}\n"


def fell(step: int) -> dict[str, float | None]:
    """The reward of a run that ends worse than it began."""
    return {"reward": 2.0 - step / 30 + step % 3 / 50, "kl": 0.01}


def queue(name: str = "waits") -> str:
    return registry.create_run(SPEC, name=name, model="starter", data="task:arithmetic")


def shown(now: Draw) -> list[str]:
    return re.findall(r'<tr data-run="([^"]+)"', now["rows"])


# --- order


def test_values_of_any_kind_have_an_order_and_none_is_last_either_way() -> None:
    runs: Any = list("abcdefg")
    values = [3, None, "B", 1.5, "a", float("nan"), True]
    assert run_query.in_order(runs, values, False) == ["d", "a", "e", "c", "g", "b", "f"]
    assert run_query.in_order(runs, values, True) == ["g", "c", "e", "a", "d", "b", "f"]
    assert run_query.in_order(runs, [1] * 7, True) == runs  # equal ones stay as they are


def test_runs_are_sorted_by_any_column(registry_home: Path) -> None:
    high = made_run("high", 20, training={"learning_rate": 1e-3})
    low = made_run("Low", 40, training={"learning_rate": 1e-6}, metrics=fell)
    waits = queue("waits")
    for sort, order in {
        "": [waits, low, high], "created": [high, low, waits], "-step": [low, high, waits], "name": [high, low, waits],
        "-name": [waits, low, high], "set:training.learning_rate": [low, waits, high], "-metric:kl": [high, low, waits],
        "state": [waits, low, high], "duration": [low, high, waits], "-reward": [high, low, waits],
    }.items():  # fmt: skip
        now = drawn(sort=sort, columns=["set:training.learning_rate"])
        assert shown(now) == order, sort
        assert now["sort"] == (sort or "-created")
    marks = re.findall(r'aria-sort="(\w+)"><button type="button" class="sort" data-sort="([^"]+)"', now["head"])
    assert ("none", "name") in marks and ("none", "set:training.learning_rate") in marks
    ascending = re.search(r'aria-sort="(\w+)"><button[^>]*data-sort="step"', drawn(sort="step")["head"])
    assert ascending and ascending[1] == "ascending"


@pytest.mark.parametrize("sort", ["nothing", "-", "set:", "metric:", "--step", "drop table", 7, None, []])
def test_an_order_that_there_is_none_of_is_the_newest_first(registry_home: Path, sort: Any) -> None:
    ids = [queue(), queue()]
    now = runs_table.draw_runs({"sort": sort})
    assert shown(now) == ids[::-1] and now["sort"] == "-created"


# --- filters


def test_runs_are_found_by_words_in_all_that_is_said_of_them(registry_home: Path) -> None:
    one, two = queue("alpha"), queue("beta")
    labels.retag([one], add=["baseline"])
    labels.write_note(two, "for the Appendix")
    labels.rename(two, "Größe im März")
    for words, found in {
        "ALPHA": [one], "marz": [two], "GROSSE": [two], "größe März": [two], "appendíx": [two],
        "baseline": [one], "appendix marz": [two], "arithmetic": [two, one], "starter": [two, one],
        one: [one], one.upper(): [one], f"{one[:8]}- beta": [], "queued": [two, one], "nowhere": [],
    }.items():  # fmt: skip
        assert shown(runs_table.draw_runs({"search": words})) == found, words
    assert shown(runs_table.draw_runs({"search": "beta"})) == [], "an id is not seen, and is made of an older name"
    assert shown(runs_table.draw_runs({"search": f"{two[:18]} grosse"})) == [two]
    assert str(runs_table.draw_runs({"search": "<b>"})["nothing"]).startswith("No run matches “<b>”. ")


def test_chips_count_the_runs_of_each_state_and_filter_by_them(registry_home: Path) -> None:
    ended = [made_run(f"done {n}", 3, groups=0) for n in range(2)]
    failed, waits = made_run("broken", 3, groups=0, state=states.FAILED), queue()
    now = runs_table.draw_runs({})
    assert [(chip["label"], chip["n"], chip["on"]) for chip in now["chips"]] == [
        ("Queued", "1", False), ("Finished", "2", False), ("Failed", "1", False),
    ]  # fmt: skip
    assert shown(runs_table.draw_runs({"states": ["finished"]})) == ended[::-1]
    both = runs_table.draw_runs({"states": ["failed", "queued", "nonsense"], "search": "o"})
    assert shown(both) == [failed] and "showing 1" in both["counts"] and waits not in both["rows"]
    assert [chip["on"] for chip in both["chips"]] == [True, False, True]
    assert [chip["n"] for chip in runs_table.draw_runs({"search": "broken"})["chips"]] == ["0", "0", "1"]
    stopped = runs_table.draw_runs({"states": ["stopped"]})
    assert stopped["nothing"] == "No run is stopped." and stopped["chips"][-2]["n"] == "0"
    assert runs_table.matching_runs({"states": ["finished"], "search": "done"}) == {"runs": ended[::-1]}


def test_a_table_is_never_longer_than_asked_and_says_what_is_left(registry_home: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(runs_table, "PAGE", 2)
    ids = [queue() for _ in range(5)]
    now = runs_table.draw_runs({})
    assert shown(now) == ids[:2:-1] and now["more"] == "Show 2 more of 3" and now["found"] == 5
    more = runs_table.draw_runs({"shown": 4})
    assert len(shown(more)) == 4 and more["more"] == "Show 1 more of 1"
    assert len(shown(runs_table.draw_runs({"shown": 10**9}))) == 5
    same = {"same": True}
    assert wait_for("the same", lambda: runs_table.draw_runs({"mark": runs_table.draw_runs({})["mark"]}) == same)


# --- columns


def test_any_setting_and_metric_can_be_a_column(registry_home: Path) -> None:
    run_id = made_run("one", 30, training={"learning_rate": 2e-4})
    keys = ["set:training.learning_rate", "set:data.source", "metric:kl", "metric:none", "id", "set:training.none"]
    now = drawn(columns=[*keys, "nonsense", "name", keys[0]])
    assert now["columns"] == keys
    means = wait_for("its means", lambda: run_facts.outcomes_of([registry.get_run(run_id)])[run_id].metrics)  # type: ignore[list-item]
    assert cells(now, run_id)[3:] == ["2e-4", "task:arithmetic", f"{means['kl']:.3f}", "–", run_id, "–"]
    assert 'class="n default long" data-label="Data source" title="the default"' in now["rows"]
    assert 'title="training.learning_rate"><bdi>Learning rate</bdi>' in now["head"]
    offered = {
        group["title"]: [one["key"] for one in group["columns"]] for group in choices.offered_columns({})["groups"]
    }
    assert "set:training.beta" in offered["Settings"] and "set:lora" in offered["Settings"]
    assert "metric:kl" in offered["Metrics"] and offered["Basics"][0] == "spark"


def test_metrics_of_groups_have_plain_names_beside_their_own(registry_home: Path) -> None:
    run_id = made_run(
        "one", 30, metrics=lambda step: {"reward": 1.0, "groups/bearing": 0.5, "eval_groups/bearing": 1.0}
    )
    now = drawn(columns=["metric:groups/bearing"])
    wait_for("its means", lambda: run_facts.outcomes_of([registry.get_run(run_id)])[run_id].metrics)  # type: ignore[list-item]
    [offered] = [one["columns"] for one in choices.offered_columns({})["groups"] if one["title"] == "Metrics"]
    named = {one["name"]: one["words"] for one in offered if one["name"]}
    assert named["groups/bearing"] == "groups with a learning signal"
    assert named["eval_groups/bearing"] == "held-out: groups with a learning signal"
    assert {"key": "metric:reward", "words": "reward", "name": ""} in offered
    assert "<bdi>groups with a learning signal</bdi>" in now["head"] and 'title="groups/bearing' in now["head"]


def test_no_more_columns_than_fit_are_drawn(registry_home: Path) -> None:
    queue()
    now = runs_table.draw_runs({"columns": [f"set:x{n}" for n in range(500)]})
    assert len(now["columns"]) == columns.MOST
    assert runs_table.draw_runs({"columns": ["nonsense"]})["columns"] == list(columns.USUAL)


def test_a_final_is_the_mean_of_the_last_ten_as_in_compare(registry_home: Path) -> None:
    run_id = made_run("ten", 30, metrics=lambda step: {"reward": 1.0, "kl": float(step)})
    found = dict(outcome.work_out(registry.list_runs()))[run_id]
    assert found.metrics["kl"] == sum(range(21, 31)) / 10 and found.metrics["reward"] == 1.0


def test_runs_that_wait_say_their_place_in_the_queue(registry_home: Path) -> None:
    ids = [queue() for _ in range(12)]
    live_now = running(made_run("live", 3, groups=0, state=states.STOPPED))
    said = {run_id: cells(drawn(), run_id)[2] for run_id in [*ids, live_now]}
    assert [said[ids[n]] for n in (0, 1, 2, 3, 10)] == [
        f"Queued · {place} in queue" for place in ("1st", "2nd", "3rd", "4th", "11th")
    ]
    assert said[live_now] == "Running"


def test_who_has_finished_a_run_or_launched_several_is_not_new_here(registry_home: Path) -> None:
    """“New here?” came back once runs were deleted, with a finished one in the list."""
    waits = [queue(f"run {n}") for n in range(3)]
    assert not drawn()["newcomer"]
    for run_id in waits[:2]:
        registry.set_state(run_id, states.STOPPED, "It was stopped.")
        trash.delete_run(run_id)
    assert len(shown(drawn())) == 1 and not drawn()["newcomer"], "three were launched"


def test_one_or_two_runs_of_which_none_has_finished_are_a_newcomers(registry_home: Path) -> None:
    queue()
    assert drawn()["newcomer"]
    made_run("quickstart", 5)
    assert not drawn()["newcomer"]


# --- verdicts


def test_a_run_that_ended_worse_than_it_began_is_no_plain_finished_one(registry_home: Path) -> None:
    good, bad = made_run("good", 40), made_run("bad", 40, metrics=fell)
    stopped, failed = (made_run(state, 40, metrics=fell, state=state) for state in (states.STOPPED, states.FAILED))
    now = drawn()
    assert [cells(now, run_id)[2] for run_id in (good, bad, stopped, failed)] == [
        "Finished", "Finished · verdict: the reward fell", "Stopped · verdict: the reward fell", "FailedIt ended",
    ]  # fmt: skip
    registry.set_state(failed, states.FAILED, "Failed at step 40: The reward function “<b>” failed. See the log.")
    assert '<div class="why s" dir="auto" title="The reward function “&lt;b&gt;” failed">' in drawn()["rows"]
    pills = dict(re.findall(r'<tr data-run="([^"]+)".*?<span class="pill (\w+)"', now["rows"]))
    assert (pills[good], pills[bad], pills[stopped], pills[failed]) == ("ok", "bad", "bad", "bad")


@pytest.mark.parametrize(
    ("kind", "found", "words"),
    [
        ("down", [], "The reward fell"), ("down", [PROBLEM], "A problem, and the reward fell"), ("up", [], ""),
        ("up", [WARNING], "A warning"), ("up", [SUSPICION, PROBLEM], "A problem"), ("level", [WARNING], "A warning"),
        ("level", [SUSPICION], ""), ("waiting", [], ""),
    ],
)  # fmt: skip
def test_the_gravest_verdict_on_what_was_learned_stands_beside_the_state(
    kind: str, found: list[str], words: str
) -> None:
    verdicts = tuple(Verdict(level, level, f"A {level}", "", "", "") for level in found)
    level = WARNING if kind == "down" else ""
    said, grave = outcome.verdict_on(Report(kind, level, "", verdicts, (), 10, fell="The reward fell"))
    assert said == words
    assert grave == (PROBLEM if words == "A problem" else WARNING if words else "")
    slow = Verdict("slow", PROBLEM, "Steps are slow", "", "", "")
    assert outcome.verdict_on(Report("up", PROBLEM, "", (slow,), (), 10)) == ("", "")
    fewer = Report(kind, level, "", verdicts, (), 10, against="Fewer right answers")
    if kind == "up":  # what came of it stands behind its cause
        with_cause = (f"{words}, and fewer right answers", grave)
        assert outcome.verdict_on(fewer) == (with_cause if words else (fewer.against, WARNING))
    assert state_badge.label(states.FINISHED, "The reward is flat") == "Finished · verdict: the reward is flat"
    assert state_badge.label(states.STOPPED, "The reward is flat") == "Stopped · verdict: the reward is flat"
    assert state_badge.label(states.STOPPED, "Record is damaged") == "Stopped · record is damaged"
    said = [state_badge.against(words) for words in ("The reward is flat", "Record is damaged", "")]
    assert said == ["verdict: the reward is flat", "record is damaged", ""]
    kinds = [state_badge.kind(state, "neutral") for state in (states.FINISHED, states.STOPPED)]
    assert kinds == ["done", "idle"], "it learned nothing"


def test_what_runs_came_to_is_worked_out_once(registry_home: Path, monkeypatch: Any) -> None:
    ids = [made_run(f"run {n}", 20, metrics=fell) for n in range(3)]
    assert outcome.work_out_some() is False
    asked: list[str] = []
    monkeypatch.setattr(outcome, "read_outcome", lambda run, around: asked.append(run.id) or Outcome())
    now = runs_table.draw_runs({})
    assert now["settled"] and all(cells(now, run_id)[2] == "Finished · verdict: the reward fell" for run_id in ids)
    assert outcome.work_out_some() is False and asked == []
    registry.set_facts(ids[0], state_at=time.time() + 5)  # it was resumed, and ended again
    outcome.work_out_some()
    assert asked == [ids[0]]


def test_other_rules_judge_anew(registry_home: Path, monkeypatch: Any) -> None:
    made_run("one", 20)
    outcome.work_out_some()
    runs = registry.list_runs()
    assert set(outcome.outcomes_kept(runs)) == {runs[0].id}
    monkeypatch.setattr(outcome, "rules_digest", lambda: "another")
    assert outcome.outcomes_kept(runs) == {}


def test_what_is_kept_of_a_run_and_makes_no_sense_is_worked_out_anew(registry_home: Path) -> None:
    run = registry.get_run(made_run("one", 20, metrics=fell))
    assert run
    outcomes.keep_outcomes([(run.id, outcome.mark_of(run), json.dumps({"metrics": {"kl": "x"}, "verdict": 7}))])
    assert outcome.outcomes_kept([run]) == {}
    assert cells(drawn(), run.id)[2] == "Finished · verdict: the reward fell"


def test_where_a_run_goes_on_from_and_what_it_begins_with_are_in_its_row(registry_home: Path) -> None:
    run_id = made_run("resumed", 30, resumed_at=15)
    point = paths.run_folder(run_id).checkpoints / "checkpoint-10"
    branch = registry.create_run(SPEC, name="branch", model=str(point), data="task:arithmetic")
    now = drawn(columns=["step", "data"])
    assert cells(now, run_id)[3] == "30 resumed from 15"
    assert cells(now, branch)[4].startswith(f"checkpoint-10 of {run_id}"[:50])


def test_the_steps_that_a_resume_does_anew_add_to_its_duration(registry_home: Path) -> None:
    """It fell from 28 s to 20 s when a run went on from an earlier step."""
    took = lambda step: {"reward": 1.0, "time/elapsed": 2.0 * step, "step_time": 1.0 if step < 25 else 4.0}  # noqa: E731
    once, twice = made_run("once", 20, metrics=took), made_run("twice", 30, metrics=took, resumed_at=10)
    now = drawn(columns=["duration"])
    assert [cells(now, run_id)[3] for run_id in (once, twice)] == ["40 s", "1 min 20 s"]
    said = header.run_status({"run": twice})
    assert str(said["line"]).endswith("took 1 min 20 s")
    assert "all attempts" in str(said["about"])


def test_the_head_of_a_run_that_is_over_has_no_second_time_of_a_step(registry_home: Path) -> None:
    """3.0 s a step on average stood above the box, which has the 4.0 s of the last ten."""
    took = lambda step: {"reward": 1.0, "time/elapsed": 3.0 * step, "step_time": 2.0 if step < 11 else 4.0}  # noqa: E731
    said = header.run_status({"run": made_run("slower", 20, metrics=took)})
    assert str(said["line"]) == "step 20 of 20 · took 1 min"


# --- changes


@pytest.mark.parametrize("change", changes.FUNCTIONS)
@pytest.mark.parametrize(
    "ids", [None, 7, "x", [], {}, [7, None, ""], ["nope"], ["../.."], ["a\0b"], [["x"]], ["x" * 999], ["nope"] * 3000]
)
def test_what_names_no_run_changes_nothing(no_worker: None, change: Callable[[Any], Draw], ids: Any) -> None:
    kept = made_run("kept", 3, groups=0)
    answer = change({"ids": ids, "name": "x", "note": "x", "add": ["x"], "remove": ["x"]})
    assert answer.get("sentence") or answer["done"] == 0
    assert "inside Groupwise" not in str(answer)
    run = registry.get_run(kept)
    assert run and (run.name, run.note, run.tags) == ("kept", "", []) and trash.deleted_runs() == []


def test_name_note_and_tags_are_saved_together_or_not_at_all(registry_home: Path) -> None:
    """The name was saved though a tag was refused."""
    one, other = queue(), queue()
    run_labels.rename_run({"ids": [one], "name": "before"})
    run_labels.rename_run({"ids": [other], "name": "hers"})

    def labelled(**parts: dict[str, object]) -> dict[str, Any]:
        return run_labels.label_run({"ids": [one], "called": "before", **parts})

    def now() -> tuple[str, str, list[str]]:
        run = registry.get_run(one)
        assert run
        return run.name, run.note, run.tags

    name, note, tags = {"name": "after", "was": "before"}, {"note": "said", "was": ""}, {"add": ["a"], "remove": []}
    told = labelled(name=name, note=note | {"note": "x" * 5000}, tags={"add": ["x" * 500]})
    assert list(told["refused"]) == ["tags", "note"] and "at most 40" in told["refused"]["tags"]["sentence"]
    assert now() == ("before", "", [])
    told = labelled(name={"name": "hers", "was": "before"}, note=note, tags=tags)
    assert told["refused"]["name"]["taken"] and now() == ("before", "", [])
    told = labelled(name=name, note=note | {"was": "another"}, tags=tags)
    assert told["refused"] == {"note": {"sentence": "The note has since been removed.", "meanwhile": ""}}
    assert now() == ("before", "", [])
    assert labelled(name=name, note=note, tags=tags) == {"done": 1} and now() == ("after", "said", ["a"])


def test_a_page_renames_notes_and_tags(registry_home: Path) -> None:
    one, two = queue(), queue()
    assert run_labels.rename_run({"ids": [one], "name": "new name"}) == {"done": 1}
    assert run_labels.annotate_run({"ids": [one], "note": "said"}) == {"done": 1}
    assert run_labels.tag_runs({"ids": [one, two], "add": ["a", "b"], "remove": []}) == {"done": 2}
    run = registry.get_run(one)
    assert run and (run.name, run.note, run.tags) == ("new name", "said", ["a", "b"])
    for refused, words in {
        "A run needs a name.": {"name": " "}, "One run at a time": {"ids": [one, two], "name": "x"},
        "Nothing was written.": {"name": None}, "at most 80 characters; this one has 500.": {"name": "x" * 500},
    }.items():  # fmt: skip
        assert refused in run_labels.rename_run({"ids": [one], **words})["sentence"]
    told = run_labels.rename_run({"ids": [two], "name": " new  name"})
    assert told["sentence"] == "Another run is called “new name” already. Save again to call this one so too."
    assert run_labels.rename_run({"ids": [one], "name": "new name"}) == {"done": 1}, "it has that name itself"
    assert run_labels.rename_run({"ids": [two], "name": "new name", "again": True}) == {"done": 1}
    assert "at most 2,000" in run_labels.annotate_run({"ids": [one], "note": "x" * 5000})["sentence"]
    told = run_labels.tag_runs({"ids": [one], "add": ["short", "x" * 500]})
    assert told["sentence"] == f"A tag has at most 40 characters; “{'x' * 30}…” has 500."
    assert "At most 2,000 runs" in run_labels.tag_runs({"ids": [str(n) for n in range(2001)]})["sentence"]


def test_a_page_is_told_what_was_written_meanwhile(registry_home: Path) -> None:
    one = queue()
    labels.rename(one, "B")
    labels.write_note(one, "theirs")
    told = run_labels.rename_run({"ids": [one], "name": "mine", "was": "waits"})
    assert told == {"sentence": "It has since been renamed to “B”.", "meanwhile": "B"}
    told = run_labels.annotate_run({"ids": [one], "note": "mine", "was": ""})
    assert told == {"sentence": "The note has since been changed to “theirs”.", "meanwhile": "theirs"}
    labels.write_note(one, "")
    told = run_labels.annotate_run({"ids": [one], "note": "mine", "was": "theirs"})
    assert told == {"sentence": "The note has since been removed.", "meanwhile": ""}
    run = registry.get_run(one)
    assert run and (run.name, run.note) == ("B", "")
    assert run_labels.rename_run({"ids": [one], "name": "mine", "was": "B"}) == {"done": 1}
    assert run_labels.annotate_run({"ids": [one], "note": "mine", "was": ""}) == {"done": 1}


def test_what_is_written_of_a_run_that_was_deleted_meanwhile_is_said_by_its_name(registry_home: Path) -> None:
    one = made_run("waits", 3, groups=0)
    trash.delete_run(one)
    of_it = {"ids": [one], "called": "waits"}
    for change, written in (
        (run_labels.rename_run, {"name": "mine"}), (run_labels.annotate_run, {"note": "mine"}),
        (run_labels.tag_runs, {"add": ["mine"]}),
    ):  # fmt: skip
        said = {"sentence": "“waits” was deleted in another window.", "deleted": True}
        assert change({**of_it, **written}) == said
    assert changes.restore_runs(of_it)["done"] == 1
    assert changes.restore_runs(of_it)["done"] == 1, "another window was as quick"
    assert run_labels.rename_run({**of_it, "name": "mine"}) == {"done": 1}
    trash.delete_run(one)
    trash.erase([one])
    for change in (run_labels.rename_run, changes.restore_runs):
        said = change({**of_it, "name": "mine"})
        assert said == {"sentence": "“waits” was deleted for good: it cannot be restored.", "deleted": False}


def test_under_deleted_a_run_is_no_better_than_it_was(registry_home: Path) -> None:
    low = {"reward": 0.0, "groups/tied": 1.0, "groups/all_low": 1.0, "groups/solved": 0.0, "groups/any_solved": 0.0}
    run_id = made_run("hopeless", 40, groups=1, metrics=lambda step: low)
    before = cells(drawn(), run_id)[2]
    assert before.startswith("Finished · ")
    outcome.work_out_some()  # as the worker's chores do, once a run has ended
    changes.delete_runs({"ids": [run_id]})
    assert cells(runs_table.draw_runs({"deleted": True}), run_id)[2] == before


def test_a_run_that_waits_is_deleted_and_undo_puts_it_back_into_the_queue(registry_home: Path, no_worker: None) -> None:
    waits, behind = queue(), queue()
    assert changes.delete_runs({"ids": [waits]})["runs"] == [waits]
    assert [run.id for run in registry.list_runs(only={states.QUEUED})] == [behind]
    assert changes.restore_runs({"ids": [waits]})["runs"] == [waits]
    assert run_query.queue_places(registry.list_runs()) == {waits: 1, behind: 2}


def test_a_resume_says_what_it_goes_before_in_the_queue(registry_home: Path) -> None:
    older, waits = queue("older"), queue()
    registry.set_state(older, states.STOPPED, "Stopped.")
    run, busy = registry.get_run(older), registry.list_runs(only={states.QUEUED})
    assert run and [one.id for one in busy] == [waits]
    goes_before = "It goes before 1 run in the queue, launched later."
    assert run_query.turn_words(run, busy) == "The worker starts it in a moment.", (
        "or the one that waits, at any moment"
    )
    running(queue("trains"))
    busy = registry.list_runs(only={states.QUEUED, *states.LIVE})
    assert run_query.turn_words(run, busy).endswith(f"when trains has ended. {goes_before}")
    facts = {"ended_state": run.state, "ended_sentence": run.sentence, "ended_at": run.state_at}
    registry.set_state(older, states.QUEUED, "Waiting for trains to end.", attempt=2, **facts)
    assert header.run_status({"run": older})["sentence"] == f"Waiting for trains to end. {goes_before}"
    assert str(header.run_status({"run": waits})["sentence"]).endswith(
        "“older”, launched earlier, was resumed and goes before it."
    )
    later = queue("later")
    assert "resumed" not in str(header.run_status({"run": later})["sentence"])


def test_many_are_deleted_restored_and_erased_and_those_that_cannot_be_are_named(
    registry_home: Path, no_worker: None
) -> None:
    ended, trains = [made_run(f"done {n}", 3, groups=0) for n in range(2)], running(queue())
    said = changes.delete_runs({"ids": [*ended, trains]})
    assert said["runs"] == ended and said["left"] == "1 run not changed. waits is running: stop it first."
    more = [running(queue()) for _ in range(4)]
    refused = changes.delete_runs({"ids": [trains, *more]})["sentence"]
    assert refused.startswith("No run was changed. waits is running: stop it first. waits ")
    assert refused.endswith(" 2 more were not changed either.")
    now = runs_table.draw_runs({"deleted": True})
    assert shown(now) == ended[::-1] and "2 deleted runs" in now["counts"] and "gone in" in now["head"]
    assert cells(now, ended[0])[-2].startswith(("24 h", "23 h")) and cells(now, ended[0])[-1] == "Restore"
    assert runs_table.draw_runs({})["chips"][-1] == {"state": "deleted", "label": "Deleted", "n": "2", "on": False}
    assert runs_table.draw_runs({"search": ended[1]})["chips"][-1]["n"] == "1"
    assert runs_table.matching_runs({"deleted": True, "search": ended[1]}) == {"runs": [ended[1]]}
    refusal = live.answer(lambda payload: {"run": live.run_of(payload)})({"run": ended[0]})["sentence"]
    assert "was deleted. It can be restored for a day: on its page, or on Runs under Deleted." in refusal
    assert changes.restore_runs({"ids": ended[:1]})["done"] == 1 and ended[0] in shown(runs_table.draw_runs({}))
    assert changes.erase_runs({"ids": [ended[1], ended[0]]})["done"] == 1  # what is not deleted is not erased
    nothing = "There are no deleted runs. A run that is deleted can be restored for 24 hours."
    assert runs_table.draw_runs({"deleted": True})["nothing"] == nothing  # one was, and is back
    assert "There is no deleted run" in changes.restore_runs({"ids": [ended[1]]})["sentence"]


def test_the_page_of_a_deleted_run_restores_it(registry_home: Path, no_worker: None) -> None:
    ended, waits = made_run("done", 3, groups=0), queue()
    assert header.run_status({"run": "20260101-000000-none"})["deleted"] is False
    for run_id in (ended, waits):
        trash.delete_run(run_id)
        assert header.run_status({"run": run_id})["deleted"] is True
        assert header.put_back({"run": run_id}) == header.put_back({"run": run_id}) == {"done": True}
        assert registry.get_run(run_id) is not None
    assert "There is no deleted run" in header.put_back({"run": "20260101-000000-none"})["sentence"]


def test_only_what_trains_or_waits_is_stopped(no_worker: None) -> None:
    ended, waits = made_run("done", 3, groups=0), queue()
    assert changes.stop_runs({"ids": [ended]})["sentence"] == "None of these runs trains or waits."
    assert changes.stop_runs({"ids": [ended, waits]})["runs"] == [waits]
    assert [(command.run, command.kind) for command in commands.open_commands()] == [(waits, commands.STOP)]


def test_what_trains_is_told_from_what_may_be_deleted(no_worker: None) -> None:
    ended, waits, trains = made_run("done", 3, groups=0), queue(), running(queue("trains"))
    now = runs_table.draw_runs({"search": "done", "chosen": [waits, trains]})
    assert now["training"] == [trains] and set(now["stoppable"]) == {waits, trains}
    assert [one["id"] for one in now["elsewhere"]] == [waits, trains]
    assert changes.delete_runs({"ids": [ended, waits, trains]})["runs"] == [ended, waits]


def test_a_run_that_starts_is_not_counted_as_running(registry_home: Path) -> None:
    for state in (states.QUEUED, states.STARTING, states.RUNNING, states.STOPPING):
        run_id = registry.create_run("name: a", name=state, model="m", data="d")
        through = {states.QUEUED: [], states.STARTING: [states.STARTING]}.get(state, [states.STARTING, state])
        for one in through:
            registry.set_state(run_id, one, "It goes on.")
    everything = registry.list_runs(curves=False)
    ids = [run.id for run in everything]
    said = runs_table.counts_line(everything, everything, ids, ids)
    assert said == "4 runs · 1 running · 1 starting · 1 stopping · 1 queued."


def test_the_words_under_the_table_count_what_the_chips_count_and_what_is_seen(registry_home: Path) -> None:
    waits = queue()
    alone = runs_table.draw_runs({"search": "nothing-like-it", "editing": [waits]})
    assert alone["counts"] == "0 of 1 run · showing 1."
    other, _ = made_run("other", 3, groups=0), made_run("third", 3, groups=0)
    none = runs_table.draw_runs({"search": "nothing-like-it"})
    assert {chip["n"] for chip in none["chips"]} == {"0"} and none["counts"] == "0 of 3 runs."
    typing = runs_table.draw_runs({"search": "nothing-like-it", "editing": [waits, "gone"]})
    assert typing["counts"] == "0 of 3 runs · showing 1.", "the row in which someone writes stays"
    found = runs_table.draw_runs({"search": "other", "editing": [other]})
    assert found["counts"] == "1 of 3 runs."
    assert runs_table.draw_runs({"editing": [other]})["counts"] == "3 runs · 1 queued."
