"""Rewards that a script adds under a condition nobody can know here, whatever the condition and however they are added:
those that are there where it is not met are taken, and the others are named."""

from __future__ import annotations

import itertools

import pytest

from groupwise.storage.checks.script_reader import read_script
from tests.support.foreign_scripts import without_closing

HEAD = """
import os, random, sys, torch, other
from other import FLAG, config
data = load_dataset("a/b", split="train")
def right(completions, **kwargs):
    return [1.0 for c in completions]
def bonus(completions, **kwargs):
    return [0.1 for c in completions]
rewards = [right]
"""
END = "\nGRPOTrainer('a/m', reward_funcs=rewards, args=GRPOConfig('o'%s), train_dataset=data).train()\n"

CONDITIONS = [
    "if random.random() > 0.5:\n    {}",
    "if torch.cuda.is_available():\n    {}",
    "if len(data) > 100:\n    {}",
    "if FLAG:\n    {}",
    "if not FLAG:\n    {}",
    "if config.bonus:\n    {}",
    "if other.wanted('bonus'):\n    {}",
    "if (wanted := other.wanted()):\n    {}",
    "if FLAG and config.bonus:\n    {}",
    "if os.environ['BONUS'] == '1' or 'bonus' in sys.argv:\n    {}",
    "if data.column_names == ['a']:\n    {}",
    "if FLAG:\n    if config.bonus:\n        {}",
    "while other.wanted():\n    {}",
    "for each in other.found():\n    {}",
    "match FLAG:\n    case 1:\n        {}",
]
WAYS = [
    "rewards.append(bonus)",
    "rewards.insert(0, bonus)",
    "rewards.extend([bonus])",
    "rewards += [bonus]",
    "rewards = rewards + [bonus]",
    "rewards = [*rewards, bonus]",
    "rewards = [right, bonus]",
    "rewards[1:] = [bonus]",
]
EXPRESSIONS = [
    "rewards.append(bonus) if FLAG else None",
    "FLAG and rewards.append(bonus)",
    "rewards = [right] + ([bonus] if FLAG else [])",
    "rewards = [right, *([bonus] if FLAG else [])]",
    "rewards = [right, bonus] if FLAG else [right]",
    "rewards.extend([bonus] if FLAG else [])",
    "rewards = [right] + [one for one in [bonus] if FLAG]",
    "rewards = [one for one in [right, bonus if FLAG else None] if one]",
    "rewards = list([right, bonus] if FLAG else [right])",
    "def add(to):\n    if FLAG:\n        to += [bonus]\nadd(rewards)",
    "def made():\n    found = [right]\n    if FLAG:\n        found.append(bonus)\n    return found\nrewards = made()",
    "named = {'right': right}\nif FLAG:\n    named['bonus'] = bonus\nrewards = list(named.values())",
]


def read(lines: str, config: str = "") -> tuple[list[tuple[str, float]], list[str]]:
    found = read_script(HEAD + lines + END % config)
    rewards = [(one["name"], one["weight"]) for one in found.raw.get("rewards", [])]
    return rewards, [one for one in without_closing(found.notes) if "eward" in one or "condition" in one]


@pytest.mark.parametrize("lines", [*(a.format(b) for a, b in itertools.product(CONDITIONS, WAYS)), *EXPRESSIONS])
def test_a_reward_that_depends_on_a_condition_is_named_and_not_taken(lines: str):
    rewards, said = read(lines)
    assert rewards == [("right", 1.0)] and len(said) == 1, said
    assert said[0].startswith("“bonus” (line ") and ") depends on a condition: it was not taken. To use it," in said[0]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("if FLAG:\n    rewards.remove(right)", ["“right” (line 11) depends on a condition: it was taken (condition"]),
        (
            "if FLAG:\n    rewards.pop()",
            ["“right” (line 11) depends on a condition: it was taken (condition not met)."],
        ),
        (
            "if FLAG:\n    del rewards[0]",
            ["“right” (line 11) depends on a condition: it was taken (condition not met)."],
        ),
        (
            "if FLAG:\n    rewards[0] = bonus",
            ["“right” (line 11) depends on a condition: it was taken", "“bonus” (line"],
        ),
        (
            "if FLAG:\n    rewards = [bonus]",
            ["“right” (line 9) depends on a condition: it was taken", "“bonus” (line 11)"],
        ),
        ("if FLAG:\n    rewards.extend(other.rewards)", ["Some of reward_funcs (line 9) come from what the script"]),
        ("if FLAG:\n    rewards.append(right)", ["“right” (line 11) depends on a condition: it was not taken."]),
        (
            "if FLAG:\n    rewards.append(lambda completions, **k: [0.1])",
            ["“lambda completions, **k: [0.1]” (line 11) dep"],
        ),
        ("if FLAG:\n    rewards = [right, right]", ["“right” (line 11) depends on a condition: it was not taken."]),
    ],
)
def test_what_a_condition_may_take_away_is_taken_and_said(lines: str, words: list[str]):
    rewards, said = read(lines)
    assert rewards == [("right", 1.0)] and len(said) == len(words)
    assert all(one.startswith(start) for one, start in zip(said, words, strict=True))


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        ("rewards[1:] = [bonus]", ["right", "bonus"]),
        ("rewards[0] = bonus", ["bonus"]),
        ("rewards.append(bonus)\nrewards.remove(right)", ["bonus"]),
        ("rewards.append(bonus)\ndel rewards[:1]", ["bonus"]),
        ("def add(to):\n    to += [bonus]\nadd(rewards)", ["right", "bonus"]),
        (
            "if FLAG:\n    rewards = [right]\n    rewards.append(bonus)\nelse:\n    rewards = [right, bonus]",
            ["right", "bonus"],
        ),
        ("rewards = [right] if FLAG else [right]\nrewards.append(bonus)", ["right", "bonus"]),
    ],
)
def test_what_is_there_whatever_a_condition_says_is_taken_without_a_word(lines: str, names: list[str]):
    rewards, said = read(lines)
    assert [name for name, _ in rewards] == names and said == []


def test_weights_belong_to_the_rewards_with_those_of_a_condition_or_without():
    lines = "if FLAG:\n    rewards.insert(0, bonus)"
    assert read(lines, ", reward_weights=[0.5, 2.0]")[0] == [("right", 2.0)]
    assert read(lines, ", reward_weights=[2.0]")[0] == [("right", 2.0)]
