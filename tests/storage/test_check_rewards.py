"""What is wrong with a spec's reward functions, said at the field, with a click that mends it; also in stages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.checks.check import examine_spec
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.rewards import library
from groupwise.storage.registry import registry, tried
from groupwise.storage.registry.messages.facts import Sandbox, TrustRewardCode
from groupwise.storage.registry.tried import FailedTry
from groupwise.storage.spec.spec import from_dict, line_numbers, parse_spec
from groupwise.storage.spec.words.problem import ADVICE, BLOCKING, WARNING
from tests.support.offered_rewards import HASH, MINE, OFFERED, OLD, OWN, after_a_click, problems

CASES: list[tuple[dict[str, Any], str, str]] = [
    ({"name": "fromat"}, "rewards.0.name", "Did you mean “format”?"),
    ({"name": "zzz"}, "rewards.0.name", "Write it under Rewards."),
    ({"name": "keywords"}, "rewards.0.parameters.words", "cannot score without words or forbidden"),
    ({"name": "reward_model"}, "rewards.0.parameters.models", "cannot score without models"),
    (
        {"name": "llm_judge", "parameters": {"base_url": "http://localhost:1/v1"}},
        "rewards.0.parameters.model",
        "cannot score without model",
    ),
    ({"name": "gone"}, "rewards.0.name", "Its last saved version can still be used."),
    ({"name": "mine", "version": "abcdef"}, "rewards.0.version", "no version abcdef of “mine”"),
    ({"name": "mine", "version": OLD[:8]}, "rewards.0.version", "no version 01234567 of “mine”"),
    ({"name": "format", "parameters": {"tag": ["a"]}}, "rewards.0.parameters.tag", "Did you mean “tags”?"),
    ({"name": "format", "parameters": {"x.y": 1}}, "rewards.0.parameters.x.y", "It has tags, strict, after_penalty."),
    ({"name": "gym_score", "parameters": {"x": 1}}, "rewards.0.parameters.x", "It has none."),
    ({"name": "format", "parameters": {"strict": "no"}}, "rewards.0.parameters.strict", "should be true or false"),
    ({"name": "format", "parameters": {"after_penalty": "0.1"}}, "rewards.0.parameters.after_penalty", "quotes"),
    ({"name": "length", "parameters": {"mode": "short"}}, "rewards.0.parameters.mode", "Did you mean “shorter”?"),
    ({"name": "mine", "parameters": {"most": 1.5}}, "rewards.0.parameters.most", "should be a whole number, not 1.5."),
    (
        {"name": "format", "schedule": [{"step": 9, "weight": 1.0}, {"step": 1, "weight": 0.0}]},
        "rewards.0.schedule",
        "ascending order",
    ),
    (
        {"name": "format", "schedule": [{"step": 9, "weight": 1.0}, {"step": 9, "weight": 0.0}]},
        "rewards.0.schedule",
        "each step once",
    ),
    (
        {"name": "format", "schedule": [{"step": 9, "weight": 1.0}], "adapt": {}},
        "rewards.0.adapt",
        "cannot be given together with a schedule",
    ),
    ({"name": "format", "adapt": {"low": 0.9}}, "rewards.0.adapt.low", "should be below high (0.8)"),
    ({"name": "format", "adapt": {"up": 0.5}}, "rewards.0.adapt.up", "at least 1"),
    ({"name": "format", "adapt": {"down": 1.5}}, "rewards.0.adapt.down", "at most 1"),
    ({"name": "format", "adapt": {"least": 20.0}, "weight": 20.0}, "rewards.0.adapt.least", "not be above most (10)"),
    (
        {"name": "format", "adapt": {}, "weight": 0.05},
        "rewards.0.weight",
        "within the bounds of its changes, 0.1 to 10",
    ),
]


@pytest.mark.parametrize(("reward", "field", "words"), CASES, ids=[f"{c[1]}-{c[2][:20]}" for c in CASES])
def test_each_problem_is_said_at_its_field_and_any_of_its_fixes_mends_it(
    reward: dict[str, Any], field: str, words: str
):
    data = {"source": "gym:chain_sum"} if reward["name"] == "gym_score" else {"source": "hub:org/rows"}
    raw = {"name": "a", "rewards": [reward], "data": data}
    [problem] = [one for one in problems(reward, data=data) if one.level == BLOCKING]
    assert problem.field == field and words in problem.message
    assert problem.fixes
    if reward["name"] == "zzz":  # of the only one nobody knows what is meant by it: no other takes its place
        assert [(fix.label, fix.settings) for fix in problem.fixes] == [("Write it in Rewards", {})]
        return
    for number in range(len(problem.fixes)):
        mended = after_a_click(raw, problem, number)
        assert [one for one in examine_spec(from_dict(mended), OFFERED) if one.level == BLOCKING] == [], problem.fixes[
            number
        ]


def test_an_argument_before_a_star_is_said_to_be_no_parameter():
    code = "def mine(completions, most=20, **kwargs):\n    return [most for _ in completions]\n"
    about = {**OFFERED.rewards["mine"], "code": code, "parameters": [], "arguments": ["completions"]}
    offered = replace(OFFERED, rewards={**OFFERED.rewards, "mine": about})
    [problem] = problems({"name": "mine", "parameters": {"most": 5}}, offered=offered)
    assert problem.message == (
        "“mine” has no parameter “most”. It has an argument of this name, but only those after a * are parameters. "
        "Under Rewards, write def mine(completions, *, most=20, **kwargs)."
    )


def test_a_reward_that_is_said_well_has_no_problem():
    good = [
        {"name": "format", "parameters": {"tags": ["plan", "answer"], "strict": False}, "timeout": 0.5},
        {"name": "length", "schedule": [{"step": 0, "weight": 1.0}, {"step": 10, "weight": -1.0}]},
        {"name": "correctness", "weight": 2.0, "adapt": {"every": 5}},
        {"name": "mine", "version": HASH, "parameters": {"most": 5}},
        {"name": "gone", "version": OLD},
    ]
    assert problems(*good, data={"source": "hub:org/rows"}) == []


@pytest.mark.parametrize(("theirs", "settings"), [
    ("accuracy_reward", {"rewards.0.name": "math_equivalence"}),
    ("tag_count_reward", {"rewards.0.name": "format",
                          "rewards.0.parameters": {"strict": False, "after_penalty": 0.0}}),
])  # fmt: skip
def test_a_function_of_trl_or_open_r1_is_answered_with_the_built_in_that_does_the_same(
    theirs: str, settings: dict[str, Any]
):
    about = OFFERED.rewards["correctness"]
    offered = replace(OFFERED, rewards={**OFFERED.rewards, "math_equivalence": about})
    [problem] = problems({"name": theirs}, offered=offered)
    name = settings["rewards.0.name"]
    whose = "TRL" if theirs == "accuracy_reward" else "open-r1"
    assert f"If it is {whose}’s, the built-in “{name}” does the same." in problem.message
    assert problem.fixes[0].settings == settings


def test_a_function_that_may_be_ones_own_is_to_be_written_first():
    offered = replace(OFFERED, rewards={**OFFERED.rewards, "math_equivalence": OFFERED.rewards["correctness"]})
    [problem] = problems({"name": "accuracy"}, {"name": "format"}, offered=offered)
    assert "If it is your own, paste its code under Rewards." in problem.message
    assert [fix.label for fix in problem.fixes] == ["Write it in Rewards", "Use math_equivalence", "Remove it"]
    assert problem.fixes[0].leads and problem.fixes[0].page == "/rewards?new=1"


def test_a_function_that_says_the_opposite_is_not_offered():
    offered = replace(OFFERED, rewards={**OFFERED.rewards, "short_good": OFFERED.rewards["correctness"]})
    [problem] = problems({"name": "long_good"}, offered=offered)
    assert "Did you mean" not in problem.message and "Use short_good" not in {fix.label for fix in problem.fixes}
    [problem] = problems({"name": "shrt_good"}, offered=offered)
    assert "Did you mean “short_good”?" in problem.message


def test_the_line_is_that_of_the_setting():
    text = "name: a\nrewards:\n- name: format\n  parameters:\n    strict: true\n    tag: [a]\n"
    [problem] = examine_spec(parse_spec(text), OFFERED, line_numbers(text))
    assert (problem.line, problem.fixes[0].label) == (6, "Rename it to tags")


def test_what_does_not_fit_the_run_but_works_is_a_warning():
    late = {"name": "format", "schedule": [{"step": 500, "weight": 1.0}]}
    [problem] = problems(late, training={"max_steps": 60})
    assert (problem.level, problem.field) == (WARNING, "rewards.0.schedule") and "only 60 steps" in problem.message
    [problem] = problems({"name": "format", "version": HASH})
    assert (problem.level, problem.field) == (WARNING, "rewards.0.version")


@pytest.mark.parametrize(("weight", "words"), [(0.0, "only recorded"), (-1.0, "trains away from what “length”")])
def test_a_weight_that_no_one_may_have_meant_is_advised_on(weight: float, words: str):
    """With no button against a weight of 0: the diagnostics propose that."""
    rewards = [{"name": "format"}, {"name": "length", "weight": weight}]
    [problem] = examine_spec(from_dict({"name": "a", "rewards": rewards}), OFFERED)
    assert (problem.level, problem.field) == (ADVICE, "rewards.1.weight") and words in problem.message
    assert [fix.settings for fix in problem.fixes] == ([{"rewards.1.weight": 1.0}] if weight else [])
    rewards[1]["schedule"] = [{"step": 9, "weight": 1.0}]
    assert examine_spec(from_dict({"name": "a", "rewards": rewards}), OFFERED) == []


NONE = {"name": "none", "label": "no sandbox", "sentence": "Install bubblewrap."}


def test_own_code_runs_in_a_sandbox_or_where_it_is_trusted_or_not_at_all():
    rows = {"source": "hub:org/rows"}
    [problem] = problems(MINE, offered=replace(OFFERED, sandbox=NONE), data=rows)
    assert (problem.level, problem.field) == (BLOCKING, "rewards.0.name") and "Install bubblewrap." in problem.message
    mended = after_a_click({"name": "a", "rewards": [MINE], "data": rows}, problem)
    assert examine_spec(from_dict(mended), replace(OFFERED, sandbox=NONE)) == []
    [problem] = problems(MINE, offered=replace(OFFERED, sandbox=NONE, trusted=True), data=rows)
    assert problem.level == ADVICE and "--trust-reward-code" in problem.message
    assert problems(MINE, offered=replace(OFFERED, sandbox={"name": "landlock"}), data=rows) == []
    assert problems({"name": "format"}, offered=replace(OFFERED, sandbox=NONE)) == []


def test_packages_that_are_missing_are_said():
    [problem] = problems({"name": "math_equivalence"}, offered=replace(OFFERED, extras={}))
    assert "needs math_verify" in problem.message


def test_what_runs_the_models_code_needs_a_sandbox():
    tests = {"name": "code_tests", "parameters": {"column": "question"}}
    [problem] = problems(tests, offered=replace(OFFERED, sandbox=NONE))
    assert (problem.level, problem.field) == (BLOCKING, "rewards.0.name") and "Install bubblewrap." in problem.message
    assert "runs what the model writes" in problem.message
    [problem] = problems(tests, offered=replace(OFFERED, sandbox=NONE, trusted=True))
    assert problem.level == BLOCKING  # whatever is trusted, the model is not
    assert problems(tests) == [] == problems(tests, offered=replace(OFFERED, sandbox={"name": "landlock"}))


def test_what_speaks_to_the_network_says_to_whom():
    [problem] = problems({"name": "llm_judge", "parameters": {"base_url": "http://judge.example/v1", "model": "m"}})
    assert problem.level == WARNING and "http://judge.example/v1" in problem.message


def test_stages_are_checked_alike_and_mended_where_it_is_written():
    wrong = {"name": "format", "parameters": {"tag": ["a"]}}
    raw = {"name": "a", "rewards": [{"name": "format"}], "stages": [{"rewards": [wrong]}, {}]}
    [problem] = examine_spec(from_dict(raw), OFFERED)
    assert problem.field == "stages.0.rewards.0.parameters.tag"
    assert from_dict(after_a_click(raw, problem)).stages[0].rewards[0].parameters == {"tags": ["a"]}  # type: ignore[index]
    raw = {"name": "a", "rewards": [wrong], "stages": [{}, {}]}
    assert [one.field for one in examine_spec(from_dict(raw), OFFERED)] == ["rewards.0.parameters.tag"]


def test_a_function_that_is_meant_and_listed_is_said_to_be():
    raw = {"name": "a", "rewards": [{"name": "format"}, {"name": "formatt"}]}
    [problem] = examine_spec(from_dict(raw), OFFERED)
    assert problem.message.endswith("Did you mean “format”? It is listed already.")
    assert [fix.label for fix in problem.fixes] == ["Remove it"]


@pytest.mark.parametrize(("reward", "launch", "tried", "words"), [
    (MINE, {}, FailedTry(3, 8, "ZeroDivisionError: division by zero"),
     "“mine” failed on 3 of 8 completions when it was last tried: “ZeroDivisionError: division by zero”. "
     "A completion that it fails on gets no score from it. Edit it under Rewards."),
    ({**MINE, "version": HASH}, {}, FailedTry(1, 1, ""),
     "“mine” failed on the only completion when it was last tried. "
     "A run in which it fails in 5 calls in a row fails. Edit it under Rewards."),
    (MINE, {"reward_failures": 0}, FailedTry(4, 4, "KeyError: 'level'"),
     "“mine” failed on all 4 completions when it was last tried: “KeyError: 'level'”. "
     "A completion that it fails on gets no score from it. Edit it under Rewards."),
    ({**MINE, "version": OLD}, {}, FailedTry(3, 8, "KeyError: 'level'"), ""),
])  # fmt: skip
def test_a_function_that_failed_when_it_was_tried_is_a_warning_in_that_version_alone(
    reward: dict[str, Any], launch: dict[str, Any], tried: FailedTry, words: str
):
    offered = replace(OFFERED, failed_tries={("mine", HASH): tried, ("format", ""): tried})
    listed = [{"name": "format"}, reward]
    found = problems(*listed, offered=offered, data={"source": "hub:org/rows"}, launch=launch)
    said = [("rewards.1.name", WARNING, words)] if words else []
    assert [(one.field, one.level, one.message) for one in found] == said


def test_a_function_whose_code_gives_all_the_same_is_a_warning_also_beside_others() -> None:
    """As it was seen: the builder said so, and beside format and correctness there were “No problems found”."""
    code = "def mine(completions, **kwargs):\n    return [0.0] * len(completions)\n"
    mine = {**OFFERED.rewards["mine"], "code": code, "arguments": ["completions"]}
    constant = replace(OFFERED, rewards={**OFFERED.rewards, "mine": mine})
    entries = [{"name": "format"}, {"name": "correctness"}, MINE]
    [found] = problems(*entries, offered=constant)
    assert (found.field, found.level) == ("rewards.2.name", WARNING)
    assert found.message == (
        "“mine” gives every completion 0. A run learns only from scores that differ: edit it under Rewards, or remove "
        "it."
    )
    assert after_a_click({"name": "a", "rewards": entries}, found)["rewards"][-1]["name"] == "correctness"
    [unweighted] = problems(*entries[:2], {**MINE, "weight": 0.0}, offered=constant)
    assert unweighted.level == ADVICE and "gives every" not in unweighted.message  # it does not count


def test_all_stages_use_the_same_version_of_a_function():
    rows = {"source": "hub:org/rows"}
    raw = {"name": "a", "data": rows, "rewards": [MINE], "stages": [{"rewards": [{**MINE, "version": OLD}]}, {}]}
    [problem] = examine_spec(from_dict(raw), OFFERED)
    assert problem.field == "stages.0.rewards.0.version" and problem.level == BLOCKING
    assert examine_spec(from_dict(after_a_click(raw, problem)), OFFERED) == []
    same = {**raw, "stages": [{"rewards": [{**MINE, "version": HASH}]}, {}]}
    assert examine_spec(from_dict(same), OFFERED) == []


def test_own_code_with_leave_to_use_the_network_needs_a_sandbox_that_confines_it():
    rows = {"source": "hub:a/b"}
    about = {**OFFERED.rewards["mine"], "network": True}
    offered = replace(
        OFFERED,
        rewards={**OFFERED.rewards, "mine": about},
        versions={},
        sandbox={"name": "landlock", "network": "Old."},
    )
    blocking = [each for each in problems(MINE, offered=offered, data=rows) if each.level == BLOCKING]
    assert [each.message for each in blocking] == ["“mine” may use the network and cannot run here: Old."]
    fine = replace(offered, sandbox={"name": "landlock", "network": ""})
    assert [each for each in problems(MINE, offered=fine, data=rows) if each.level == BLOCKING] == []
    assert [e for e in problems(MINE, offered=replace(offered, trusted=True), data=rows) if e.level == BLOCKING] == []


def test_the_offer_has_the_versions_the_sandbox_and_what_is_trusted(registry_home: Path):
    library.save_reward("mine", OWN)
    library.save_reward("mine", OWN.replace("20", "30"))
    registry.publish_fact(Sandbox.from_plain(NONE))
    registry.publish_fact(TrustRewardCode(trusted=True))
    offered = Offer.read_published()
    assert [one["parameters"][0]["default"] for one in offered.versions["mine"]] == [30, 20]
    assert (offered.sandbox, offered.trusted) == (NONE, True)
    newest, older = offered.versions["mine"]
    assert (offered.function("mine") or {})["hash"] == newest["hash"]
    assert (offered.function("mine", older["hash"]) or {})["parameters"][0]["default"] == 20
    assert offered.function("mine", OLD) is None


def test_the_offer_has_what_failed_when_it_was_tried_of_the_version_that_would_be_used(registry_home: Path):
    older = library.save_reward("mine", OWN)
    tried.note_try("mine", older.hash, 3, 8, "KeyError: 'level'")

    def warnings() -> list[str]:
        raw = {"name": "a", "rewards": [MINE], "data": {"source": "hub:org/rows"}}
        return [one.message for one in examine_spec(from_dict(raw), Offer.read_published()) if one.level == WARNING]

    assert ["last tried: “KeyError: 'level'”" in one for one in warnings()] == [True]
    newer = library.save_reward("mine", OWN.replace("20", "30"))
    assert warnings() == []
    tried.note_try("mine", newer.hash, 1, 8, "")
    assert len(warnings()) == 1
    tried.note_try("mine", newer.hash, 0, 8, "")
    assert warnings() == []


@pytest.mark.parametrize("name", ["my_length", "my_format_reward", "no_length", "anti_length_penalty", "len_reward"])
def test_somebodys_own_function_is_no_slip_of_another(name: str):
    [problem] = problems({"name": name})
    assert "Did you mean" not in problem.message


@pytest.mark.parametrize(("name", "meant"), [("lenght_reward", "length"), ("Format", "format"), ("fromat", "format")])
def test_a_slip_of_a_function_is_offered(name: str, meant: str):
    [problem] = problems({"name": name})
    assert f"Did you mean “{meant}”?" in problem.message and problem.fixes[0].label == f"Use {meant}"
