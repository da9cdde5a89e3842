"""The import knows all that the installed TRL has: arguments of the trainer, fields of its config, reward functions."""

from __future__ import annotations

import dataclasses
import inspect

import pytest

from groupwise.storage.checks.check import OWNED
from groupwise.storage.checks.known_rewards import TRL, known_reward
from groupwise.storage.checks.script_reader import read_script
from groupwise.storage.checks.script_reader.places import PLACES
from tests.storage.test_script_nothing_dropped import read, script
from tests.support.rewards import load


def test_every_argument_of_trls_trainer_is_known():
    from trl import GRPOTrainer

    assert tuple(inspect.signature(GRPOTrainer.__init__).parameters)[1:] == PLACES


def test_every_field_of_trls_config_is_taken_or_said():
    from trl import GRPOConfig

    for field in dataclasses.fields(GRPOConfig):
        raw, said = read(script(config=f", {field.name}=7") if field.name not in ("output_dir", "beta") else script())
        quiet = {"output_dir", "beta", "reward_weights", "model_init_kwargs", "use_cpu"}
        of_tools = {"max_tool_calling_iterations"}  # which models cannot call here
        if field.name in {*OWNED, *of_tools, *quiet}:
            assert f"{field.name} (line 8)" in said or field.name in quiet, field.name
        else:
            assert raw["training"][field.name] == 7 and said == "", field.name
        if field.name not in ("output_dir", "beta"):
            said = read(script(config=f", {field.name}=thing()"))[1]
            assert f"{field.name} (line 8)" in said or field.name in ("use_cpu",), field.name


def test_every_reward_function_of_trl_is_known():
    import trl.rewards

    assert set(TRL) == {name for name in dir(trl.rewards) if "reward" in name and not name.endswith("rewards")} | {
        "get_soft_overlong_punishment"
    }


@pytest.mark.parametrize("name", sorted(name for name in TRL if name.startswith("get_")))
def test_a_factory_of_trl_takes_its_arguments_by_place(name: str):
    import trl.rewards

    known = known_reward(f"trl.rewards.{name}")
    factory = inspect.signature(getattr(trl.rewards, name)).parameters
    assert known is not None and tuple(factory) == known.places
    call = f"{name}({', '.join(str(n + 1) for n in range(len(factory)))})"
    raw = read_script(
        f"from trl.rewards import *\nfrom trl.rewards import {name}\nGRPOTrainer(reward_funcs={call})"
    ).raw
    (reward,) = raw["rewards"]
    assert reward["name"] == known.name
    assert reward["parameters"] == {place: n + 1 for n, place in enumerate(factory)}


def test_think_format_is_trls():
    from trl.rewards import think_format_reward

    texts = ["<think>a</think>b", "<think>\na\n</think>\n\nb", " <think>a</think>", "<think>a<think>b</think>", "x", "",
             "<think></think>", "<think>a</think><think>b</think>", "y\n<think>a</think>", "<think>a"]  # fmt: skip
    chats = [[{"role": "assistant", "content": text}] for text in texts]
    known = known_reward("trl.rewards.think_format_reward")
    assert known is not None
    assert load(known.name)(chats, **known.parameters) == think_format_reward(chats)


def test_open_r1s_format_asks_for_what_it_asks_for():
    known = known_reward("open_r1.rewards.format_reward")
    assert known is not None
    good, bad = "<think>\na\nb\n</think>\n<answer>\n1\n</answer>", "<think>a</think>\n<answer>\n1\n</answer>"
    texts = [good, good + "\nmore", " " + good, good + "x", bad]
    assert load(known.name)(texts, **known.parameters) == [1.0, 1.0, 0.0, 0.0, 0.0]
