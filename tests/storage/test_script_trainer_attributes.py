"""What a script sets on the trainer once it is made: taken where TRL reads it as it trains, said where it does not."""

from __future__ import annotations

import ast
import dataclasses
import importlib.util
import re
from pathlib import Path
from typing import TypeGuard

import pytest
from trl import GRPOConfig

from groupwise.storage.checks.script_reader import read_script
from groupwise.storage.checks.script_reader.config_changes import COPIED
from groupwise.storage.checks.script_reader.trainer_attributes import READ_IN_TRAINING, USED_UP
from tests.storage.test_script_nothing_dropped import HEAD, read, script

TWO = (
    HEAD + "def short(completions, **kwargs):\n    return [1.0 for _ in completions]\n"
    "trainer = GRPOTrainer('a/m', reward_funcs=[think_format_reward, short], {args}train_dataset=load_dataset('a/b'))\n"
    "{set}\ntrainer.train()\n"
)


def taken(set_: str, args: str = "") -> tuple[dict, str]:
    config = f"args=GRPOConfig({args}), " if args else ""
    return read(TWO.format(set=set_, args=config))


@pytest.mark.parametrize("args", ["", "output_dir='o', beta=0.1, reward_weights=[1, 2]"])
@pytest.mark.parametrize("weights", ["[0.2, 0.8]", "torch.tensor([0.2, 0.8]).to('cuda')"])
def test_what_trl_reads_as_it_trains_is_taken(args: str, weights: str):
    raw, said = taken(f"trainer.reward_weights = {weights}\ntrainer.beta = 0.3", args)
    assert [reward["weight"] for reward in raw["rewards"]] == [0.2, 0.8] and raw["training"] == {"beta": 0.3}
    for name in ("trainer.reward_weights", "trainer.beta"):
        assert f"{name} (line " in said
    assert said.count("is set after the trainer was made, and TRL reads it there: it was taken.") == 2
    assert "no place" not in said and "torch" not in said


def test_tools_and_environments_are_noted_where_the_trainer_is_given_them():
    args = "args=GRPOConfig(max_tool_calling_iterations=3), environment_factory=Env, "
    made = TWO.format(set="", args=args).replace("def short(", "class Env:\n    pass\n\n\ndef short(")
    raw, said = read(made)
    line = 1 + made.split("\n").index(next(one for one in made.split("\n") if one.startswith("trainer = ")))
    assert f"environment_factory (line {line}) was not taken: there are no environments here." in said
    assert "max_tool_calling_iterations" not in raw["training"]
    assert f"max_tool_calling_iterations (line {line}) was not taken: models cannot call tools here." in said


def test_one_side_of_the_clip_leaves_the_other_as_it_was():
    assert taken("trainer.epsilon_low = 0.1")[0]["training"] == {"epsilon": 0.1, "epsilon_high": 0.2}
    assert taken("trainer.epsilon_low = 0.1", "epsilon=0.3")[0]["training"] == {"epsilon": 0.1, "epsilon_high": 0.3}
    found = taken("trainer.epsilon_low = 0.1\ntrainer.epsilon_high = 0.4")[0]
    assert found["training"] == {"epsilon": 0.1, "epsilon_high": 0.4}


@pytest.mark.parametrize("name", USED_UP)
def test_what_trl_has_used_up_is_said_to_have_no_effect(name: str):
    raw, said = taken(f"trainer.{name} = 2", "beta=0.1")
    assert raw["training"] == {"beta": 0.1}
    assert f"trainer.{name} (line " in said and "where it has no effect in TRL: it was not taken." in said


def test_what_is_set_after_the_training_is_not_taken():
    found = read_script(TWO.format(set="", args="") + "trainer.beta = 0.3\n")
    assert "training" not in found.raw or "beta" not in found.raw["training"]
    assert any("trainer.beta (line" in note and "after the training" in note for note in found.notes)


def test_trl_reads_these_attributes_as_it_trains_and_those_not():
    """In the installed TRL: in other methods than that which makes the trainer."""
    source = (_folder_of("trl") / "trainer" / "grpo_trainer.py").read_text()
    [cls] = [n for n in ast.parse(source).body if isinstance(n, ast.ClassDef) and n.name == "GRPOTrainer"]
    read_in: dict[str, set[str]] = {}
    for method in (n for n in cls.body if isinstance(n, ast.FunctionDef)):
        for node in ast.walk(method):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and ast.unparse(node.value) == "self":
                read_in.setdefault(node.attr, set()).add(method.name)
    for name in READ_IN_TRAINING:
        assert read_in[name] - {"__init__"}, name
    beside_sampling = {"__init__", "_compute_loss", "_tool_call_loop"}  # Dr. GRPO's divisor
    for name in USED_UP:
        assert read_in[name] <= (beside_sampling if name == "max_completion_length" else {"__init__"}), name


@pytest.mark.parametrize("given", ["'a/m', think_format_reward, cfg, data", "'a/m', think_format_reward, args=cfg"])
def test_the_config_is_reached_by_way_of_the_trainer_however_it_was_passed(given: str):
    text = f"{HEAD}cfg = GRPOConfig('o')\ndata = load_dataset('a/b')\ntrainer = GRPOTrainer({given})\n"
    raw, said = read(f"{text}trainer.args.learning_rate = 1e-5\ntrainer.train()\n")
    assert raw["training"] == {"learning_rate": 1e-5} and "no place" not in said
    assert "learning_rate (line 11) is set after the trainer was made: it was taken all the same." in said


LATE = "is set after the trainer was made, which has copied it by then"


@pytest.mark.parametrize("of", ["cfg", "t.args"])
def test_what_the_trainer_has_copied_is_taken_as_it_was_copied(of: str):
    """What was set on the config by then counts, and what is read in training; none of what comes too late."""
    made = "cfg = GRPOConfig('o', num_generations=8, max_steps=20)\ncfg.beta = 0.1\n"
    late = ["num_generations = 4", "beta = 0.5", "temperature = 0.3", "learning_rate = 1e-4", "max_steps = 9"]
    text = f"{HEAD}data = load_dataset('a/b')\n{made}{MADE}\n" + "".join(f"{of}.{one}\n" for one in late)
    raw, said = read(f"{text}t.train()\n")
    assert raw["training"] == {"num_generations": 8, "beta": 0.1, "learning_rate": 1e-4, "max_steps": 9}
    assert f"num_generations (line 12) {LATE}: 8 was taken, as the script trains with it." in said
    assert f"beta (line 13) {LATE}: 0.1 was taken, as the script trains with it." in said
    assert f"temperature (line 14) {LATE}: it was not taken." in said
    assert "max_steps (line 16) is set after the trainer was made: it was taken all the same." in said
    raw, said = read(f"{text}t.beta = 0.7\nt.train()\n{of}.beta = 0.8\n")
    assert raw["training"]["beta"] == 0.7 and f"beta (line 13) {LATE}: 0.7 was taken, as" in said
    assert "beta (line 19) is set after the training: it was not taken." in said


def test_it_is_so_of_a_config_of_which_a_condition_decides():
    made = "if x():\n    cfg = GRPOConfig('o', beta=0.1)\nelse:\n    cfg = GRPOConfig('p', beta=0.1)\n"
    raw, said = read(f"{HEAD}data = load_dataset('a/b')\n{made}{MADE}\nt.args.beta = 0.5\nt.train()\n")
    assert raw["training"] == {"beta": 0.1} and f"beta (line 14) {LATE}: 0.1 was taken, as the script" in said


MAKING = {"__init__", "__post_init__", "_validate_args", "_build_accelerator_args",
          "create_accelerator_and_postprocess"}  # fmt: skip


def test_of_a_config_the_trainer_copies_these_settings():
    """In the installed TRL and transformers: read where a trainer is made, and nowhere else."""
    fields = {one.name for one in dataclasses.fields(GRPOConfig)}
    copied, read_later = set[str](), set[str]()
    trl, transformers = (_folder_of(name) for name in ("trl", "transformers"))
    trainers = [trl / "trainer" / "grpo_trainer.py", transformers / "trainer.py"]
    others = [trl / "trainer" / "base_trainer.py", trl / "trainer" / "callbacks.py", transformers / "training_args.py"]
    for path in {*trainers, *others, *transformers.glob("trainer*.py"), *transformers.glob("integrations/*.py")}:
        for function in (one for one in ast.walk(ast.parse(path.read_text())) if isinstance(one, ast.FunctionDef)):
            found = {one.attr for one in ast.walk(function) if _reads_config(one, path)} & fields
            if function.name not in MAKING:
                read_later |= found
            elif path in trainers and function.name == "__init__":
                copied |= found
    assert trainers[1].read_text().count("self._train_batch_size = args.train_batch_size") == 1  # a property's name
    assert copied - read_later | {"per_device_train_batch_size"} == COPIED


def _folder_of(package: str) -> Path:
    found = importlib.util.find_spec(package)
    assert found is not None and found.origin is not None
    return Path(found.origin).parent


def _reads_config(node: ast.AST, path: Path) -> TypeGuard[ast.Attribute]:
    if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return False
    of = ast.unparse(node.value)
    return of.endswith("args") or (of == "self" and path.name == "training_args.py")


@pytest.mark.parametrize(
    "set_",
    [
        "object.__setattr__(args, 'top_k', 40)",
        "args.__setattr__('top_k', 40)",
        "args.__dict__['top_k'] = 40",
        "vars(args)['top_k'] = 40",
        "args.__dict__.update(top_k=40)",
        "vars(args).update({'top_k': 40})",
    ],
)
def test_a_setting_is_set_by_any_of_pythons_ways(set_: str):
    raw, said = read(script(f"{set_}"))
    assert raw["training"] == {"beta": 0.1, "top_k": 40} and said == ""


@pytest.mark.parametrize(
    "set_", ["setattr(args, which(), 40)", "vars(args)[which()] = 40", "vars(args).update(more())"]
)
def test_of_a_setting_that_cannot_be_told_that_is_said(set_: str):
    said = read(script(set_))[1]
    assert "(line 11) was not taken: what it sets is known only when the script runs." in said


MADE = "t = GRPOTrainer('a/m', think_format_reward, args=cfg, train_dataset=data)"
ANOTHER = MADE.replace("t =", "u =")
IN = f"\n    {MADE}\n    t.args.learning_rate = lr\n    t.train()\n"
SET = "t.args.learning_rate = 1e-5\nt.train()\n"
AGAIN = "is set 2 times: 1e-05 was taken, its value in the first training."
TWICE = "is made 2 times: only the first was taken. Add stages for the others."
AFTER = "is set after the first training: it was not taken."


@pytest.mark.parametrize(
    ("code", "notes"),
    [
        (f"for lr in [1e-5, 7e-4]:{IN}", [f"The trainer (line 11) {TWICE}", f"learning_rate (line 12) {AGAIN}"]),
        (f"def go(lr):{IN}go(1e-5)\ngo(7e-4)", [f"The trainer (line 11) {TWICE}", f"learning_rate (line 12) {AGAIN}"]),
        (f"for lr, m in zip([1e-5, 7e-4], ['b/n', 'c/o']):{IN}".replace("'a/m'", "m"),
         [f"learning_rate (line 12) {AGAIN}"]),
        (f"lr = 1e-5\nwhile lr < 1:{IN}    lr *= 7", ["The trainer (line 12) is made in a loop: one run was taken."]),
        (f"{MADE}\n{SET}{ANOTHER}\nu.args.learning_rate = 7e-4\nu.train()", [f"learning_rate (line 14) {AFTER}"]),
        (f"{MADE}\n{ANOTHER}\nu.args.learning_rate = 7e-4\nu.train()\n{SET}", ["the first (line 10) was taken."]),
        (f"{MADE}\n{SET}{SET.replace('1e-5', '7e-4')}", [f"learning_rate (line 13) {AFTER}"]),
        (f"cfg.learning_rate = 1e-5\n{MADE}\nt.train()\ncfg.learning_rate = 7e-4\n{ANOTHER}\nu.train()",
         [f"learning_rate (line 13) {AFTER}"]),
        (f"cfg.learning_rate = 1e-5\n{MADE}\nt.train()\nmore = copy.deepcopy(cfg)\nmore.learning_rate = 7e-4\n"
         f"{ANOTHER.replace('cfg', 'more')}\nu.train()", ["the first (line 11) was taken."]),
        (f"model.train()\n{MADE}\n{SET}", ["is set after the trainer was made: it was taken all the same."]),
        (f"{MADE}\nt.args.learning_rate = 7e-4\n{SET}", ["learning_rate (line 12) is set after the trainer was made"]),
    ],
)  # fmt: skip
def test_the_first_training_has_what_holds_as_it_begins(code: str, notes: list[str]):
    """What a loop, a function or a line after it sets for another training was taken, and called not taken."""
    raw, said = read(f"{HEAD}data = load_dataset('a/b')\ncfg = GRPOConfig('o', max_steps=12)\n{code}\n")
    assert raw["training"] == {"max_steps": 12, "learning_rate": 1e-5}
    assert all(note in said for note in notes)
    assert len(set(re.findall(r"learning_rate .line \d+", said))) == said.count("learning_rate (line")
    assert "no place" not in said.replace("model.train(…) (line 10) was not taken: a spec has no place for it.", "")
    assert "u.train" not in said and "t.train" not in said


def test_so_it_is_with_the_trainer_lora_and_the_list_of_rewards():
    code = (
        "config, funcs = LoraConfig(r=2), [think_format_reward]\nfor n in [4, 8]:\n    config.r = n\n"
        "    funcs.append(accuracy_reward)\n    t = GRPOTrainer('a/m', funcs, GRPOConfig('o'), load_dataset('a/b'), "
        "peft_config=config)\n    t.beta = n / 10\n    t.generation_config.top_k = n\n    t.train()\n"
    )
    raw, said = read(HEAD + code)
    assert raw["lora"]["r"] == 4 and raw["training"] == {"beta": 0.4, "top_k": 4}
    assert len(raw["rewards"]) == 2 and "no place" not in said
    assert "LoraConfig's r (line 10) is set 2 times: 4 was taken, its value in the first training." in said
    said = read(f"{HEAD}{code}config.r = 3\n".replace("t.train()\n", "t.train()\n    config.r = 9\n"))[1]
    assert "LoraConfig's r (line 16) is set after the LoRA was made, where it has no effect: it was not taken." in said
