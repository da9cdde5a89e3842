"""The __name__ that a script sets on a reward is the name that TRL logs it under: the reward has it here, or that is
said."""

from __future__ import annotations

import pytest

from groupwise.storage.checks.script_reader import ScriptImport, read_script

HEAD = """
from functools import partial, update_wrapper
from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer
from trl.rewards import accuracy_reward

def size(completions, target=10, **kwargs):
    return [-abs(target - len(c)) for c in completions]

def exact(completions, answer, **kwargs):
    return [float(a in c) for c, a in zip(completions, answer)]

def make(n):
    def inner(completions, **kwargs):
        return [n for c in completions]
    inner.__name__ = f"at_least_{n}"
    return inner

class Length:
    def __init__(self, most):
        self.most = most
        self.__name__ = f"length_{most}"

    def __call__(self, completions, **kwargs):
        return [float(len(c) < self.most) for c in completions]
"""


def read(lines: str, rewards: str) -> ScriptImport:
    made = f"GRPOTrainer(model='a/m', reward_funcs=[{rewards}], args=GRPOConfig(), train_dataset=load_dataset('a/b'))"
    return read_script(f"{HEAD}\n{lines}\ntrainer = {made}\ntrainer.train()\n")


@pytest.mark.parametrize(
    ("lines", "rewards", "names"),
    [
        ("short = partial(size, target=64)\nshort.__name__ = 'short'", "short", ["short"]),
        ("a = partial(size, target=64)\na.__name__ = 'short'\nb = partial(size, target=512)\n"
         "setattr(b, '__name__', 'long')", "a, b", ["short", "long"]),
        ("exact.__name__ = 'exact_match'", "exact", ["exact_match"]),
        ("same = lambda completions, **k: [1.0 for c in completions]\nsame.__name__ = 'ones'", "same", ["ones"]),
        ("", "make(3), make(4)", ["at_least_3", "at_least_4"]),
        ("", "Length(9)", ["length_9"]),
        ("short = update_wrapper(partial(size, target=64), size)", "short", ["size"]),
        ("short = partial(size, target=64)\nupdate_wrapper(short, size)", "short", ["size"]),
    ],
)  # fmt: skip
def test_a_reward_has_the_name_that_the_script_gives_it(lines: str, rewards: str, names: list[str]) -> None:
    found = read(lines, rewards)
    assert [one["name"] for one in found.raw["rewards"]] == names == [one.name for one in found.functions]
    assert all(f"def {one.name}(" in one.code and not one.problems for one in found.functions)
    assert "__name__" not in "".join(found.notes)


@pytest.mark.parametrize(
    ("lines", "rewards", "name", "words"),
    [
        ("exact.__name__ = 'exact match'", "exact", "exact",
         "The __name__ “exact match” of a reward (line 27) was not taken. “exact match” cannot be the name"),
        ("exact.__name__ = name_of(exact)", "exact", "exact",
         "The __name__ of a reward (line 27) is computed by the script: set it here."),
        ("size.__name__ = 'target'", "size", "size",
         "The __name__ “target” of a reward (line 27) was not taken: the code of “size” uses that name for something"),
        ("a = partial(accuracy_reward)\na.__name__ = 'right'", "a", "math_equivalence",
         "The __name__ “right” of a reward (line 28) was not taken: “math_equivalence” keeps its name."),
    ],
)  # fmt: skip
def test_a_name_that_cannot_be_had_is_said(lines: str, rewards: str, name: str, words: str) -> None:
    found = read(lines, rewards)
    assert [one["name"] for one in found.raw["rewards"]] == [name]
    assert words in "\n".join(found.notes)


def test_of_a_dataset_named_on_the_command_line_the_subset_and_split_are_kept() -> None:
    """Whoever names it here trains on the rows that the script would have."""
    found = read_script("""
import argparse
from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer

parser = argparse.ArgumentParser()
parser.add_argument("--dataset", required=True)
args = parser.parse_args()
rows = load_dataset(args.dataset, "main", split="train[100:600]", revision="v2", streaming=True).select(range(300))
trainer = GRPOTrainer(model="a/m", reward_funcs=[len], args=GRPOConfig(), train_dataset=rows)
""")
    data = found.raw["data"]
    assert {name: data.get(name) for name in ("config", "split", "revision", "streaming", "limit")} == {
        "config": "main", "split": "train[100:600]", "revision": "v2", "streaming": True, "limit": 300,
    }  # fmt: skip
    assert any("The dataset (line 7) is read from the command line (--dataset)" in note for note in found.notes)
