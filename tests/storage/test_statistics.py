"""The Statistics of runs whose records the recorder's own writer made: what each panel counts, and what it says."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.run import statistics, statistics_panels
from groupwise.app.pages.run.groups import groups_at_step
from groupwise.storage.analysis.doctor.words import percent, percent_without
from groupwise.storage.analysis.statistics import reading
from groupwise.storage.analysis.statistics.buckets import evaluations
from groupwise.storage.analysis.statistics.pass_at_k import PromptRate
from groupwise.storage.home import paths
from groupwise.storage.record import metrics, states
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Completion, Group
from groupwise.storage.registry import registry
from tests.support.made_runs import learning_group, made_run, running
from tests.support.records import rows

FUNCTIONS = ("format", "correctness")


def made_group(step: int, n: int) -> Group:
    """Every first group is all failed at first, all at the highest from step 6 on; every second one is half right."""
    right = [step > 5] * 4 if n == 0 else [True, True, False, False]
    completions = [
        Completion(
            "x" * (index + 1),
            10 + index,
            not solved,
            2.0 * solved,
            solved - 0.5,
            [(None, "error"), (float(solved), "ok")],
        )
        for index, solved in enumerate(right)
    ]
    return Group("train", step, [{"role": "user", "content": f"prompt {n} <b>"}], {}, completions)


def forgetting(step: int, n: int) -> Group:
    group = learning_group(step, n, 10, 4, FUNCTIONS, 4, random.Random(step * 10 + n))
    for completion in group.completions:
        completion.scores = [(1.0, "ok"), (float(step < 6), "ok")]
    return group


def evaluate(run: str, steps: tuple[int, ...]) -> None:
    """Two held-out groups at each of these steps."""
    writer = RunWriter(record(run), 1, {"format": 1.0, "correctness": 2.0})
    for step in steps:
        groups = [made_group(step, n) for n in (0, 1)]
        for group in groups:
            group.mode = "eval"
        writer.commit(step, groups=groups)
    writer.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Name → id of the runs of these tests, with their home."""
    place = tmp_path_factory.mktemp("statistics")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUPWISE_HOME", str(place))
        paths.prepare()
        registry.open_registry()
        runs = {
            "known": made_run("known", 10, groups=2, make_group=made_group),
            "learns": made_run("learns", 40, eval_every=10),
            "resumed": made_run("resumed", 30, resumed_at=12),
            "forgets": made_run("forgets", 10, groups=2, make_group=forgetting),
            "bare": made_run("bare", 5, groups=0),
            "evaluated": made_run("evaluated", 61, groups=1, make_group=made_group),
        }
        evaluate(runs["evaluated"], (0, 20, 40, 60, 61))
    return runs | {"home": str(place)}


@pytest.fixture(autouse=True)
def this_home(made: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("GROUPWISE_HOME", made["home"])
    yield


def asked(run: str, panel: str, **more: Any) -> dict[str, Any]:
    found = statistics.draw_panel({"run": run, "panel": panel, **more})
    json.dumps(found, allow_nan=False)  # a browser can read it
    return found


def record(run: str) -> Path:
    return paths.run_folder(run).db


def test_ties_are_said_in_words_and_drawn_by_kind(made: dict[str, str]):
    found = asked(made["known"], "ties")
    assert (
        found["says"]
        == "Of the 10 groups of steps 6–10, 5 are tied (5 all at top score): no learning signal from them."
    )
    assert found["all_low"] == [0.5] * 5 + [0] * 5 and found["all_high"] == [0] * 5 + [0.5] * 5
    assert found["bearing"] == [0.5] * 10 and found["steps"][0] == (1, 1)


def test_ties_and_spread_are_what_the_recorder_measured_as_it_went(made: dict[str, str]):
    found = asked(made["learns"], "ties")
    spread = asked(made["learns"], "spread")["spread"]
    for name, own in (
        ("groups/all_high", found["all_high"]),
        ("groups/bearing", found["bearing"]),
        ("groups/spread", spread),
    ):
        measured = rows(
            record(made["learns"]),
            f"SELECT value FROM metric JOIN metric_key ON id = key WHERE name = '{name}' ORDER BY step",
        )
        assert own == pytest.approx([value for (value,) in measured]), name


BLANKS = ["", None, " \n", "\u00a0"]


def some_without_answer(step: int, n: int) -> Group:
    """Of four groups the first has an answer that none found, the second and the third have none, the last learns."""
    group = made_group(1, 0 if n < 3 else 1)
    group.step, group.prompt = step, f"prompt {n}"
    group.columns = {"answer": BLANKS[step % 4] if n in (1, 2) else "\\frac{1}{2}", "n": n}
    for completion in group.completions:
        completion.scores = [(0.0, "ok"), (None, "none") if n in (1, 2) else completion.scores[1]]
    return group


def test_a_row_without_an_answer_is_no_failure_on_any_page(made: dict[str, str]) -> None:
    """Groups said “6 none right, 1 no answer in row” of a step, Statistics that none was right in 7 of 8."""
    run = made_run("blank", 8, groups=4, make_group=some_without_answer)
    found = asked(run, "ties")
    assert found["all_low"] == [0.25] * 8 and found["no_answer"] == [0.5] * 8 and found["bearing"] == [0.25] * 8
    assert "12 are tied (4 none right, 8 no answer in row)" in found["says"]
    assert "(1 none right, 2 no answer in row)" in groups_at_step({"run": run, "step": 8})["verdict"]
    now = [metrics.value_now(record(run), f"groups/{name}") for name in ("all_low", "no_answer", "bearing")]
    assert now == [0.25, 0.5, 0.25]
    assert (found["now"]["all_low"], found["now"]["no_answer"]) == ("25\u202f%", "50\u202f%")
    assert asked(made["known"], "ties")["no_answer"] == [0] * 10


def test_prompts_are_gone_through_for_the_panel_of_ties_alone(
    made: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of three panels searched all prompts for those without an answer, and one shows them."""
    searched: list[str] = []
    panel = ""
    lacking = reading.prompts_without_answer
    monkeypatch.setattr(reading, "prompts_without_answer", lambda run: [searched.append(panel), *lacking(run)][1:])
    for panel in statistics.PANELS:
        asked(made["known"], panel)
    assert searched == ["ties"]


@pytest.mark.parametrize(("steps", "every"), [(60, 1), (3, 1), (15, 1), (60, 5), (23, 10), (7, 10)])
def test_ties_and_what_is_solved_are_now_what_the_overview_says(made: dict[str, str], steps: int, every: int) -> None:
    """“Tied groups 10 %” on the Overview was 8 % on the Statistics at the same time: of other groups."""
    run = made_run(f"same {steps} {every}", steps, groups=8, every=every)
    now = {name: metrics.value_now(record(run), f"groups/{name}") or 0.0 for name in ("tied", "solved")}
    found = asked(run, "ties")
    assert found["now"]["bearing"] == percent_without(now["tied"])
    assert asked(run, "pass")["says"].startswith(f"pass@1 {percent(now['solved'])} and pass@8 ")
    named = re.search(r"groups of steps? (\d+)(?:–(\d+))?(?: are tied|, )", found["says"])
    assert named, found["says"]
    first, last = int(named[1]), int(named[2] or named[1])
    assert {(60, 1): (51, 60), (3, 1): (3, 3), (15, 1): (9, 15), (60, 5): (31, 60), (23, 10): (11, 20),
            (7, 10): (5, 7)}[steps, every] == (first, last)  # fmt: skip


def test_pass_at_k_counts_what_the_target_function_solved(made: dict[str, str]):
    found = asked(made["known"], "pass")
    half = 1 - (2 * 1) / (4 * 3)  # of four with two right, two drawn
    assert found["k"] == [1, 2, 4] and found["rates"][1] == pytest.approx([half / 2] * 5 + [(1 + half) / 2] * 5)
    assert found["says"] == "pass@1 75\u202f% and pass@4 100\u202f% in the 10 groups of steps 6–10."
    solved = rows(
        record(made["known"]), "SELECT value FROM metric JOIN metric_key ON id = key WHERE name = 'groups/solved'"
    )
    assert found["rates"][0] == pytest.approx([value for (value,) in solved])


def test_what_is_solved_can_be_said_anew(made: dict[str, str]):
    assert asked(made["known"], "pass", solved="correctness:2")["rates"][0] == [0.0] * 10
    for panel in ("pass", "prompts"):
        says = asked(made["known"], panel, solved="correctness:15")["says"]
        assert says.endswith(". No completion reached 15: the highest was 1."), says
    unscored = asked(made["known"], "pass", solved="format:0.5")  # it gave no score at all: that is not wrong
    assert unscored == {"wait": "“format” has scored no completion of these groups."}
    for nonsense in ("nobody:1", "correctness:nan", "correctness", ":", "correctness:1e999", 7, None):
        assert asked(made["known"], "pass", solved=nonsense)["rates"][0][0] == 0.25, nonsense


def test_prompts_of_the_same_words_are_told_apart_by_the_columns_in_which_they_differ(made: dict[str, str]) -> None:
    def twins(step: int, n: int) -> Group:
        level, words = [(1, "44 + 16 ="), (3, "44 + 16 ="), (1, "5 + 5 =")][n]
        return replace(made_group(step, n), prompt=words, columns={"answer": "60", "stufe": level, "note": "<b>"})

    found = asked(made_run("twins", 4, groups=3, make_group=twins), "prompts")["rows"]
    assert sorted((row["text"], row["apart"]) for row in found) == [
        ("44 + 16 =", "stufe 1"), ("44 + 16 =", "stufe 3"), ("5 + 5 =", "")
    ]  # fmt: skip


def test_prompts_come_by_what_was_solved_lately(made: dict[str, str]):
    found = asked(made["known"], "prompts")
    assert [row["text"] for row in found["rows"]] == ["prompt 1 <b>", "prompt 0 <b>"]
    assert found["rows"][1]["cells"] == [0] * 5 + [1] * 5 and found["rows"][0]["groups"] == 10
    assert found["says"] == "2 prompts; in the newer half of each one’s groups, 0 never solved, 1 always."
    assert [row["text"] for row in asked(made["known"], "prompts", order="improved")["rows"]] == ["prompt 0 <b>"]
    once = [PromptRate(prompt, 1, 0.5, 0.5, late, late, late) for prompt, late in ((1, 0.0), (2, 1.0))]
    all_of_them = statistics_panels.Asked("train", 1, "correctness", 1.0, "", True)
    said = statistics_panels.prompt_words(all_of_them, 2, 2, once)
    assert said == "2 prompts, each seen once: 1 solved by no completion, 1 by all.", "one group has no newer half"
    forgotten = asked(made["forgets"], "prompts", order="forgotten")
    assert len(forgotten["rows"]) == 2 and forgotten["says"].startswith("Both prompts solved by half of a group before")
    assert asked(made["known"], "prompts", order="forgotten")["rows"] == []


def test_the_heat_maps_count_every_completion_once(made: dict[str, str]):
    found = asked(made["known"], "reward")
    assert found["bounds"] == [(0.0, 0.0), (2.0, 2.0)] and found["counts"] == [[6] * 5 + [2] * 5, [2] * 5 + [6] * 5]
    assert found["says"] == "Most often 2 in step 10: 75\u202f% of the completions."
    learns = asked(made["learns"], "advantage")
    assert sum(map(sum, learns["counts"])) == 40 * 4 * 8 and len(learns["counts"]) <= 30 and len(learns["x"]) <= 61
    held = asked(made["learns"], "reward", mode="eval")
    assert sum(map(sum, held["counts"])) == 4 * 4 * 8 and held["steps"] == [(n, n) for n in (10, 20, 30, 40)]


def test_evaluations_stand_at_their_own_steps_and_the_last_alone_is_told_of(made: dict[str, str]):
    run = made["evaluated"]
    ties = asked(run, "ties", mode="eval")
    assert ties["steps"] == [(0, 0), (20, 20), (40, 40), (60, 60), (61, 61)] and ties["groups"] == [2] * 5
    assert ties["says"] == (
        "Of the 2 groups of the last evaluation (step 61), 1 is tied (1 all at top score): "
        "all of a group scored the same."
    )
    last = "in the last evaluation (step 61, 2 groups)"
    assert asked(run, "pass", mode="eval")["says"] == f"pass@1 75\u202f% and pass@4 100\u202f% {last}."
    spread = asked(run, "spread", mode="eval")
    assert spread["small"] is None and spread["says"].endswith(f"on average {last}.")
    assert asked(run, "best", mode="eval")["says"].endswith(f" {last}.")
    reward = asked(run, "reward", mode="eval")
    assert (
        reward["x"] == [-10, 10, 30, 50, 60.5, 61.5]
        and [sum(c) for c in zip(*reward["counts"], strict=True)] == [8] * 5
    )
    assert reward["says"] == "Most often 2 in the last evaluation (step 61): 75\u202f% of the completions."
    scores = asked(run, "scores", mode="eval")
    assert scores["functions"][1]["histogram"]["counts"] == [2, 6] and scores["steps"] == (61, 61)
    assert scores["says"] == f"Never scored {last}: format."
    assert "the 8 completions of the last evaluation (step 61):" in asked(run, "lengths", mode="eval")["says"]
    share = asked(run, "share", mode="eval")
    assert share["steps"] == ties["steps"] and share["says"].startswith(
        "In the last evaluation (step 61), 100\u202f% of"
    )


def test_very_many_evaluations_share_a_point():
    found = evaluations(range(0, 1000, 10), 40)
    assert found.count == 34 and found.steps(0) == (0, 20) and found.steps(33) == (990, 990)
    assert [found.of(step) for step in (0, 20, 30, 990)] == [0, 0, 1, 33] and len(found.edges()) == 35
    assert evaluations([5], 40).edges() == [4.5, 5.5]


def test_steps_that_a_resume_trained_anew_count_once(made: dict[str, str]):
    assert sum(map(sum, asked(made["resumed"], "reward")["counts"])) == 30 * 4 * 8
    assert asked(made["resumed"], "ties")["groups"] == [4] * 30
    assert sum(asked(made["resumed"], "pass")["groups"]) == 120


def test_each_functions_scores_are_binned_and_a_silent_one_is_named(made: dict[str, str]):
    found = asked(made["known"], "scores")
    silent, right = found["functions"]
    assert silent["histogram"] is None and silent["none"] == 80
    assert right["histogram"]["counts"] == [40, 40] and right["histogram"]["bounds"] == [(0.0, 0.0), (1.0, 1.0)]
    assert found["steps"] == (1, 10)


def test_length_is_held_against_reward(made: dict[str, str]):
    found = asked(made["known"], "lengths")
    assert found["correlation"] < 0 and sum(map(sum, found["plane"]["counts"])) == 80
    assert "over the 80 completions of steps 1–10: longer ones scored" in found["says"]
    assert found["says"].endswith(" 40 truncated: 0 on average, the others 2.00.")
    assert "rewarded" not in found["says"]  # no function of this run scores length


def test_functions_agree_and_share_the_variance(made: dict[str, str]):
    found = asked(made["learns"], "share")
    assert [sum(shares) for shares in zip(*found["share"], strict=True)] == pytest.approx([1.0] * len(found["steps"]))
    assert re.match(r"In steps 3\d–40, [\d.]+\u202f% of the differences in reward come from correctness", found["says"])
    agree = asked(made["learns"], "correlation")
    assert agree["pairs"] == [(0, 1)] and re.match(r"Strongest in steps 3\d–40: ", agree["says"])


def test_a_sample_is_said_to_be_one(made: dict[str, str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reading, "SAMPLE", 320)
    found = asked(made["learns"], "correlation")
    assert found["of"] == (320, 1280) and found["says"].endswith("From a sample of 320 of 1,280 completions.")


def test_the_page_learns_what_is_there_and_why_there_is_nothing(made: dict[str, str]):
    there = statistics.statistics_summary({"run": made["learns"]})
    assert there["mark"] and there["solved"] == {"name": "correctness", "threshold": 1.0} and not there["wait"]
    assert asked(made["learns"], "prompts")["over"]
    trains = running(made_run("trains", 6, state=states.STOPPED))
    meanwhile = statistics.statistics_summary({"run": trains})
    assert not asked(trains, "prompts")["over"], "a prompt that came once did so so far"
    registry.set_state(trains, states.FINISHED, "")
    assert asked(trains, "prompts")["over"]
    assert statistics.statistics_summary({"run": trains})["mark"] != meanwhile["mark"], "its end is drawn"
    assert "no evaluation" in statistics.statistics_summary({"run": made["known"], "mode": "eval"})["wait"]
    assert statistics.statistics_summary({"run": made["bare"]})["wait"].startswith("No group is stored")
    assert statistics.statistics_summary({"run": "no-such-run"})["sentence"].startswith("There is no run")


@pytest.mark.parametrize("panel", statistics.PANELS)
def test_every_panel_says_what_it_waits_for(made: dict[str, str], panel: str):
    assert asked(made["bare"], panel)["wait"]
    assert asked(made["known"], panel, mode="eval")["wait"]


@pytest.mark.parametrize(
    "payload", [None, [], {"panel": "__class__"}, {"panel": ["ties"]}, {"panel": "ties", "mode": {}}]
)
def test_payloads_that_no_page_sends_get_a_sentence(made: dict[str, str], payload: Any):
    found = statistics.draw_panel(payload | {"run": made["known"]} if isinstance(payload, dict) else payload)
    assert ("sentence" in found) is (not isinstance(payload, dict) or payload["panel"] != "ties")
    assert not found.get("fault")
