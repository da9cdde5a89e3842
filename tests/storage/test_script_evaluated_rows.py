"""What a script does to the rows that it evaluates on, and not to those that it trains on, is said."""

from __future__ import annotations

import pytest

from groupwise.storage.checks.script_reader import read_script

SCRIPT = """
from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer
from trl.rewards import think_format_reward

def shaped(row):
    return {"prompt": row["question"]}

sp = load_dataset("a/b", split="train").train_test_split(test_size=SIZE, seed=0)
trainer = GRPOTrainer(model="a/m", reward_funcs=think_format_reward, args=GRPOConfig(), train_dataset=TRAINED,
                      eval_dataset=EVALUATED)
trainer.train()
"""


def read(evaluated: str, size: str = "0.1", trained: str = 'sp["train"]') -> tuple[dict[str, object], str]:
    text = SCRIPT.replace("SIZE", size).replace("TRAINED", trained).replace("EVALUATED", evaluated)
    found = read_script(text)
    return found.raw["data"], "\n".join(found.notes)


@pytest.mark.parametrize("step", ["select(range(64))", "take(64)", "skip(9)", "shard(4, 0)", "select([1, 5])"])
def test_fewer_rows_to_evaluate_on_are_said(step: str) -> None:
    data, said = read(f'sp["test"].{step}')
    assert data["holdout"] == 0.1
    name = step.partition("(")[0]
    assert f"{name}(…) on eval_dataset (line 11) was not taken: all rows that are held out (10 %)" in said
    assert "Set data.holdout to the number of rows." in said
    assert "on eval_dataset" not in read('sp["test"]')[1]


def test_as_many_rows_as_are_held_out_are_all() -> None:
    data, said = read('sp["test"].select(range(64))', size="64")
    assert data["holdout"] == 64 and "eval_dataset" not in said
    assert "(64) are evaluated on" in read('sp["test"].select(range(32))', size="64")[1]
    assert "select(…) on eval_dataset" in read('sp["test"].filter(ok).select(range(64))', size="64")[1]


@pytest.mark.parametrize("step", ["filter(lambda r: r['n'] > 3)", "map(shaped)", "remove_columns(['x'])"])
def test_what_only_those_rows_go_through_is_said_and_not_what_all_go_through(step: str) -> None:
    name = step.partition("(")[0]
    said = read(f'sp["test"].{step}')[1]
    assert f"{name}(…) on eval_dataset (line 11) was not taken: rows that are held out go" in said
    assert "on eval_dataset" not in read(f'sp["test"].{step}', trained=f'sp["train"].{step}')[1]


def test_another_order_of_the_rows_is_left_out_by_name() -> None:
    assert "they change nothing here: shuffle(…) on eval_dataset (line 11)" in read('sp["test"].shuffle(seed=1)')[1]


def test_the_part_that_is_evaluated_on_is_said_where_it_is_not_the_one_that_is_held_out() -> None:
    assert "“train” of train_test_split (line 11) is evaluated on" in read('sp["train"]')[1]


def test_a_step_on_both_parts_at_once_is_one_of_all_rows() -> None:
    both = "sp.map(shaped)"
    data, said = read(f'{both}["test"]', trained=f'{both}["train"]')
    assert data["holdout"] == 0.1 and "eval_dataset" not in said


def test_what_is_evaluated_on_by_a_name_is_the_part_that_is_held_out() -> None:
    assert "eval_dataset" not in read('{"x": sp["test"]}')[1]
    said = read('{"x": sp["test"], "y": sp["train"]}')[1]
    assert "held out of the same data. Here that is data.holdout, 10 %." in said and "Set data.holdout" not in said


def test_a_shuffle_without_a_seed_is_told_of_the_order_that_there_is() -> None:
    shuffled = SCRIPT.replace('split="train")', 'split="train").shuffle()')
    for seed, order in (("seed=0", "shuffled by data.shuffle, 0, here."), ("shuffle=False", "in the order of the")):
        found = read_script(shuffled.replace("seed=0", seed).replace("SIZE", "0.1").replace("TRAINED", 'sp["train"]')
                            .replace("EVALUATED", 'sp["test"]'))  # fmt: skip
        said = "\n".join(found.notes)
        assert order in said and ("Set data.shuffle" in said) is (seed != "seed=0")
