"""A try of reward functions: scores, totals, advantages, ties, agreement, loopholes, and every failure in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.library.rewards.builder import Block, to_code
from groupwise.storage.registry import progress, questions, registry
from groupwise.storage.registry.messages.facts import TrustRewardCode
from groupwise.storage.registry.messages.score import ScoreQuestion
from groupwise.storage.registry.questions import COMPLETIONS, SCORE
from groupwise.worker.builtin import shipped
from groupwise.worker.questions.workbench import calling
from groupwise.worker.questions.workbench.score import answer_score
from tests.support.workbench import READS, SPEC, answered, end_warm_hosts, group, own

SHOUTS = """
import re

def helper(text):
    return re.sub("a", "b", text)

def shouts(completions, answer, *, loud: float = 2.0, **kwargs):
    print("scoring", len(completions))
    kwargs["log_extra"]("helped", [helper(c[-1]["content"]) for c in completions])
    kwargs["log_metric"]("rows", len(completions))
    return [loud if c[-1]["content"] == a else 0.0 for c, a in zip(completions, answer)]
"""
LATE = """
import asyncio

async def late(prompts, completions, completion_ids, trainer_state, **kwargs):
    await asyncio.sleep(0)
    return [len(ids) + trainer_state.global_step for ids in completion_ids]
"""
LAZY = "def lazy(completions, **kwargs):\n    return [0.5 for _ in completions]\n"


@pytest.fixture(autouse=True)
def prepared(registry_home: Path) -> Iterator[None]:
    yield
    end_warm_hosts()


def ask(functions: list[dict[str, Any]], groups: list[dict[str, Any]], **payload: Any) -> dict[str, Any]:
    return answered(SCORE, {"functions": functions, "groups": groups, **payload})


def test_scores_totals_and_advantages_stand_beside_each_completion() -> None:
    shouts = own(SHOUTS, parameters={"loud": 3.0}, weight=0.5)
    found = ask([shouts, own(READS)], [group("2", "0", "4"), group("1", "none", answer="9")])
    first, second = (one["completions"] for one in found["groups"])
    assert first[0]["scores"] == {
        "shouts": {"value": 3.0, "status": "ok"}, "reads": {"value": 2.0, "status": "ok"},
    }  # fmt: skip
    assert [one["total"] for one in first] == [3.5, 0.0, 4.0]
    assert second[1]["scores"]["reads"] == {"value": None, "status": "none"} and second[1]["total"] == 0.0
    assert sum(one["advantage"] for one in first) == pytest.approx(0)
    assert first[2]["advantage"] == pytest.approx((4 - 2.5) / (2.179449 + 1e-4), rel=1e-5)
    none = ask([shouts, own(READS)], [group("2", "0", "4")], scale_rewards="none")
    assert none["groups"][0]["completions"][2]["advantage"] == pytest.approx(1.5)
    assert "ids" not in first[0]


@pytest.mark.parametrize(
    ("last", "words"),
    [
        ({"name": "length"}, "Scoring 12 completions with length (2 of 2 functions)."),
        (own("def unseen(completions, **kwargs):\n    return [0.5 for _ in completions]\n"),
         "Reading the code of unseen (at most 60 s), then scoring 12 completions with it (2 of 2 functions)."),
        (own("def score_each_block(completions, **kwargs):\n    return [0.5 for _ in completions]\n"),
         "Scoring the rows…"),
    ],
)  # fmt: skip
def test_what_is_scored_and_how_much_of_it_is_said_meanwhile(last: dict[str, Any], words: str) -> None:
    asked = {"functions": [own(LAZY), last], "groups": [group(*["1"] * 12)]}
    question = ScoreQuestion.from_plain(asked)
    number = questions.ask_question(question)
    progress.about(number)
    try:
        answer_score(question)
    finally:
        progress.about(None)
    found = questions.get_question(number)
    assert found and found.progress
    assert found.progress["sentence"] == words


def test_each_function_is_summed_up() -> None:
    found = ask([own(SHOUTS), own(READS)], [group("2", "0"), group("none", "6")])
    shouts, reads = found["functions"]
    assert shouts["out"] == "scoring 4\n" and shouts["metrics"] == {"rows": 4.0}
    assert shouts["extras"] == {"helped": ["2", "0", "none", "6"]}
    assert (reads["mean"], reads["none"], reads["errors"]) == (pytest.approx(8 / 3), 1, 0)
    assert sum(reads["histogram"]["counts"]) == 3
    assert (reads["histogram"]["edges"][0], reads["histogram"]["edges"][-1]) == (0.0, 6.0)
    assert all(0 < one["seconds"] < 60 for one in (shouts, reads))


def test_the_time_of_a_function_is_that_of_its_call_beside_its_timeout() -> None:
    """Reading its code is no part of it: that has a limit of its own."""
    slow = "import time\n\ntime.sleep(2)\n\n\ndef slow(completions, **kwargs):\n    return [0.0 for _ in completions]\n"
    [told] = ask([own(slow)], [group("2")])["functions"]
    assert told["errors"] == 0 and 0 < told["seconds"] < 1.5
    [unread] = ask([own("import nothing_like_it\n\ndef unread(completions): pass\n")], [group("2")])["functions"]
    assert unread["errors"] == 1 and unread["seconds"] == 0


def test_a_function_gets_all_that_trl_gives() -> None:
    found = ask([own(LATE), {"name": "length"}, {"name": "correctness"}], [group("abc", "2")])
    assert [one["scores"]["late"]["value"] for one in found["groups"][0]["completions"]] == [3.0, 1.0]
    assert [one["scores"]["length"]["value"] for one in found["groups"][0]["completions"]] == [1.0, 1.0]
    assert [one["scores"]["correctness"]["value"] for one in found["groups"][0]["completions"]] == [0.0, 1.0]


def test_plain_prompts_bring_plain_completions() -> None:
    code = "def kind(prompts, completions, **rest):\n    return [len(p + c) for p, c in zip(prompts, completions)]\n"
    found = ask([own(code)], [group("abc", prompt="1+1?")])
    assert found["groups"][0]["completions"][0]["total"] == 7.0


def test_what_ships_and_a_copy_of_it_score_alike() -> None:
    groups = answered(COMPLETIONS, {"spec": SPEC, "from": "probes", "rows": 3})["groups"]
    code = (shipped.REWARDS / "correctness.py").read_text().replace("def correctness(", "def copied(")
    found = ask([{"name": "correctness"}, {"name": "copied", "code": code}], groups)
    for one in (one for each in found["groups"] for one in each["completions"]):
        assert one["scores"]["correctness"] == one["scores"]["copied"]


def test_answers_that_are_all_wrong_alike_have_failed_and_are_not_at_the_top() -> None:
    """As it was seen: the length was right, the number was not, 0.50 of 1.00 for each of eight, “all at top score”."""
    blocks = [Block("number_equals"), Block("length_between")]
    mine = {"name": "mine", "code": to_code("mine", blocks, "")}
    wrong = [group("5", "5", answer="4"), group("7", "7", answer="4")]
    found = ask([mine], wrong)
    assert found["ties"]["all_low"] == 2 and [one["tie"] for one in found["groups"]] == ["all_low"] * 2
    assert found["sentences"][0] == "No group has a learning signal: 2 all at lowest score."
    assert ask([mine], [group("4", "4", answer="4")])["sentences"][0].endswith(": 1 all at top score.")
    form = {"name": "form", "code": to_code("form", [Block("length_between"), Block("valid_json")], "")}
    assert ask([form], [group("a b", "c d")])["sentences"][0].endswith(": 1 tied otherwise."), "it tells nothing right"
    assert ask([own(READS)], wrong)["highest"] == "all at top score: 7.00, the highest seen"


def test_groups_that_teach_nothing_are_told_apart() -> None:
    found = ask([own(READS)], [group("0", "0"), group("2", "2"), group("0", "2"), group("1", "1"), group("none", "1")])
    assert [one["tie"] for one in found["groups"]] == ["all_low", "all_high", None, "other", "unscored"]
    assert found["ties"] == {
        "groups": 5, "tied": 3, "all_low": 1, "all_high": 1, "other": 1, "unscored": 1, "bearing": 1,
    }  # fmt: skip
    assert found["sentences"][0].startswith("1 of 5 groups (20\u202f%) has a learning signal.")


def test_what_failed_is_said_before_what_the_others_teach() -> None:
    fails = "def fails(completions, **kwargs):\n    return [missing for _ in completions]\n"
    found = ask([own(fails), own(READS)], [group("0", "2")])
    assert found["sentences"][:2] == [
        "fails gave both completions no score: it failed there.",
        "The one group has a learning signal: it has better and worse completions.",
    ]


def test_domination_and_agreement_are_said() -> None:
    same = "def same(completions, **kwargs):\n    return [float(c[-1]['content']) / 50 for c in completions]\n"
    found = ask([own(READS), own(same)], [group("1", "7"), group("4", "2")])
    assert found["agreement"]["names"] == ["reads", "same"]
    assert found["agreement"]["correlation"][0][1] == pytest.approx(1)
    assert found["agreement"]["variance_share"]["reads"] == pytest.approx(50 / 51)
    said = " ".join(found["sentences"])
    assert "reads decides nearly alone" in said and "reads and same score nearly the same" in said


def test_a_probe_that_scores_high_is_named() -> None:
    groups = answered(COMPLETIONS, {"spec": SPEC, "from": "probes", "rows": 3})["groups"]
    found = ask([{"name": "correctness"}, own(LAZY)], groups)
    listed = {(one["probe"], one["function"]): one for one in found["loopholes"]}
    assert listed["empty", "lazy"]["sentence"].startswith("An empty answer earns 0.5 from lazy")
    assert listed["empty", "lazy"]["score"] == 0.5 and ("empty", "correctness") not in listed
    assert ("empty", None) not in listed  # 0.5 of 1.5 in total
    assert listed["empty", "lazy"]["sentence"] in found["sentences"]
    assert found["ties"]["groups"] == 0  # probes were never written together


def test_a_wrong_answer_that_earns_half_of_everything_is_named() -> None:
    groups = answered(COMPLETIONS, {"spec": SPEC, "from": "probes", "rows": 2})["groups"]
    both = [{"name": "format"}, {"name": "correctness"}]
    assert [(one["probe"], one["function"]) for one in ask(both, groups)["loopholes"]] == [("wrong_answer", None)]
    both[1]["weight"] = 3.0  # type: ignore[assignment]
    assert ask(both, groups)["loopholes"] == []


def test_a_right_answer_that_earns_more_without_its_format_is_told() -> None:
    """“It should earn the most” stood beside 0.67, “some of it is fair” beside 1, and above both that all is well."""
    few = (
        "def few(completions, **kwargs):\n    return [float(len(c[-1]['content'].split()) <= 4) for c in completions]\n"
    )
    groups = answered(COMPLETIONS, {"spec": SPEC, "from": "probes", "rows": 2})["groups"]
    listed = ask([{"name": "correctness"}, own(few)], groups)["loopholes"]
    (told,) = [one for one in listed if one["function"] is None and one["kind"] == "missed"]
    said = "The right answer alone earns 2 in total, the right answer in the right format only 1."
    assert told["sentence"] == said
    assert ask([{"name": "correctness"}], groups)["loopholes"] == [], "as much is not more"


def test_what_pays_by_the_character_has_loopholes_though_a_long_answer_earns_far_more() -> None:
    wordy = "def wordy(completions, **kwargs):\n    return [float(len(c[-1]['content'])) for c in completions]\n"
    groups = answered(COMPLETIONS, {"spec": {**SPEC, "training": {}}, "from": "probes", "rows": 1})["groups"]
    said = {one["probe"]: one["sentence"] for one in ask([own(wordy)], groups)["loopholes"]}
    assert {"whitespace", "repetition", "tag_stuffing"} <= set(said) and "empty" not in said
    assert said["whitespace"].startswith("Nothing but whitespace earns 100 from wordy: the right answer earns ")


def test_a_right_answer_that_earns_nothing_is_said() -> None:
    never = (
        "def never(completions, **kwargs):\n    return [1.0 if c[-1]['content'] == '!' else 0.0 for c in completions]\n"
    )
    groups = answered(COMPLETIONS, {"spec": SPEC, "from": "probes", "rows": 1})["groups"]
    found = ask([own(never)], [*groups, group("!", "2")])
    assert [(one["probe"], one["kind"]) for one in found["loopholes"]] == [("correct", "missed")]
    assert found["loopholes"][0]["sentence"] == "The right answer in the right format earns nothing from never."
    assert found["functions"][0]["mean"] == 0.5 and found["ties"]["groups"] == 1  # probes are left out


def test_what_gives_every_probe_the_same_nothing_tells_nothing_apart() -> None:
    zero = "def zero(completions, **kwargs):\n    return [0.0 for _ in completions]\n"
    groups = answered(COMPLETIONS, {"spec": SPEC, "from": "probes", "rows": 1})["groups"]
    found = ask([own(zero)], groups)
    assert [one["kind"] for one in found["loopholes"]] == ["blind"]
    assert found["loopholes"][0]["sentence"] == (
        "All 10 probes earn 0, the right answer as well: either all completions earn the same, and training would "
        "learn nothing from it, or it needs a format that the probes do not have."
    )
    minds = "def minds(completions, **kwargs):\n    return [-float(not c[-1]['content']) for c in completions]\n"
    assert ask([own(minds)], groups)["loopholes"] == []  # a penalty


def test_one_row_that_fails_is_named_and_the_others_score() -> None:
    code = """
def f(completions, **kwargs):
    return [1 / float(c[-1]["content"]) if c[-1]["content"] != "nan" else float("nan") for c in completions]
"""
    found = ask([own(code)], [group("1", "2"), group("0", "nan")])
    (function,) = found["functions"]
    assert function["errors"] == 2 and function["mean"] == pytest.approx(0.75)
    by_index = {(one["group"], one["index"]): one for one in function["failures"]}
    assert "ZeroDivisionError" in by_index[1, 0]["message"] and by_index[1, 0]["line"] == 3
    assert by_index[1, 0]["traceback"] and "finite number" in by_index[1, 1]["message"]
    assert found["groups"][1]["tie"] == "unscored"


def test_a_failure_counts_all_completions_that_it_left_without_a_score() -> None:
    """Of 64 that failed alike 40 were told of, beside “64 errors”."""
    bad = "def bad(completions, **kwargs):\n    return [int('x') for c in completions]\n"
    (function,) = ask([own(bad)], [group(*"abcdefgh") for _ in range(8)])["functions"]
    assert [(one["count"], one["line"]) for one in function["failures"]] == [(64, 2)] and function["errors"] == 64


def test_the_sandbox_stays_from_one_question_to_the_next() -> None:
    code = """
calls = 0
def f(completions, **kwargs):
    global calls
    calls += 1
    return [calls] * len(completions)
"""
    totals = [ask([own(code)], [group("a")])["groups"][0]["completions"][0]["total"] for _ in range(3)]
    assert totals == [1.0, 2.0, 3.0]
    assert len(calling._warm) == 1
    ask([own(code + "# edited\n")], [group("a")])
    assert len(calling._warm) == 2
    for number in range(calling.KEPT + 2):
        ask([own(f"{code}# {number}\n")], [group("a")])
    assert len(calling._warm) == calling.KEPT


def test_code_runs_in_this_process_only_where_the_worker_was_started_to_trust_it() -> None:
    code = "import os\ndef f(completions, **kwargs):\n    return [float(os.getpid())] * len(completions)\n"
    import os

    assert ask([own(code)], [group("a")])["groups"][0]["completions"][0]["total"] != os.getpid()
    registry.publish_fact(TrustRewardCode(trusted=True))
    assert ask([own(code)], [group("a")])["groups"][0]["completions"][0]["total"] == os.getpid()
    assert "cannot be loaded" in ask([own("import nosuch\ndef f(): pass\n")], [group("a")])["error"]


GOOD = [group("a")]


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        ({}, "functions"), ({"functions": 7}, "functions"), ({"functions": []}, "functions"),
        ({"functions": ["format"]}, "functions"), ({"functions": [{"name": 7}]}, "functions.0.name"),
        ({"functions": [{"name": "formt"}], "groups": GOOD}, "functions.0.name"),
        ({"functions": [{"name": "x y", "code": ""}]}, "functions.0.name"),
        ({"functions": [{"name": "f", "code": 7}]}, "functions.0.code"),
        ({"functions": [{"name": "f", "code": "#" * 70_000}]}, "functions.0.code"),
        ({"functions": [{"name": "format", "parameters": [1]}]}, "functions.0.parameters"),
        ({"functions": [{"name": "format", "weight": "1"}]}, "functions.0.weight"),
        ({"functions": [{"name": "format", "timeout": 0}]}, "functions.0.timeout"),
        ({"functions": [{"name": "format", "timeout": True}]}, "functions.0.timeout"),
        ({"functions": [{"name": "format"}, {"name": "format"}]}, "functions"),
        ({"functions": [{"name": "format"}]}, "groups"),
        ({"functions": [{"name": "format"}], "groups": []}, "groups"),
        ({"functions": [{"name": "format"}], "groups": [7]}, "groups.0"),
        ({"functions": [{"name": "format"}], "groups": [{"prompt": 7}]}, "groups.0.prompt"),
        ({"functions": [{"name": "format"}], "groups": [{"prompt": ""}]}, "groups.0.completions"),
        ({"functions": [{"name": "format"}], "groups": [{"prompt": "", "completions": [{"text": 1}]}]},
         "groups.0.completions.0.text"),
        ({"functions": [{"name": "format"}], "groups": [{**group("a"), "columns": [1]}]}, "groups.0.columns"),
        ({"functions": [{"name": "format"}], "groups": [group(*"abcdefgh")] * 257}, "groups"),
        ({"functions": [{"name": "format"}], "groups": GOOD, "scale_rewards": "rank"}, "scale_rewards"),
        ({"functions": [{"name": "format"}], "groups": GOOD, "columns": "answer"}, "columns"),
        ({"functions": [{"name": "format"}], "groups": GOOD, "multi_objective_aggregation": "x"}, "multi_objective"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_said_at_its_field(payload: dict[str, Any], field: str) -> None:
    found = answered(SCORE, payload)
    assert found["error"].strip() and found["field"].startswith(field)


def test_a_weight_that_is_no_number_is_refused() -> None:
    from groupwise.worker.questions import server

    found = server.answer_question(SCORE, {"functions": [{"name": "format", "weight": float("nan")}], "groups": GOOD})
    assert found["field"] == "functions.0.weight"


@pytest.mark.parametrize(
    ("code", "seen"),
    [
        ("def f(completions, answer, *, k=1, **kwargs):\n    return []\n", {"completions", "answer", "k"}),
        ("def f(completions, **kwargs):\n    return kwargs['answer']\n", None),
        ("def f(completions, **kwargs):\n    return locals()\n", None),
        ("import x\n@x.y\ndef f(completions, **kwargs):\n    return []\n", None),
        ("def f(", None),
        ("f = lambda completions, **kwargs: []\n", None),
    ],
)
def test_only_what_a_function_can_see_is_sent_to_it(code: str, seen: set[str] | None) -> None:
    assert calling.visible_arguments(code, "f") == seen


HINT = 'A completion is a list of messages here: its text is completion[-1]["content"].'


@pytest.mark.parametrize(
    ("body", "is_said"),
    [
        ("[len(c) / 10 for c in completions]", True),
        ("[c.count('a') / 10 for c in completions]", True),
        ("[float('4' in c) for c in completions]", True),
        ("[0.5 for c in completions]", False),  # of what it does not look at nothing is known
        ("[0.5 * (len(c[0]['content']) > 0) for c in completions]", False),
    ],
)
def test_a_function_that_takes_messages_for_text_is_told_where_the_text_is(body: str, is_said: bool) -> None:
    function = own(f"def tells(completions, **kwargs):\n    return {body}\n")
    said = ask([function], [group("2", "044", "4aa")])["sentences"]
    assert any("tells does not tell these completions apart" in one for one in said)
    assert any(HINT in one for one in said) is is_said
    text = {**group("2", "044", "4aa"), "prompt": "What is 2 + 2?"}
    assert not any(HINT in one for one in ask([function], [text])["sentences"])
