"""A run is not launched with a reward function that cannot even be loaded; and one that was is told so at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupwise.storage.library.rewards import library
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import TrustRewardCode
from groupwise.storage.spec.words.problem import BLOCKING, WARNING, is_later
from groupwise.worker.questions import build_rewards
from groupwise.worker.training import train
from tests.support.runs import ask_db, make_spec, queue

TOP = (
    "import math\nimport no_such_package\n\n\ndef mine(completions, **kwargs):\n    return [1.0 for _ in completions]\n"
)


pytestmark = pytest.mark.usefixtures("keep_signal_handler")


def said(code: str) -> list[str]:
    library.save_reward("mine", code)
    found = build_rewards.reward_problems(
        make_spec(rewards=[{"name": "format"}, {"name": "mine"}, {"name": "unknown"}])
    )
    assert all(one.level == BLOCKING and one.field == "rewards.1.name" for one in found)
    assert all(one.fixes[0].label == "Open mine in Rewards" for one in found)  # before it is given up
    assert all(one.fixes[0].page.startswith("/rewards?name=mine") and one.fixes[0].leads for one in found)
    assert all(one.fixes[1].removed == ("rewards.1",) for one in found)
    return [one.message for one in found]


def test_what_loads_has_no_problem(registry_home: Path) -> None:
    assert said(TOP.replace("no_such_package", "json")) == []


@pytest.mark.parametrize(
    ("top", "words"),
    [
        ("import no_such_package", "needs the package ‘no_such_package’, which is not installed"),
        ("from no_such_package import part", "needs the package ‘no_such_package’, which is not installed"),
        ("open('/etc/passwd')", "reward functions can read only Python"),
        ("import os; os._exit(0)", "exit status 0"),
        ("raise SystemExit", "SystemExit"),
    ],
)
def test_what_does_not_load_keeps_a_run_from_being_launched(registry_home: Path, top: str, words: str) -> None:
    (message,) = said(TOP.replace("import no_such_package", top))
    assert message.startswith("“mine” cannot be loaded: ") and words in message
    assert message.endswith(", line 2.") or "_exit" in top


def test_the_version_that_was_chosen_is_what_counts(registry_home: Path) -> None:
    good = library.save_reward("mine", TOP.replace("no_such_package", "json"))
    library.save_reward("mine", TOP)
    chosen = make_spec(rewards=[{"name": "mine", "version": good.hash}])
    assert build_rewards.reward_problems(chosen) == []
    assert len(build_rewards.reward_problems(make_spec(rewards=[{"name": "mine"}]))) == 1


def test_trusted_code_is_not_run_to_find_out(registry_home: Path) -> None:
    registry.publish_fact(TrustRewardCode(trusted=True))
    assert said(TOP) == []


def test_a_run_that_was_launched_all_the_same_says_so_at_its_first_call_and_goes_on(registry_home: Path) -> None:
    library.save_reward("mine", TOP)
    parts = {"training": {"max_steps": 2}, "launch": {"reward_failures": 0}}
    folder = queue(make_spec(rewards=[{"name": "format"}, {"name": "mine"}], **parts))
    assert train.main(folder.id) == 0
    (first, *_) = ask_db(folder, "SELECT step, message FROM event WHERE kind = 'reward' ORDER BY id")
    assert first[0] == 1 and "needs the package ‘no_such_package’" in first[1] and "line 2" in first[1]


REFUSED: list[tuple[str, dict[str, object], str, str]] = [
    ("length", {"low": 600}, "low", "not 600 beside 512. 512 is the default of “high”."),
    ("length", {"high": 48}, "high",
     "low must be 0 or more and less than high, not 64 beside 48. 64 is the default of “low”."),
    ("length", {"low": 9, "high": 3}, "low", "low must be 0 or more and less than high, not 9 beside 3."),
    ("length", {"tolerance": 0}, "tolerance", "tolerance must be more than 0, not 0."),
    ("cosine_length", {"max_len": 0}, "max_len", "max_len must be a number from 1, not 0."),
    ("format", {"tags": ["answer", "answer"]}, "tags",
     "tags must be names that differ, such as [think, answer], not ['answer', 'answer']."),
    ("keywords", {"words": ["a"], "forbidden": [" "]}, "forbidden",
     "forbidden must be a list of words, such as [because, therefore], not [' ']."),
    ("regular_expression", {"pattern": "("}, "pattern",
     "pattern is not a regular expression: missing ) at position 1."),
    ("soft_overlong_punishment", {"soft_punish_cache": 300}, "soft_punish_cache",
     "soft_punish_cache must be from 0 to max_completion_len, not 300."),
    ("repetition_penalty", {"max_penalty": 1.0}, "max_penalty", "max_penalty must be 0 or less, not 1.0."),
    ("language_consistency", {"scripts": []}, "scripts", "not empty."),
    ("math_equivalence", {"precision": 99}, "precision", "precision must be a whole number from 0 to 50, not 99."),
    ("valid_json", {"partial": 2}, "partial", "partial must be from 0 to 1, not 2."),
    ("reasoning_steps", {"steps": 0}, "steps", "steps must be a whole number from 1, not 0."),
    ("correctness", {"tolerance": -1.0}, "tolerance", "tolerance must be 0 or more, not -1.0."),
    ("code_tests", {"timeout": 0}, "timeout", "timeout must be more than 0 and at most 3600, not 0."),
    ("reward_model", {"models": ["a/b"], "batch_size": 0}, "batch_size",
     "batch_size must be a whole number from 1, not 0."),
    ("llm_judge", {"base_url": "http://localhost:1/v1", "model": "m", "rubric": "none"}, "rubric",
     "rubric must contain {completion}, or there is nothing to judge."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "parameters", "field", "words"), REFUSED, ids=[f"{n}-{f}" for n, _, f, _ in REFUSED])
def test_what_a_shipped_function_refuses_itself_is_said_before_the_launch(
    registry_home: Path, name: str, parameters: dict[str, object], field: str, words: str
) -> None:
    """These trained to the end, or to the fifth call, without one score. The button leaves what is not to blame."""
    other = {"name": "correctness" if name == "format" else "format"}
    said = build_rewards.reward_problems(make_spec(rewards=[other, {"name": name, "parameters": parameters}]))
    [problem] = [one for one in said if not is_later(one.message)]
    assert problem.field == f"rewards.1.parameters.{field}" and problem.level == BLOCKING
    assert problem.message.startswith(f"“{name}” would fail on every completion: ") and problem.message.endswith(words)
    for fix in problem.fixes:
        gone = [path.rpartition(".")[2] for path in fix.removed]
        kept = {one: value for one, value in parameters.items() if one not in gone}
        kept |= {path.rpartition(".")[2]: value for path, value in fix.settings.items()}
        after = make_spec(rewards=[other, {"name": name, "parameters": kept}])
        assert build_rewards.reward_problems(after) == []
    assert problem.fixes


def test_what_every_shipped_function_takes_by_default_is_taken(registry_home: Path) -> None:
    from groupwise.worker.builtin import shipped

    rewards = [{"name": name} for name in shipped.shipped_names(shipped.REWARDS)]
    assert build_rewards.reward_problems(make_spec(rewards=rewards)) == []


def test_a_stage_says_it_at_its_own_reward(registry_home: Path) -> None:
    stages = [{}, {"rewards": [{"name": "length", "parameters": {"low": 600}}]}]
    (problem,) = build_rewards.reward_problems(make_spec(stages=stages))
    assert problem.field == "stages.1.rewards.0.parameters.low"
    assert problem.fixes[0].removed == ("stages.1.rewards.0.parameters.low",)


def test_all_that_a_shipped_function_refuses_is_said_at_once(registry_home: Path) -> None:
    parameters = {"low": 50, "high": 10, "mode": "shortr", "tolerance": 0, "target": "far", "foo": 1}
    said = build_rewards.reward_problems(make_spec(rewards=[{"name": "length", "parameters": parameters}]))
    found = [one for one in said if one.level == BLOCKING]
    assert [one.field.rpartition(".")[2] for one in found] == ["mode", "low", "tolerance"]
    gone = {path for one in found for path in one.fixes[0].removed}
    assert gone == {f"rewards.0.parameters.{name}" for name in ("mode", "low", "high", "tolerance")}


@pytest.mark.parametrize("parameters", [{"hi": 4}, {"mode": "shortest", "hi": 4}])
def test_what_a_shipped_function_refuses_by_the_names_that_were_meant_is_said_with_them(
    registry_home: Path, parameters: dict[str, object]
) -> None:
    found = build_rewards.reward_problems(make_spec(rewards=[{"name": "length", "parameters": parameters}]))
    [problem] = [one for one in found if not one.field.endswith((".mode", ".name"))]
    words = "“length” would fail on every completion: low must be 0 or more and less than high, not 64 beside 4."
    assert (problem.field, problem.message) == ("rewards.0.parameters", f"Once “hi” of “length” is fixed: {words}")


def test_a_default_that_stands_in_the_way_is_named_and_set_with_a_click(registry_home: Path) -> None:
    """64, which nobody wrote, was said to be what all earn the same up to, and only `high` could be given up."""
    parameters = {"mode": "longer", "high": 48}
    rewards = [{"name": "format"}, {"name": "length", "parameters": parameters}]
    [problem] = build_rewards.reward_problems(make_spec(rewards=rewards, training={"max_completion_length": 48}))
    assert problem.message.endswith("not 64 beside 48. 64 is the default of “low”.")
    assert [(fix.label, fix.settings) for fix in problem.fixes] == [
        ("Set low to 24", {"rewards.1.parameters.low": 24}), ("Use the default of high", {}),
    ]  # fmt: skip


def test_what_the_offered_default_leads_to_is_said_with_what_is_refused(registry_home: Path) -> None:
    """The button was pressed, and then it was said that the function tells no completions apart."""
    rewards = [{"name": "format"}, {"name": "length", "parameters": {"low": 500, "high": 100}}]
    refused, then = build_rewards.reward_problems(make_spec(rewards=rewards, training={"max_completion_length": 48}))
    assert refused.fixes[0].label == "Use the default of low"
    assert (then.field, then.level, then.fixes) == ("rewards.1.name", WARNING, ())
    words = "Once “low” of “length” is fixed: “length” gives every completion 1: up to 64 tokens (the default of “low”)"
    assert then.message.startswith(words)
    [alone] = build_rewards.reward_problems(make_spec(rewards=rewards, training={"max_completion_length": 256}))
    assert alone.fixes == refused.fixes
