"""A run's Groups as the page asks for them: orders, one group, comparisons, notes, this prompt over time."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.run import groups, same_prompt, stars
from groupwise.storage.home import db, paths
from groupwise.storage.library import repair
from groupwise.storage.record import groups as record
from groupwise.storage.record.same_prompt import times
from groupwise.storage.record.step_record import Completion, Group
from groupwise.storage.registry import notes, registry
from tests.support.made_runs import made_run

TEXTS = ["<think>2+3 is 5</think>", "<think>2+3 is 6</think>", "<think>2+3 is 5</think>", "no"]
REWARDS = [1.0, 0.0, 1.0, 0.5]
HOSTILE = "<img src=x onerror=alert(1)>\u202e"


def make(step: int, n: int) -> Group:
    """Prompt 0 of each step has four texts, whose last says when; the others are tied low and high."""
    rewards = REWARDS if n == 0 else [float(n == 1) * 2.0] * 4
    completions = [
        Completion(f"{text} {step}" if text == "no" else text, 5, False, reward, reward - 0.5, [(reward, "ok")] * 2)
        for text, reward in zip(TEXTS, rewards, strict=True)
    ]
    return Group("train", step, f"prompt {n}", {"answer": "5"}, completions)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A home, and a run in it of 12 steps; the first attempt was at the last of them when the second began after
    step 4."""
    place = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as here:
        here.setenv("GROUPWISE_HOME", str(place))
        paths.prepare()
        registry.open_registry()
        return place, made_run("four", 12, groups=3, make_group=make, resumed_at=4)


@pytest.fixture
def run_id(shared: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("GROUPWISE_HOME", str(shared[0]))
    return shared[1]


def ids(run_id: str, step: int, **asked: Any) -> list[int]:
    return [line["id"] for line in groups.groups_at_step({"run": run_id, "step": step, **asked})["groups"]]


def overwritten(run_id: str, step: int) -> int:
    """The first group of this step that attempt 1 made, before attempt 2 trained it again."""
    reader = db.open_reader(paths.run_folder(run_id).db)
    found = reader.execute("SELECT min(id) FROM grp WHERE step = ? AND attempt = 1", [step]).fetchone()[0]
    reader.close()
    return int(found)


def test_the_list_is_ordered_as_it_was_picked(run_id: str):
    first, high, low = ids(run_id, 2)
    assert ids(run_id, 2, pick="worst") == [low, first, high]
    assert ids(run_id, 2, pick="best") == [high, first, low]
    assert ids(run_id, 2, pick="spread")[0] == first
    assert ids(run_id, 2, pick="tied")[:2] == [low, high]
    now = groups.groups_at_step({"run": run_id, "step": 2})
    assert [line["spread"] for line in now["groups"]] == ["0.48", "all at top score", "none right"]
    assert "2 of 3 groups are tied (1 none right, 1 all at top score: 2.00 of 3.00 at most)" in now["verdict"]
    assert "groups" in groups.groups_at_step({"run": run_id, "step": 2, "mark": now["mark"], "pick": "best"})


def test_a_group_says_which_texts_are_the_same_and_which_words_differ(run_id: str):
    first = ids(run_id, 2)[0]
    plain = groups.show_group({"run": run_id, "group": first})
    assert "<mark>" not in plain["html"] and "same text as" not in plain["html"]
    assert plain["html"].count("<article") == 3 and plain["html"].count("2 ×") == 1
    assert 'title="completions 1, 3: the same text and scores"' in plain["html"] and 'data-alike="2"' in plain["html"]
    compared = groups.show_group({"run": run_id, "group": first, "diff": "best"})["html"]
    assert "<mark>6</mark>" in compared and compared.count("<mark>") == 1 and compared.count("reference") == 2
    assert "Nearly all of it differs." in compared
    other = groups.show_group({"run": run_id, "group": first, "diff": "1"})["html"]
    assert other.count("<mark>5</mark>") == 1  # of the two that are the same, one is shown
    for odd in ("9", "-1", "<b>", "best' OR 1"):
        assert groups.show_group({"run": run_id, "group": first, "diff": odd})["html"] == plain["html"]


def test_what_somebody_starred_keeps_a_card_of_its_own(run_id: str):
    first = ids(run_id, 3)[0]
    notes.star(run_id, first, 2, True)
    html = groups.show_group({"run": run_id, "group": first})["html"]
    assert html.count("<article") == 4 and "×" not in html and html.count("same text as") == 1
    notes.star(run_id, first, 2, False)


def test_the_list_says_how_many_are_right(run_id: str):
    lines = groups.groups_at_step({"run": run_id, "step": 2})["groups"]
    assert [line["right"] for line in lines] == ["2/4", "4/4", "0/4"]
    paths.run_folder(run_id).spec.rename(paths.run_folder(run_id).spec.with_name("kept"))
    again = groups.groups_at_step({"run": run_id, "step": 2, "pick": "worst"})["groups"]
    paths.run_folder(run_id).spec.with_name("kept").rename(paths.run_folder(run_id).spec)
    assert {line["right"] for line in again} == {"–"}


def test_a_tied_group_of_a_row_without_an_answer_says_so(run_id: str):
    def of_rows(step: int, n: int) -> Group:
        answer, status = [("", "none"), ("7", "none"), ("", "failed"), ("", "ok"), (0, "none")][n]
        scores = [(0.0, "ok"), (0.0 if status == "ok" else None, status)]
        columns = {"answer": answer}
        return Group("train", step, f"{n}", columns, [Completion("a", 1, False, 0.0, 0.0, scores)] * 4)

    rows = made_run("rows", 2, functions=("format", "correctness"), groups=5, make_group=of_rows)
    now = groups.groups_at_step({"run": rows, "step": 2})
    assert [line["spread"] == "no answer in row" for line in now["groups"]] == [True, False, False, False, False]
    assert "1 no answer in row" in now["verdict"]


def test_nothing_is_called_right_by_a_function_that_scores_on_another_scale(run_id: str):
    def far_off(step: int, n: int) -> Group:
        scores = [step + n - 20.0, step - 24.0]
        return Group("train", step, f"{n}", {}, [Completion("a", 1, False, one, 0.0, [(one, "ok")]) for one in scores])

    logged = {"rewards/mine/mean": -20.0}, {"rewards/mine/mean": -12.0}
    mine = made_run(
        "mine", 2, functions=("mine",), groups=2, make_group=far_off, metrics=lambda step: {**logged[step - 1]}
    )
    assert {line["right"] for line in groups.groups_at_step({"run": mine, "step": 2})["groups"]} == {"–"}


def test_nothing_is_called_right_by_a_function_that_gives_everything_the_same(run_id: str):
    def alike(step: int, n: int) -> Group:
        return Group("train", step, f"{n}", {}, [Completion("a", 1, False, 1.0, 0.0, [(1.0, "ok")])] * 4)

    logged = {"rewards/ones/mean": 1.0, "rewards/ones/std": 0.0}
    ones = made_run("ones", 2, functions=("ones",), groups=2, make_group=alike, metrics=lambda step: {**logged})
    assert {line["right"] for line in groups.groups_at_step({"run": ones, "step": 2})["groups"]} == {"–"}


def test_a_group_without_any_score_has_no_best(run_id: str):
    completion = {"idx": 0, "text": "a", "reward": None}
    assert groups.reference_of([completion], "best") is None


def test_of_the_best_the_reference_is_what_most_of_them_say() -> None:
    """One of them may be right by chance."""
    said = [("21+22=53", 1.0), ("21+32=54", 0.0), ("21+32=54", 0.0), ("21+32=53", 1.0), ("21+32=53", 1.0)]
    completions = [{"idx": n, "text": text, "reward": reward} for n, (text, reward) in enumerate(said)]
    assert groups.reference_of(completions, "best") == 3


def test_a_tied_group_says_how(run_id: str):
    _, high, low = ids(run_id, 2)
    shown = groups.show_group({"run": run_id, "group": high})["html"]
    assert "Tied, all at top score: every completion earned 2.00, the most seen in this run, of 3.00 at most." in shown
    assert "Tied, none right" in groups.show_group({"run": run_id, "group": low})["html"]


def test_a_group_that_was_trained_over_is_reached_and_says_so(run_id: str):
    group = overwritten(run_id, 8)
    assert group not in ids(run_id, 8)
    found = groups.show_group({"run": run_id, "group": group})
    assert (found["step"], found["counts"]) == (8, False)
    assert "From attempt 1, before the run was resumed" in found["html"]


def test_the_same_prompt_is_followed_down_the_steps(run_id: str):
    prompt = groups.show_group({"run": run_id, "group": ids(run_id, 2)[0]})["prompt"]
    found = same_prompt.prompt_history({"run": run_id, "prompt": prompt})
    counting = [time for time in found["times"] if time["counts"]]
    assert [time["step"] for time in counting] == list(range(1, 13))
    assert len(found["times"]) == 20  # attempt 1 also made steps 5 to 12
    assert found["told"].startswith(
        "Seen 12 times, from step 1 to step 12, and 8 times in steps that a later attempt trained again."
    )
    html = groups.show_group({"run": run_id, "group": ids(run_id, 2)[0]})["html"]
    assert "and 8 times in steps that a later attempt trained again" in html and "of 20 times" not in html
    assert {time["solved"] for time in found["times"]} == {0.5}
    assert (found["then"], found["now"]) == (counting[0]["id"], counting[-1]["id"])
    assert "html" not in same_prompt.prompt_history({"run": run_id, "prompt": prompt, "mark": found["mark"]})
    assert "The same text both times." in found["html"] and found["html"].count("<article") == 2
    each = same_prompt.prompt_history({"run": run_id, "prompt": prompt, "each": True})["html"]
    assert each.count("<article") == 8 and "<mark>1</mark>" in each and "<mark>12</mark>" in each


def test_a_prompt_that_two_attempts_were_given_once_counts_once_and_both_are_compared(run_id: str):
    def only(step: int, n: int) -> Group:
        return Group("train", step, f"p{step}", {}, [Completion("a", 1, False, 1.0, 0.0, [(1.0, "ok")])] * 2)

    again = made_run("again", 6, functions=("ones",), groups=1, make_group=only, resumed_at=4)
    shown = groups.show_group({"run": again, "group": ids(again, 6)[0]})
    said = "and 1 time in a step that a later attempt trained again"
    assert "seen once" in shown["html"] and said in shown["html"] and "Then and now" in shown["html"]
    found = same_prompt.prompt_history({"run": again, "prompt": shown["prompt"]})
    assert found["told"] == f"Seen once, at step 6, {said}."
    assert (found["then"], found["now"]) == (overwritten(again, 6), ids(again, 6)[0])


def test_any_two_times_are_compared_also_one_that_was_trained_over(run_id: str):
    over = overwritten(run_id, 6)
    prompt = groups.show_group({"run": run_id, "group": over})["prompt"]
    found = same_prompt.prompt_history({"run": run_id, "prompt": prompt, "then": over})
    assert found["then"] == over and "step 6 of attempt 1, trained again later" in found["html"]
    of_another = ids(run_id, 3)[1]
    assert same_prompt.prompt_history({"run": run_id, "prompt": prompt, "then": of_another})["then"] != of_another
    assert "no such prompt" in same_prompt.prompt_history({"run": run_id, "prompt": 99})["sentence"]


def test_a_prompt_that_comes_all_the_time_is_thinned_from_first_to_last(registry_home: object):
    path = paths.run_folder(made_run("often", 61, groups=1, size=2, prompts=1)).db
    found = times(path, 1, most=10)
    assert found is not None
    steps = [time["step"] for time in found["times"]]
    assert (steps[0], steps[-1]) == (1, 61) and 10 <= len(steps) <= 12
    assert same_prompt.history_in_words(found).startswith(
        f"Seen 61 times, from step 1 to step 61. {len(steps)} of them are shown."
    )
    one = record.read_group(path, 61)
    assert one is not None and (one["times"], len(one["history"])) == (61, record.HISTORY)


def test_what_is_not_finite_comes_as_json(run_id: str):
    def odd(step: int, n: int) -> Group:
        scores: list[tuple[float | None, str]] = [(float("inf"), "ok"), (None, "error")]
        return Group("train", step, "?", {}, [Completion("x", 1, False, r, 0.0, scores) for r in (float("inf"), None)])

    odd_run = made_run("odd", 2, groups=1, make_group=odd, metrics=lambda step: {"loss": 0.1})
    found = same_prompt.prompt_history({"run": odd_run, "prompt": 1})
    json.dumps(
        [found, groups.groups_at_step({"run": odd_run}), groups.show_group({"run": odd_run, "group": 1})],
        allow_nan=False,
    )
    assert "sentence" not in found


def test_stars_and_notes_are_kept_and_shown(run_id: str):
    group = ids(run_id, 2)[0]
    asked = {"run": run_id, "group": group, "idx": 1}
    assert stars.annotate_completion({**asked, "star": True})["starred"] is True
    told = stars.annotate_completion({**asked, "words": f"  {HOSTILE}  "})
    assert told["words"] == HOSTILE and "<img" not in told["html"] and "\u202e" not in told["html"]
    html = groups.show_group({"run": run_id, "group": group})["html"]
    assert html.count('aria-pressed="true"') == 1 and "&lt;img src=x" in html and "<img" not in html
    assert [line["starred"] for line in groups.groups_at_step({"run": run_id, "step": 2})["groups"]] == [
        True,
        False,
        False,
    ]
    stars.annotate_completion({**asked, "star": False})
    assert stars.annotate_completion({**asked, "words": ""}) == {"starred": False, "words": "", "html": ""}
    assert notes.of_run(run_id) == []


@pytest.mark.parametrize("odd", [{"group": 999}, {"idx": 99}, {"idx": -1}, {"idx": "0"}, {"group": None}])
def test_only_a_completion_that_is_there_is_starred(run_id: str, odd: dict[str, Any]):
    answer = stars.annotate_completion({"run": run_id, "group": 1, "idx": 0, "star": True} | odd)
    assert "no such completion" in answer["sentence"] and notes.of_run(run_id) == []


def test_a_locked_registry_is_said(run_id: str, monkeypatch: pytest.MonkeyPatch):
    opened = db.open_writer
    monkeypatch.setattr(db, "open_writer", lambda *args, **options: opened(*args, **{**options, "patience": 0.05}))
    other = sqlite3.connect(paths.registry_path(), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        answer = stars.annotate_completion({"run": run_id, "group": 1, "idx": 0, "star": True})
    finally:
        other.close()
    assert "could not be saved" in answer["sentence"] and notes.of_run(run_id) == []


def test_a_record_of_before_there_was_search_is_read(run_id: str):
    old = paths.run_folder(f"{run_id}-old")
    shutil.copytree(paths.run_folder(run_id).path, old.path)
    writer = sqlite3.connect(old.db)
    writer.executescript("DROP TABLE extra; DROP TABLE completion_text; DROP INDEX completion_by_reward;")
    writer.close()
    repair.adopt_folders()
    assert "Tied, none right" in groups.show_group({"run": old.id, "group": ids(old.id, 2)[2]})["html"]
    assert len(same_prompt.prompt_history({"run": old.id, "prompt": 1})["times"]) == 20
