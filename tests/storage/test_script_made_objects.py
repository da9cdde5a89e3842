"""Objects that a script makes and asks about, functions that a decorator of its own collects, and LoRA by way of TRL's
ModelConfig."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import trl

from groupwise.storage.checks.script_reader import ScriptImport, model_config, read_script
from tests.support.foreign_scripts import without_closing

TOP = """
import sys
from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer, ModelConfig, get_peft_config


def score(completions, **kwargs):
    return [0.0 for _ in completions]


"""
TRAIN = """
GRPOTrainer(model="a/m", reward_funcs=%s, args=%s, train_dataset=load_dataset("a/b", split="train"), peft_config=%s)
"""


def read(text: str, rewards: str = "score", args: str = "GRPOConfig()", peft: str = "None") -> tuple[ScriptImport, str]:
    found = read_script(TOP + text + TRAIN % (rewards, args, peft))
    return found, "\n".join(without_closing(found.notes))


@pytest.mark.parametrize(
    "line",
    [
        "args = args if args else None",
        "args = args if args is not None else None",
        "args = None if args is None else args",
        "args = None if not args else args",
        "args = args or GRPOConfig()",
        "if args is None:\n    args = GRPOConfig()",
        "model = ModelConfig()\nargs = args if model else None",
        "class Own:\n    x = 1\nargs = args if Own() else None",
    ],
)
def test_an_object_that_the_script_makes_counts_as_true(line: str) -> None:
    found, _ = read(f"args = GRPOConfig(beta=0.1)\n{line}\nargs.temperature = 0.7\n", args="args")
    assert found.raw["training"] == {"beta": 0.1, "temperature": 0.7}


@pytest.mark.parametrize("test", ["sys.argv[1]", "Sized()"], ids=["what is unknown", "an object that may be empty"])
def test_what_is_set_on_a_config_that_depends_on_a_condition_says_so(test: str) -> None:
    sized = "class Sized:\n    def __len__(self):\n        return 0\n"
    text = f"{sized}args = GRPOConfig(beta=0.1)\nargs = args if {test} else None\nargs.temperature = 0.7\n"
    found, notes = read(text, args="args")
    assert found.raw["training"] == {}
    assert "args (line 15) depends on a condition: set it here." in notes
    assert "“args.temperature” (line 16) is set on a config that depends on a condition, which was not taken" in notes
    assert "a spec has no place" not in notes


JUDGE = """from transformers import AutoTokenizer
class Judge:
    def __init__(self, size=3):
        self.size = size
        self.prepare()
    def prepare(self):
        %s
    def score(self, completions, **kwargs):
        return [float(len(one) > self.size) for one in completions]
judge = Judge()
"""


@pytest.mark.parametrize(
    ("line", "does"),
    [
        ('self.tokenizer = AutoTokenizer.from_pretrained("a/m")', "loads a tokenizer or a model"),
        ('self.llm = LLM("a/m")', "loads a model"),
    ],
)
def test_a_reward_of_an_object_that_loads_something_when_it_is_made_is_warned_of(line: str, does: str) -> None:
    found, notes = read(JUDGE % line, "judge.score")
    assert [one["name"] for one in found.raw["rewards"]] == ["score"]
    assert f"“score” is a method of Judge (line 20), which {does} when it is made (line 17). A reward runs" in notes


def test_an_object_that_loads_nothing_is_not_warned_of() -> None:
    _, notes = read(JUDGE % "self.size += 1", "judge.score")
    assert "is a method of an object" in notes and "when it is made" not in notes


PLAIN = "REG = {}\ndef register(f):\n    REG[f.__name__] = f\n    return f\n"
NAMED = "REG = {}\ndef named(name):\n    def keep(f):\n        REG[name] = f\n        return f\n    return keep\n"
LISTED = "REG = []\ndef register(f):\n    REG.append(f)\n    return f\n"
WRAPPED = """import functools
REG = {}
def register(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return f(*args, **kwargs)
    REG[f.__name__] = f
    return inner
"""
TWO = """
@%s
def one(completions, **kwargs):
    return [1.0 for _ in completions]


@%s
def two(completions, **kwargs):
    return [2.0 for _ in completions]
"""


@pytest.mark.parametrize(
    ("top", "decorators", "rewards"),
    [
        (PLAIN, ("register", "register"), "list(REG.values())"),
        (PLAIN, ("register", "register"), "[REG['one'], REG['two']]"),
        (PLAIN, ("register", "register"), "[f for f in REG.values()]"),
        (NAMED, ("named('a')", "named('b')"), "list(REG.values())"),
        (LISTED, ("register", "register"), "REG"),
        (WRAPPED, ("register", "register"), "list(REG.values())"),
    ],
    ids=["by name", "by key", "a comprehension", "under a name", "a list", "wrapped"],
)
def test_functions_that_a_decorator_of_the_script_collects_are_its_rewards(
    top: str, decorators: tuple[str, str], rewards: str
) -> None:
    found, notes = read(top + TWO % decorators, rewards=rewards)
    assert [one["name"] for one in found.raw["rewards"]] == ["one", "two"] and not notes
    for function in found.functions:
        space: dict[str, Any] = {}
        exec(function.code, space)  # noqa: S102
        assert space[function.name](completions=["x"]) == [1.0 if function.name == "one" else 2.0]


def test_rewards_that_cannot_be_followed_are_named_and_no_weight_is_set_for_them() -> None:
    text = "from mine import REG, register\n" + TWO % ("register", "register")
    found, notes = read(text, rewards="list(REG.values())")
    assert "rewards" not in found.raw
    assert "None of reward_funcs (line 22) was taken." in notes
    assert "completions, as rewards do: score (line 7), one (line 14), two (line 19)." in notes
    assert not any("reward's weight" in note for note in found.notes)


@pytest.mark.parametrize(
    ("given", "lora"),
    [
        ("use_peft=True, lora_r=64, lora_alpha=16, lora_dropout=0.1, lora_target_modules=['q_proj', 'v_proj']",
         {"r": 64, "lora_alpha": 16, "lora_dropout": 0.1, "target_modules": ["q_proj", "v_proj"]}),
        ("use_peft=True, lora_target_modules=['all-linear'], use_rslora=True",
         {"r": 16, "lora_alpha": 32, "lora_dropout": 0.05, "target_modules": "all-linear", "use_rslora": True}),
        ("use_peft=False, lora_r=64", None),
        ("lora_r=64", None),
    ],
)  # fmt: skip
def test_lora_by_trl_s_model_config_is_what_trl_makes_of_it(given: str, lora: dict[str, Any] | None) -> None:
    found, notes = read("", peft=f"get_peft_config(ModelConfig({given}))")
    assert found.raw.get("lora") == lora and not notes
    made = trl.get_peft_config(eval(f"trl.ModelConfig({given})", {"trl": trl}))  # noqa: S307
    for name, value in (lora or {}).items():
        theirs = getattr(made, name)
        assert (sorted(theirs) if isinstance(theirs, set) else theirs) == value
    assert (made is None) == (lora is None)


def test_what_else_the_model_config_says_is_noted_and_its_names_are_trl_s() -> None:
    found, notes = read("", peft='get_peft_config(ModelConfig(use_peft=True, lora_r=r(), dtype="bfloat16"))')
    assert found.raw["lora"]["r"] == 16 and "r (line 12) is computed by the script" in notes
    assert "ModelConfig's dtype (line 12) was not taken" in notes
    theirs = {field.name: field.default for field in dataclasses.fields(trl.ModelConfig)}
    assert model_config.NAMES.keys() <= theirs.keys()
    usual = {ours: theirs[name] for name, ours in model_config.NAMES.items() if ours in model_config.USUAL}
    assert usual == model_config.USUAL


def test_a_method_of_the_config_that_cannot_be_followed_is_named() -> None:
    _, notes = read("args = GRPOConfig()\nargs = args.with_training(learning_rate=1e-5)\n", args="args")
    assert "args (line 12) is what args.with_training(…) makes of it, which cannot be followed: set it here." in notes


def test_what_a_setting_may_be_by_a_condition_is_shown() -> None:
    text = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--x')\nx = parser.parse_args()\n"
    _, notes = read(text + "args = GRPOConfig(optim=x.optim or 'adafactor')\n", args="args")
    assert "optim (line 15) depends on a condition (it may be “adafactor”): set it here." in notes


WHERE_UNMET = [
    ("n = 200\nif sys.argv:\n    n = 1024\nargs = GRPOConfig(top_k=n)", 200, "200 was taken (condition not met). "
     "Otherwise it is 1024."),
    ("n = 200\nif sys.argv:\n    n = 300\nelif sys.path:\n    n = 400\nargs = GRPOConfig(top_k=n)", 200,
     "200 was taken (condition not met). Otherwise it may be 300, 400."),
    ("n = 200\nif sys.argv:\n    n = len(sys.argv)\nargs = GRPOConfig(top_k=n)", 200,
     "200 was taken (condition not met). Otherwise it is computed by the script."),
    ("args = GRPOConfig(top_k=200)\nif sys.argv:\n    args.top_k = 1024", 200,
     "200 was taken (condition not met). Otherwise it is 1024."),
    ("kwargs = {'top_k': 200}\nif sys.argv:\n    kwargs['top_k'] = 1024\nargs = GRPOConfig(**kwargs)", 200,
     "200 was taken (condition not met). Otherwise it is 1024."),
    ("if sys.argv:\n    n = 1024\nelse:\n    n = 200\nargs = GRPOConfig(top_k=n)", None,
     "(it may be 1024, 200): set it here."),
    ("args = GRPOConfig(top_k=200)\nif sys.argv:\n    args.top_k = 3\nelse:\n    args.top_k = 4", None, "set it here."),
    ("args = GRPOConfig(top_k=200)\nfor one in sys.argv:\n    args.top_k = 3", None, "set it here."),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "taken", "words"), WHERE_UNMET)
def test_a_setting_is_taken_as_it_is_outside_of_a_condition(lines: str, taken: int | None, words: str) -> None:
    found, notes = read(lines + "\n", args="args")
    assert found.raw["training"].get("top_k") == taken
    (said,) = [line for line in notes.splitlines() if line.startswith("top_k ")]
    assert "depends on a condition" in said and said.endswith(words)


def test_a_reward_of_a_function_that_cannot_be_followed_names_it() -> None:
    _, notes = read("def pick():\n    for one in sys.argv:\n        return score\nfuncs = [pick()]\n", "funcs")
    assert "“score” (line 14) depends on a condition: it was not taken." in notes
    _, notes = read("def pick():\n    for one in sys.argv:\n        yield score\nfuncs = [pick()]\n", "funcs")
    assert "A reward (line 14) is made by calling pick, which cannot be followed, and was not taken" in notes


TWICE = """import functools
from x import y
from trl.rewards import get_soft_overlong_punishment as short
def kw(completions, scale=1.0, **kwargs):
    return [scale * len(c) for c in completions]
GRPOTrainer('a/m', [%s], GRPOConfig('o', reward_weights=[1.0, 0.3])).train()
"""


@pytest.mark.parametrize(
    ("functions", "rewards", "words"),
    [
        ("kw, functools.partial(kw, scale=2.0)", [("kw", None, 1.0), ("kw_2", {"scale": 2.0}, 0.3)],
         "“kw” (line 6) is in reward_funcs more than once: with scale 2.0, weight 0.3 it was imported as “kw_2”."),
        ("functools.partial(kw, scale=2.0), kw", [("kw", {"scale": 2.0}, 1.0), ("kw_2", None, 0.3)],
         "with weight 0.3 it was imported as “kw_2”."),
        ("kw, functools.partial(kw)", [("kw", None, 1.3)], "so its weights were added: it weighs 1.3."),
        ("y, functools.partial(y, a=2)", [("y", None, 1.0), ("y_2", {"a": 2}, 0.3)],
         "with a 2, weight 0.3 it was taken as “y_2”. Save its code under that name, too."),
        ("'a/rm', 'b/rm'", [("reward_model", {"models": ["a/rm"]}, 1.0)],
         "once: this one was not taken (models [\"b/rm\"], weight 0.3). Copy it under Rewards, and choose the copy."),
    ],
)  # fmt: skip
def test_a_reward_that_is_used_twice_has_a_name_of_its_own_each_time(functions, rewards, words) -> None:
    """TRL counts rewards by their place, and a run by their names."""
    found = read_script(TWICE % functions)
    taken = [(one["name"], one.get("parameters"), one["weight"]) for one in found.raw["rewards"]]
    assert taken == rewards and words in "\n".join(found.notes)
    for one in found.functions:
        assert f"def {one.name}(" in one.code and [taken[place][0] for place in one.places] == [one.name]
