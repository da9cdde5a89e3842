"""Settings that reach GRPOConfig by another way than its own call: setters, copies, dicts, parsers, the trainer."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
from typing import Any

import pytest

from groupwise.storage.checks.script_reader.fluent_setters import _ASKED, OTHER_DEFAULTS, SETTERS
from groupwise.storage.checks.script_reader.given_arguments import MODEL_DEFAULTS, share_of
from groupwise.storage.checks.script_reader.values import Mapping, Outer, Plain
from tests.storage.test_script_nothing_dropped import HEAD, read

TRAIN = (
    "trainer = GRPOTrainer('a/m', think_format_reward, args=args, train_dataset=load_dataset('a/b', split='train'))\n"
)
PARSE = "from transformers import HfArgumentParser\nfrom trl import ModelConfig, ScriptArguments\n"


def trained(lines: str, after: str = "") -> tuple[dict[str, Any], str]:
    raw, said = read(f"{HEAD}{lines}\n{TRAIN}{after}\ntrainer.train()\n")
    return raw["training"], said


def test_setters_copies_and_what_is_set_afterwards_all_arrive():
    found, said = trained(
        "import dataclasses\nargs = GRPOConfig(learning_rate=1e-6, num_generations=4, per_device_train_batch_size=16)"
        ".set_training(learning_rate=5e-6, num_epochs=2)\nargs = dataclasses.replace(args, beta=0.1)\n"
        "args.generation_kwargs = {'no_repeat_ngram_size': 3}",
        "trainer.generation_config.temperature = 0.7",
    )
    assert found == {
        "learning_rate": 5e-6, "num_generations": 4, "num_train_epochs": 2, "per_device_train_batch_size": 8,
        "gradient_checkpointing": False, "beta": 0.1, "generation_kwargs": {"no_repeat_ngram_size": 3},
        "temperature": 0.7,
    }  # fmt: skip
    assert (
        "set_training(…) (line 9) also sets what it is not given, to its own defaults: per_device_train_batch_size 8, "
        "gradient_checkpointing False." in said
    )
    assert "trainer.generation_config.temperature (line 13) is set after the trainer was made: it was taken as " in said
    assert "not taken" not in said and "no place" not in said and "computed" not in said


def test_the_setters_are_those_of_the_installed_transformers():
    from transformers import TrainingArguments
    from trl import GRPOConfig

    fields = {one.name: one.default for one in dataclasses.fields(GRPOConfig)}
    assert {name for name in dir(TrainingArguments) if name.startswith("set_")} == set(SETTERS)
    for name, arguments in SETTERS.items():
        setter = getattr(TrainingArguments, name)
        usual = {
            one.name: _ASKED if one.default is inspect.Parameter.empty else one.default
            for one in list(inspect.signature(setter).parameters.values())[1:]
        }
        assert usual == {argument: default for argument, (_, default) in arguments.items()}
        assert list(usual) == list(arguments)  # some are given by their place
        code = ast.parse(textwrap.dedent(inspect.getsource(setter)))
        sets = {
            node.attr for node in ast.walk(code) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        }
        kept = {setting for setting, _ in arguments.values()} | {"push_to_hub"} & sets
        assert sets - kept <= {"do_train", "do_eval", "do_predict", "activation_checkpointing"}, name
        for setting, default in arguments.values():
            same = default is _ASKED or fields[setting] == default or {fields[setting], default} == {0, None}
            assert same or setting in OTHER_DEFAULTS or setting == "gradient_checkpointing", setting


@pytest.mark.parametrize(
    ("lines", "settings"),
    [
        ("from copy import copy\nargs = copy(GRPOConfig('o', beta=0.2))\nargs.top_k = 3", {"beta": 0.2, "top_k": 3}),
        ("args = GRPOConfig(**{**dict(beta=0.2), 'top_k': 3})", {"beta": 0.2, "top_k": 3}),
        ("args = GRPOConfig('o')\nargs.set_save('steps', 50).set_evaluate(strategy='no')\n",
         {"save_strategy": "steps", "save_steps": 50, "eval_strategy": "no", "eval_steps": 500}),
        ("args = GRPOConfig('o').set_push_to_hub('me/m')", {"hub_model_id": "me/m", "push_to_hub": True}),
        ("from dataclasses import dataclass\n@dataclass\nclass C(GRPOConfig):\n    @classmethod\n"
         "    def from_dict(cls, said):\n        return cls(**said)\nargs = C.from_dict({'beta': 0.2})", {"beta": 0.2}),
        ("if torch.cuda.is_available():\n    args = GRPOConfig('o', beta=0.2)\nelse:\n    args = GRPOConfig('o', "
         "beta=0.2)\nargs.top_k = 3", {"beta": 0.2, "top_k": 3}),
        (f"{PARSE}args, = HfArgumentParser(GRPOConfig).parse_dict({{'beta': 0.2, 'output_dir': 'o'}})", {"beta": 0.2}),
        (f"{PARSE}_, args, _ = HfArgumentParser((ScriptArguments, GRPOConfig, ModelConfig)).parse_dict("
         "{'beta': 0.2, 'dataset_name': 'x/y', 'model_name_or_path': 'q/r', 'use_peft': True})", {"beta": 0.2}),
        (f"{PARSE}args = HfArgumentParser(GRPOConfig).parse_args_into_dataclasses(args=['--beta', '0.2', '--bf16', "
         "'--run-name=x'])[0]", {"beta": 0.2, "bf16": True, "run_name": "x"}),
        ("import argparse\np = argparse.ArgumentParser()\np.add_argument('--kl', type=float, default=0.1)\n"
         "args = GRPOConfig('o', beta=p.parse_args(['--kl', '0.2']).kl)", {"beta": 0.2}),
    ],
    ids=str,
)  # fmt: skip
def test_a_config_arrives_however_it_was_made(lines: str, settings: dict[str, Any]):
    found, said = trained(lines)
    found.pop("gradient_checkpointing", None)
    assert found == settings
    assert "not taken" not in said and "set here" not in said and "command line" not in said, said


def test_what_cannot_be_followed_is_named_setting_by_setting():
    found, said = trained("args = tune(GRPOConfig('o', learning_rate=1e-6, beta=0.2))\nargs.top_k = 3")
    assert found == {}
    assert "Of GRPOConfig (line 8) nothing was taken: learning_rate 1e-06, beta 0.2. Set them here." in said
    assert "top_k (line 9) is set on args, which cannot be followed: set it here." in said
    assert "does not reach the trainer" not in said


def test_where_a_condition_decides_of_the_config_what_differs_is_named():
    found, said = trained("args = GRPOConfig('o', beta=0.2, top_k=3) if big() else GRPOConfig('o', beta=0.4, top_k=3)")
    assert found == {"top_k": 3}
    assert "beta (line 8) depends on a condition (it may be 0.2, 0.4): set it here." in said


def test_what_is_set_on_the_original_of_a_copy_is_not_said_to_have_no_place():
    found, said = trained("import copy\nbase = GRPOConfig('o', beta=0.2)\nargs = copy.copy(base)\nbase.beta = 0.4")
    assert found == {"beta": 0.2} and "no place" not in said
    assert "“base.beta” (line 11) is set on a config that does not reach the trainer: it was not taken." in said


def test_what_the_trainer_generates_with_is_taken_under_the_settings_of_trl():
    set_ = "trainer.generation_config.max_new_tokens = 99\ntrainer.generation_config.length_penalty = 2.0"
    found, said = trained("args = GRPOConfig('o', generation_kwargs={'num_beams': 1})", set_)
    assert found["max_completion_length"] == 99
    assert found["generation_kwargs"] == {"num_beams": 1, "length_penalty": 2.0}
    assert "it was taken into training.generation_kwargs." in said


def test_each_dataclass_of_a_parser_takes_the_fields_that_it_has():
    from trl import GRPOConfig, ModelConfig, ScriptArguments

    node = ast.parse("x")
    kinds = [Outer(node, f"trl.{kind.__name__}") for kind in (GRPOConfig, ModelConfig, ScriptArguments)]
    for kind, value in zip((GRPOConfig, ModelConfig, ScriptArguments), kinds, strict=True):
        names = [
            one.name for one in dataclasses.fields(kind) if one.name not in ("model_init_kwargs", "trust_remote_code")
        ]
        given = Mapping(node, {name: Plain(node, 1) for name in names})
        assert list(share_of(value, kinds, given)) == names, kind


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ("torch.optim.AdamW(model.parameters(), lr=3e-6)",
         "lr 3e-06 (here training.learning_rate, in place of the config’s 2e-06): set that here."),
        ("torch.optim.AdamW(model.parameters(), 3e-6, weight_decay=0.1)",
         "weight_decay 0.1 (here training.weight_decay), lr 3e-06 (here training.learning_rate, in place of"),
        ("torch.optim.AdamW(model.parameters(), lr=2e-6)", "lr 2e-06 (here training.learning_rate): set that here."),
    ],
)  # fmt: skip
def test_what_an_optimizer_of_the_script_is_made_with_is_said_beside_what_it_overrides(made: str, words: str):
    lines = "args = GRPOConfig('o', learning_rate=2e-6)\nmodel = AutoModelForCausalLM.from_pretrained('a/m')"
    train = TRAIN.replace("args=args", f"args=args, optimizers=({made}, None)").replace("'a/m'", "model")
    said = read(f"{HEAD}{lines}\n{train}trainer.train()\n")[1]
    assert "optimizers (line 10) was not taken" in said and words in said, said


def test_what_a_model_config_has_by_default_is_what_the_installed_one_has():
    from trl import ModelConfig

    usual = ModelConfig()
    assert {name: getattr(usual, name) for name in MODEL_DEFAULTS} == MODEL_DEFAULTS
    lines = (
        f"{PARSE}args, model = HfArgumentParser((GRPOConfig, ModelConfig)).parse_dict({{'beta': 0.2}})\n"
        "args.model_init_kwargs = dict(revision=model.model_revision, attn_implementation=model.attn_implementation)"
    )
    raw, said = read(f"{HEAD}{lines}\n{TRAIN}trainer.train()\n")
    assert raw["model"]["revision"] == "main" and "computed" not in said, said


def test_settings_that_a_condition_spreads_are_named_one_by_one():
    found, said = trained("args = GRPOConfig('o', beta=0.2, **({'use_vllm': True, 'top_k': 3} if big() else {}))")
    assert found == {"beta": 0.2}
    for name, value in (("use_vllm", "True"), ("top_k", "3")):
        assert f"{name} (line 8) depends on a condition (it may be {value}): set it here." in said


def test_what_is_set_only_where_the_environment_says_so_is_named():
    condition = "if int(os.environ.get('WORLD_SIZE', 1)) > 1:\n    args.ddp_find_unused_parameters = False"
    said = trained(f"args = GRPOConfig('o')\n{condition}")[1]
    assert "does not hold by default, so its block was not taken: args.ddp_find_unused_parameters = …" in said
