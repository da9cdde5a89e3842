"""Scripts, notebooks and recipes in the manner of those that people bring: what each comes to, whole."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from groupwise.storage.checks.script_reader import read_script
from groupwise.storage.checks.script_reader.notebook import read_notebook
from groupwise.storage.checks.script_reader.recipe import is_recipe, read_recipe
from groupwise.storage.spec.spec import from_dict
from groupwise.storage.spec.yaml import yaml_text
from tests.support.foreign_scripts import (
    COMMAND_LINE,
    GSM8K,
    OPEN_R1_MAIN,
    OPEN_R1_RECIPE,
    TRL_RECIPE,
    UNSLOTH,
    UNSLOTH_NOTEBOOK,
    notebook,
    without_closing,
)
from tests.support.scripts import COURSE, QUICKSTART, VLLM


def said_by(text: str) -> tuple[dict[str, Any], str]:
    found = read_script(text)
    return found.raw, "\n".join(found.notes)


def test_a_course_script_with_what_is_cut_out_of_its_answers():
    raw, said = said_by(GSM8K)
    spec = from_dict(raw)
    assert (spec.data.source, spec.data.config, spec.data.split) == ("hub:openai/gsm8k", "main", "train")
    assert (spec.data.answer_column, spec.data.answer_pattern) == ("answer", r"####\s*(.+)")
    assert spec.data.answer_numbers == "point"
    assert spec.data.system_prompt == "Think first, then answer." and spec.data.prompt_template == "{question}"
    assert spec.lora is None and spec.training == {"learning_rate": 1e-6, "num_generations": 8}
    for words in (
        "set_seed(…) (line 8)",
        "replace(',', '') and replace('$', '') (line 32)",
        "A dataset (line 43) does not reach the trainer",
        "LoraConfig(…) (line 45) does not reach",
        "trainer.save_model(…) (line 52)",
    ):
        assert words in said
    assert len(without_closing(said.split("\n"))) == 5


def test_an_unsloth_notebook_with_the_cell_of_each_note():
    raw, said = said_by(UNSLOTH_NOTEBOOK)
    assert raw["model"] == {"id": "unsloth/Qwen3-4B-Base"}
    assert raw["lora"] == {"r": 32, "target_modules": ["q_proj", "v_proj"], "lora_alpha": 64}
    assert raw["training"] == {
        "temperature": 1.0,
        "min_p": 0.1,
        "learning_rate": 5e-6,
        "max_completion_length": 824,
        "max_steps": 100,
    }
    assert raw["data"] == {
        "source": "hub:open-r1/DAPO-Math-17k-Processed",
        "config": "en",
        "split": "train",
        "prompt_template": "{prompt}",
        "answer_column": "solution",
    }
    for words in (
        "PatchFastRL(…) (code cell 2, line 3)",
        "max_seq_length (code cell 2, line",
        "fast_inference (code",
        "gpu_memory_utilization (code",
        "random_state (code",
        "model.save_lora(…) (code cell 3",
        "model.fast_generate.",
        "“!pip install unsloth vllm \\” (code cell 1, line 2)",
        "“%%capture” (code cell 1, line 1)",
    ):
        assert words in said, words


def test_open_r1s_script_says_that_its_recipe_is_what_to_import():
    raw, said = said_by(OPEN_R1_MAIN)
    assert raw["training"] == {} and "rewards" not in raw and "source" not in raw["data"]
    for words in (
        "The training settings (line 49) are read from the command line or a file",
        "a recipe in YAML",
        "A reward (line 25) is made by calling get_reward_funcs",
        "callbacks (line 38)",
        "eval_dataset (line 36)",
        "The model (line 24) is computed",
        "The dataset (line 22)",
        "peft_config (line 37)",
        "processing_class (line 23)",
        "trainer.push_to_hub(…) (line 44)",
        "get_last_checkpoint(…) (line 21)",
    ):
        assert words in said, words


def test_a_script_with_a_command_line_takes_its_defaults_and_says_so():
    raw, said = said_by(COMMAND_LINE)
    assert raw["model"]["id"] == "Qwen/Qwen3-0.6B"
    assert raw["training"] == {"learning_rate": 2e-6, "max_steps": 300, "use_vllm": False, "logging_steps": 5}
    assert raw["rewards"] == [
        {"name": "regular_expression", "parameters": {"pattern": r"\A<think>(?!.*<think>).*?</think>"}, "weight": 1.0},
        {
            "name": "soft_overlong_punishment",
            "parameters": {"max_completion_len": 1024, "soft_punish_cache": 128},
            "weight": 1.0,
        },
    ]
    assert "The command line (line 21) is read" in said
    assert "run_name (line 20) is read from the command line (--run-name): set it here." in said


SCRIPTS = {
    "quickstart": QUICKSTART,
    "course": COURSE,
    "vllm": VLLM,
    "gsm8k": GSM8K,
    "unsloth": UNSLOTH,
    "cli": COMMAND_LINE,
}
# Said elsewhere under another name, or what nobody needs to be told of.
ELSEWHERE = {
    "output_dir",
    "reward_funcs",
    "args",
    "train_dataset",
    "model",
    "peft_config",
    "processing_class",
    "reward_weights",
    "split",
    "data_files",
    "seed",
    "test_size",
    "tokenize",
    "add_generation_prompt",
    "name",
    "remove_columns",
    "default",
    "type",
    "action",
    "required",
    "default_factory",
    "limit",
    "device_map",
    "torch_dtype",
    "dtype",
    "task_type",
    "load_in_4bit",
    "quantization_config",
    "bnb_4bit_quant_type",
    "sampling_params",
    "min_p",
    "report_to",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_keyword_of_a_call_is_in_the_spec_or_in_a_note(name: str):
    raw, said = said_by(SCRIPTS[name])
    text = yaml_text.dump(raw) + said
    functions = [node for node in ast.parse(SCRIPTS[name]).body if isinstance(node, ast.FunctionDef)]
    bodies = {
        id(inner) for function in functions if "kwargs" in ast.unparse(function.args) for inner in ast.walk(function)
    }
    calls = [node for node in ast.walk(ast.parse(SCRIPTS[name])) if isinstance(node, ast.Call)]
    keywords = {word.arg for call in calls if id(call) not in bodies for word in call.keywords if word.arg}
    missing = {word for word in keywords - ELSEWHERE if word not in text}
    # what only one of several values of a dict is, or a dtype, has another name in the spec
    assert missing <= {"model_name", "pretrained_model_name_or_path", "max_completion_len", "fn_kwargs"}, missing


# ---- recipes ----
def recipe(text: str) -> tuple[dict[str, Any], str]:
    raw, lines = yaml_text.read_yaml(text)
    assert is_recipe(raw)
    found, notes = read_recipe(raw, lines)
    return found, "\n".join(notes)


def test_a_recipe_of_open_r1():
    raw, said = recipe(OPEN_R1_RECIPE)
    spec = from_dict(raw)
    assert spec.name == "Qwen2.5-1.5B-Open-R1-GRPO"
    assert spec.model.model_dump(exclude_none=True) == {
        "id": "Qwen/Qwen2.5-1.5B-Instruct",
        "revision": "main",
        "dtype": "bfloat16",
        "attn_implementation": "flash_attention_2",
    }
    assert spec.data.source == "hub:open-r1/OpenR1-Math-220k" and spec.data.prompt_template == "{problem}"
    assert spec.data.system_prompt == "You are a helpful AI assistant." and spec.data.answer_column == "solution"
    assert [(one.name, one.weight) for one in spec.rewards] == [
        ("math_equivalence", 1.0),
        ("regular_expression", 1.0),
        ("format", 0.5),
        ("cosine_length", 0.25),
    ]
    assert (
        spec.rewards[3].parameters == {"max_len": 1024, "min_value_wrong": 0.0}
        and spec.rewards[2].parameters["strict"] is False
    )
    assert spec.training["gradient_checkpointing_kwargs"] == {"use_reentrant": False} and spec.training["seed"] == 42
    for words in (
        "repetition_n_grams (line 43) has no effect",
        "names “length”, which was not taken",
        "names “accuracy”, which became the built-in “math_equivalence”",
    ):
        assert words in said


def test_a_recipe_of_trl():
    raw, said = recipe(TRL_RECIPE)
    assert raw["lora"] == {"r": 8, "lora_alpha": 32, "lora_dropout": 0.05, "target_modules": ["q_proj", "v_proj"]}
    assert raw["model"] == {"dtype": "float32", "id": "Qwen/Qwen2-0.5B-Instruct", "quantization": "4bit"}
    assert raw["data"]["prompt_column"] == "prompt" and raw["training"] == {"learning_rate": 1e-5, "max_steps": 100}
    assert [one["name"] for one in raw["rewards"]] == [
        "math_equivalence",
        "regular_expression",
        "soft_overlong_punishment",
        "mine",
    ]
    assert "reward_funcs (line 4) names “mine”: only its name was taken." in said


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("chat_template: x", "chat_template (line 3) was not taken: the model's own chat template is used."),
        ("benchmarks: [math]", "benchmarks (line 3)"),
        ("callbacks: [push]", "callbacks (line 3)"),
        ("resume_from_checkpoint: x", "resume_from_checkpoint (line 3) was left out: use Resume"),
        ("trust_remote_code: true", "trust_remote_code (line 3) was left out"),
        ("dataset_test_split: test", "dataset_test_split (line 3) was not taken"),
        ("dataset_mixture: {datasets: [{id: a/b}, {id: c/d}]}", "dataset_mixture (line 3) was not taken"),
        ("datasets: [{path: a/b, columns: [x]}]", "datasets (line 3) has columns, which was not taken."),
        ("lora_r: 8", "The LoRA settings (lora_r) have no effect without use_peft: true"),
        ("use_peft: yes please", "use_peft (line 3) is of another kind"),
        ("torch_dtype: int3", "torch_dtype (line 3) should be one of"),
        ("dataset_name: ./data/x", "is not a dataset of the hub"),
        ("reward_weights: [1, 2, 3]", "does not have one number for each of the 1 rewards: each weighs 1."),
        ("reward_model_name_or_path: [x]", "reward_model_name_or_path (line 3) is of another kind"),
        ("code_language: python", "code_language (line 3)"),
        ("push_to_hub_revision: true", "push_to_hub_revision (line 3)"),
        ("accelerate_config: zero3", "accelerate_config (line 3) was not taken: processes are started by Groupwise"),
        ("env: {NCCL_DEBUG: INFO}", "env (line 3) was not taken: environment variables are set where"),
    ],
)
def test_what_a_recipe_says_that_has_no_place_is_said(line: str, words: str):
    raw, said = recipe(f"model_name_or_path: a/b\nreward_funcs: [think_format_reward]\n{line}\n")
    assert words in said, said
    from_dict(raw)


def test_the_processes_of_a_recipe_are_those_of_the_run():
    raw, _ = recipe("model_name_or_path: a/b\nreward_funcs: [think_format_reward]\nnum_processes: 8\n")
    assert raw["launch"] == {"processes": 8} and "num_processes" not in raw["training"]
    from_dict(raw)


def test_a_mixture_goes_before_a_dataset_that_is_named_beside_it():
    """The dataset of the one was taken with the config and the split of the other."""
    beside = "dataset_name: x/y\ndataset_config: z\nreward_funcs: [think_format_reward]\n"
    one = "dataset_mixture: {datasets: [{id: a/b, config: c, split: s, weight: 0.5}], seed: 3, test_split_size: 0.1}"
    raw, said = recipe(f"{beside}{one}")
    data = raw["data"]
    assert (data["source"], data["config"], data["split"]) == ("hub:a/b", "c", "s") and "holdout" not in data
    for words in (
        "dataset_name (line 1) was not taken: the datasets of dataset_mixture go before it.",
        "dataset_config (line 2) was not taken: the datasets of dataset_mixture go before it.",
        "dataset_mixture (line 4) has weight, which was not taken.",
        "dataset_mixture (line 4) has seed, which was not taken. Set data.shuffle.",
        "dataset_mixture (line 4) has test_split_size, which was not taken. Set data.holdout.",
    ):
        assert words in said, said
    raw, said = recipe(f"{beside}dataset_mixture: {{datasets: [{{id: a/b}}, {{id: c/d}}]}}")
    assert "source" not in raw["data"] and "names no dataset" not in said
    assert "The recipe mixes a/b and c/d, and a run has one dataset: choose it here." in said


def test_a_recipe_with_one_dataset_in_its_mixture_and_a_reward_model():
    raw, said = recipe("datasets: [{path: a/b, name: c, split: test}]\nreward_model_name_or_path: r/m\nreward_funcs: 7")
    assert raw["data"]["source"] == "hub:a/b" and raw["data"]["config"] == "c" and raw["data"]["split"] == "test"
    assert raw["rewards"] == [{"name": "reward_model", "parameters": {"models": ["r/m"]}, "weight": 1.0}]
    assert without_closing(said.split("\n")) == ["The recipe names no model: choose one here."]


@pytest.mark.parametrize("raw", [{"name": "x", "rewards": []}, {}, [], "x", {"model": {}, "reward_funcs": []}])
def test_what_is_no_recipe_is_none(raw: object):
    assert not is_recipe(raw)


# ---- notebooks ----
def test_lines_for_the_notebook_are_taken_out_with_what_goes_on_after_a_backslash():
    code = read_notebook(
        notebook("!pip install a \\\n  b \\\n  c\nx = 1", "%%bash\nls\ncd x", "if x:\n    %cd y\nz = !ls\nhelp?")
    )
    tree = ast.parse(code.text)
    assert [ast.unparse(node) for node in tree.body] == ["x = 1", "if x:\n    pass"]
    assert [code.place(line) for line, _ in code.left_out] == [
        "code cell 1, line 1",
        "code cell 2, line 1",
        "code cell 3, line 2",
        "code cell 3, line 3",
        "code cell 3, line 4",
    ]
    assert (code.note() or "").endswith(" and 1 more.")


def test_a_magic_inside_a_text_stays():
    code = read_notebook(notebook('x = """\n!not a command\n%neither\n"""\n!pip install a'))
    assert ast.parse(code.text).body[0].value.value == "\n!not a command\n%neither\n"  # type: ignore[attr-defined]
    assert [line for _, line in code.left_out] == ["!pip install a"]


def test_a_notebook_of_the_oldest_format_and_one_with_odd_cells():
    old = {"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1\n", "y = 2"]}]}]}
    assert read_notebook(json.dumps(old)).text == "x = 1\ny = 2"
    odd = {"cells": [3, None, {"cell_type": "code"}, {"cell_type": "code", "source": [1, "z = 3"]}, {"cell_type": {}}]}
    assert read_notebook(json.dumps(odd)).text == "\nz = 3"
