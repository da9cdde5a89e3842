"""An Offer has one's own reward functions beside those that ship."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.rewards import library, signature
from groupwise.storage.registry import registry
from tests.support.offer import publish_rewards

CODE = '''def {name}(completions, answer, *, most: int = 3, kind: Literal["a", "b"] = "a", **kwargs):
    """Short ones.

    Args:
        most: The most.
    """
    return [1.0 for _ in completions]
'''


@pytest.fixture(autouse=True)
def built_in(registry_home: Path) -> None:
    publish_rewards({"format": {"help": "Ships.", "code": "", "needs": []}})


def test_ones_own_function_stands_beside_what_ships_with_all_that_is_known_of_it():
    saved = library.save_reward("mine", CODE.format(name="mine"), network=True)
    rewards = Offer.read_published().rewards
    assert list(rewards) == ["mine", "format"] and "own" not in rewards["format"]
    (function,) = signature.analyse(saved.code).functions
    assert rewards["mine"] == {
        "help": "Short ones.", "code": saved.code, "needs": [], "arguments": ["completions", "answer"],
        "parameters": function.parameters, "own": True, "hash": saved.hash, "network": True,
    }  # fmt: skip
    assert [(each["name"], each["help"]) for each in function.parameters] == [("most", "The most."), ("kind", "")]


def test_only_the_newest_version_is_offered_and_nothing_that_was_deleted():
    library.save_reward("mine", CODE.format(name="mine"))
    newest = library.save_reward("mine", CODE.format(name="mine").replace("Short", "Long"))
    library.save_reward("other", CODE.format(name="other"))
    library.delete_reward("other")
    rewards = Offer.read_published().rewards
    assert set(rewards) == {"mine", "format"} and rewards["mine"]["hash"] == newest.hash
    assert rewards["mine"]["help"] == "Long ones."


def test_what_ships_keeps_its_name_from_a_function_that_was_saved_before():
    library.save_reward("later", CODE.format(name="later"))
    publish_rewards({"later": {"help": "Ships.", "code": "", "needs": []}})
    assert "own" not in Offer.read_published().rewards["later"]


def test_an_offer_reads_no_code_anew(monkeypatch: pytest.MonkeyPatch):
    for number in range(50):
        library.save_reward(f"mine_{number}", CODE.format(name=f"mine_{number}"))
    read: list[str] = []
    analyse = signature.analyse
    monkeypatch.setattr(signature, "analyse", lambda code, name=None: read.append(code) or analyse(code, name))
    assert len(Offer.read_published().rewards) == 51 and read == []


def test_what_another_version_of_groupwise_found_is_found_anew(monkeypatch: pytest.MonkeyPatch):
    library.save_reward("mine", CODE.format(name="mine"))
    before = Offer.read_published().rewards["mine"]
    with registry.write_registry() as db:
        db.execute(
            "UPDATE reward_code SET about = ?", ['{"form": 0, "help": "Old.", "parameters": [], "arguments": []}']
        )
    assert Offer.read_published().rewards["mine"] == before
