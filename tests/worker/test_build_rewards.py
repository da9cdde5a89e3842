"""A run is not launched with a reward function that cannot even be loaded; and one that was is told so at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupwise.storage.library.rewards import library
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import TrustRewardCode
from groupwise.storage.spec.problem import BLOCKING
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
    assert all(one.fixes[0].removed == ("rewards.1",) for one in found)
    return [one.message for one in found]


def test_what_loads_has_no_problem(registry_home: Path) -> None:
    assert said(TOP.replace("no_such_package", "json")) == []


@pytest.mark.parametrize(
    ("top", "words"),
    [
        ("import no_such_package", "needs the package ‘no_such_package’, which is not installed"),
        ("from no_such_package import part", "needs the package ‘no_such_package’, which is not installed"),
        ("open('/etc/passwd')", "reward functions see only Python"),
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
