"""What a script is given from outside (command line, environment, files), and rows that it maps in batches: followed as
far as the script says it, and named where it does not."""

from __future__ import annotations

from typing import Any

import pytest

from groupwise.storage.checks.script_reader import read_script
from groupwise.storage.checks.script_reader.recipe import without_repeats
from tests.support.foreign_scripts import without_closing

TOP = """
import os, inspect
from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer


def score(completions, **kwargs):
    return [0.0 for _ in completions]


"""


def read(text: str) -> tuple[dict[str, Any], str]:
    found = read_script(TOP + text)
    return found.raw, "\n".join(without_closing(found.notes))


# ---- the command line ----
CLICK = """
import click


@click.command()
@click.option("--lr", default=1e-5, help="the rate")
@click.option("-g", "--num-generations", type=int, default=8)
@click.option("--bf16/--no-bf16", default=True)
@click.option("--quick", is_flag=True)
@click.option("--name", "run", required=True)
@click.option("--beta", type=float)
@click.argument("model")
def main(lr, num_generations, bf16, quick, run, beta, model):
    args = GRPOConfig(learning_rate=lr, num_generations=num_generations, bf16=bf16, use_vllm=quick, run_name=run,
                      beta=beta)
    GRPOTrainer(model, score, args, load_dataset("a/b", split="train")).train()


if __name__ == "__main__":
    main()
"""
TYPER = """
import typer
app = typer.Typer()


@app.command()
def train(model: str = typer.Option("a/m", help="x"), lr: float = typer.Option(..., "--lr"), steps: int = 10):
    GRPOTrainer(model, score, GRPOConfig(learning_rate=lr, max_steps=steps)).train()


if __name__ == "__main__":
    app()
"""
HYDRA = """
import hydra
from omegaconf import DictConfig, OmegaConf

both = OmegaConf.merge(OmegaConf.create({"train": {"beta": 0.1, "seed": 3}}), OmegaConf.create("train:\\n  seed: 4"))


@hydra.main(version_base=None, config_path="conf", config_name="grpo")
def main(cfg: DictConfig):
    args = GRPOConfig(learning_rate=float(cfg.train.lr), beta=both.train.beta, seed=both["train"]["seed"])
    GRPOTrainer(cfg.model.name, score, args).train()


if __name__ == "__main__":
    main()
"""


def test_the_options_of_click_are_their_defaults():
    raw, said = read(CLICK)
    assert raw["training"] == {
        "learning_rate": 1e-5,
        "num_generations": 8,
        "bf16": True,
        "use_vllm": False,
        "beta": None,
    }
    assert "run_name (line 20) is read from the command line (--name): set it here." in said
    assert "The model (line 22) is read from the command line (model): set it here." in said
    assert "The command line (line 23) is read: where it has defaults, those were taken." in said


def test_the_options_of_typer_are_their_defaults():
    raw, said = read(TYPER)
    assert raw["training"] == {"max_steps": 10} and raw["model"]["id"] == "a/m"
    assert "learning_rate (line 17) is read from the command line (an argument without a default)" in said
    assert "typer" not in said and "app" not in said.replace("apply", "")


def test_what_hydra_reads_is_named_by_its_file_and_what_the_script_itself_says_is_taken():
    raw, said = read(HYDRA)
    assert raw["training"] == {"beta": 0.1, "seed": 4}
    for words in ("The model (line 21) is read from Hydra's file (conf/grpo.yaml): set it here.",
                  "learning_rate (line 20) is read from Hydra's file (conf/grpo.yaml): set it here."):  # fmt: skip
        assert words in said
    assert "The command line" not in said and "OmegaConf" not in said


PARSED = [
    ("import fire\ndef main(rate=2e-6):\n    go(rate)\nfire.Fire(main)", {"learning_rate": 2e-6}),
    ("import tyro\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    rate: float = 3e-6\n"
     "go(tyro.cli(A).rate)", {"learning_rate": 3e-6}),
    ("from transformers import HfArgumentParser\nfrom dataclasses import dataclass, field\n@dataclass\nclass A:\n"
     "    rate: float = field(default=4e-6)\n(a,) = HfArgumentParser(A).parse_args_into_dataclasses()\ngo(a.rate)",
     {"learning_rate": 4e-6}),
    ("import yaml\ngo(yaml.safe_load('rate: 5.0e-6\\n')['rate'])", {"learning_rate": 5e-6}),
    ("import json\ngo(json.loads('{\"rate\": 0.5}')['rate'])", {"learning_rate": 0.5}),
    ("go(float(os.environ.get('RATE', '6e-6')))", {"learning_rate": 6e-6}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "training"), PARSED, ids=[row[0][:20] for row in PARSED])
def test_defaults_that_the_script_says_are_taken(text: str, training: dict[str, Any]):
    go = "def go(rate):\n    GRPOTrainer('a/m', score, GRPOConfig(learning_rate=rate)).train()\n"
    assert read(go + text)[0]["training"] == training


UNKNOWN = [
    ("import argparse\np = argparse.ArgumentParser()\np.add_argument('--rate', required=True)\n"
     "rate = p.parse_args().rate", "(line 13) is read from the command line (--rate): set it here."),
    ("import yaml\nc = yaml.safe_load(open('x.yaml'))\nrate = float(c['train']['rate'])",
     "(line 13) is read from a file (float(c['train']['rate'])): set it here."),
    ("rate = os.environ['RATE']", "(line 11) is read from the environment (os.environ['RATE']): set it here."),
    ("rate = best()", "(line 11) is computed by the script: set it here."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), UNKNOWN, ids=[row[1][:30] for row in UNKNOWN])
def test_what_the_script_does_not_say_is_named_by_where_it_is(text: str, words: str):
    raw, said = read(f"{text}\nGRPOTrainer('a/m', score, GRPOConfig(learning_rate=rate)).train()")
    assert raw["training"] == {} and f"learning_rate {words}" in said, said


def test_a_variable_with_a_default_is_said():
    said = read("M = os.getenv('MODEL', 'a/m')\nGRPOTrainer(M, score).train()")[1]
    assert "MODEL (line 11) is read from the environment: its default was taken." in said


# ---- what the installed TRL has ----
@pytest.mark.parametrize(
    "asked",
    [
        "'beta' in inspect.signature(GRPOConfig.__init__).parameters",
        "'beta' in set(inspect.signature(GRPOConfig).parameters.keys())",
        "hasattr(GRPOConfig, 'beta')",
        "'beta' in GRPOConfig.__dataclass_fields__",
    ],
)
def test_a_setting_that_the_script_gives_if_trl_has_it_is_taken(asked: str):
    text = f"given = {{'seed': 1}}\nif {asked}:\n    given['beta'] = 0.2\nelse:\n    given['kl'] = 0.2\n"
    assert read(f"{text}GRPOTrainer('a/m', score, GRPOConfig(**given)).train()")[0]["training"] == {
        "seed": 1,
        "beta": 0.2,
    }


def test_settings_that_are_sifted_by_what_trl_has_are_taken():
    text = "known = set(inspect.signature(GRPOConfig.__init__).parameters)\ngiven = {'seed': 1, 'top_k': 2}\n"
    text += "args = GRPOConfig(**{k: v for k, v in given.items() if k in known and v})\n"
    raw, said = read(f"{text}GRPOTrainer('a/m', score, config=args).train()")
    assert raw["training"] == {"seed": 1, "top_k": 2}
    assert "config (line 14) is no argument of TRL's GRPOTrainer: it was read as args." in said


# ---- rows in batches ----
BATCHES = [
    ("lambda b: {'prompt': ['Q: ' + q for q in b['q']], 'answer': [a.strip() for a in b['a']]}",
     {"prompt_template": "Q: {q}", "answer_column": "a"}),
    ("lambda b: {'prompt': [[{'role': 'system', 'content': 'S'}, {'role': 'user', 'content': q}] for q in b['q']]}",
     {"system_prompt": "S", "prompt_template": "{q}", "answer_column": None}),
    ("several", {"prompt_template": "Q {q}", "answer_column": "a", "answer_pattern": r"####\s*(.+)"}),
    ("in_place", {"prompt_template": "Q {q}", "answer_column": None}),
    ("by_number", {"prompt_template": "Q {q}", "answer_column": "a"}),
]  # fmt: skip
FUNCTIONS = """
def several(batch):
    prompts, answers = [], []
    for q, a in zip(batch["q"], batch["a"]):
        prompts.append(f"Q {q}")
        answers.append(a.split("####")[1].strip())
    return {"prompt": prompts, "answer": answers}


def in_place(batch):
    batch["prompt"] = [f"Q {q}" for q in batch["q"]]
    return batch


def by_number(batch):
    out = {"prompt": [], "answer": []}
    for i in range(len(batch["q"])):
        out["prompt"].append(f"Q {batch['q'][i]}")
        out["answer"].append(batch["a"][i])
    return out


def doubles(batch):
    return {"prompt": batch["q"] + batch["q"]}
"""


def data_of(step: str) -> tuple[dict[str, Any], str]:
    raw, said = read(
        f"{FUNCTIONS}data = load_dataset('x/y', split='train'){step}\nGRPOTrainer('a/m', score, None, data).train()"
    )
    return {name: value for name, value in raw["data"].items() if name not in ("source", "split")}, said


@pytest.mark.parametrize(("function", "data"), BATCHES, ids=[row[0][:30] for row in BATCHES])
def test_a_function_on_batches_is_followed_for_a_row(function: str, data: dict[str, Any]):
    found, said = data_of(f".map({function}, batched=True)")
    assert found == data and "batched" not in said


def test_one_that_makes_other_rows_than_it_gets_is_said():
    found, said = data_of(".map(doubles, batched=True)")
    assert found == {"prompt_column": "prompt", "answer_column": None}
    assert "map(…, batched=True) (line 35) makes rows of a batch in a way that was not followed" in said


def test_a_function_that_gets_the_rows_number_is_followed():
    found, said = data_of(".map(lambda row, i: {'prompt': row['q'], 'answer': i}, with_indices=True)")
    assert found["prompt_column"] == "q" and "“answer” (line 35) is computed by the script" in said


def test_a_step_under_a_condition_is_left_out_and_the_rest_is_followed():
    text = "data = load_dataset('x/y', split='train').map(lambda r: {'prompt': r['q']})\nif small():\n"
    raw, said = read(f"{text}    data = data.select(range(9))\nGRPOTrainer('a/m', score, None, data).train()")
    assert raw["data"] == {"source": "hub:x/y", "split": "train", "prompt_column": "q", "answer_column": None}
    assert "select(…) (line 13) depends on a condition: it was not taken." in said


MESSAGES = "[{'role': 'system', 'content': 'Be brief.'}, {'role': 'user', 'content': row['q']}]"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (f"    if terse():\n        row['prompt'] = {MESSAGES}\n", "depends on a condition"),
        (f"    if terse():\n        row['prompt'] = {MESSAGES}\n    else:\n        row['prompt'] = {MESSAGES}[1:]\n",
         "depends on a condition"),
        (f"    if terse():\n        row.update(prompt={MESSAGES})\n", "depends on a condition"),
        (f"    m = {MESSAGES}\n    terse() and m.pop(0)\n    row['prompt'] = m\n", "is made by the script"),
        (f"    m = {MESSAGES}\n    m.pop(0) if terse() else None\n    row['prompt'] = m\n", "is made by the script"),
        (f"    m = {MESSAGES}\n    if terse():\n        del m[0]\n    row['prompt'] = m\n", "is made by the script"),
    ],
)  # fmt: skip
def test_a_prompt_that_a_condition_decides_is_said_and_none_of_it_guessed(body: str, why: str) -> None:
    text = f"def add(row):\n{body}    return row\ndata = load_dataset('x/y', split='train').map(add)\n"
    raw, said = read(f"{text}GRPOTrainer('a/m', score, None, data).train()")
    assert raw["data"] == {"source": "hub:x/y", "split": "train", "answer_column": None}
    assert f"{why}: set its template here." in said


def test_a_prompt_that_is_made_behind_a_condition_that_returns_is_said():
    text = f"def add(row):\n    if not terse():\n        return row\n    row['prompt'] = {MESSAGES}\n    return row\n"
    raw, said = read(f"{text}data = load_dataset('x/y').map(add)\nGRPOTrainer('a/m', score, None, data).train()")
    assert "system_prompt" not in raw["data"] and "makes rows in a way that was not followed" in said


def test_an_answer_that_a_condition_decides_is_taken_and_said() -> None:
    text = "def cut(row):\n    if long(row):\n        row['answer'] = row['answer'].split('####')[1]\n    return row\n"
    raw, said = read(f"{text}data = load_dataset('x/y').map(cut)\nGRPOTrainer('a/m', score, None, data).train()")
    assert raw["data"]["answer_column"] == "answer" and raw["data"]["answer_pattern"]
    assert "“answer” (line 13) depends on a condition in the script: look at it in the preview." in said


# ---- found in scripts that people publish ----
def test_functions_of_the_block_that_runs_as_a_script_come_along():
    text = (
        "if __name__ == '__main__':\n    LIMIT = 9\n    def short(text):\n        return len(text) < LIMIT\n"
        '    def judge(completions, **kwargs):\n        """Short ones."""\n'
        "        return [float(short(c)) for c in completions]\n    GRPOTrainer('a/m', judge).train()\n"
    )
    (one,) = read_script(TOP + text).functions
    assert one.problems == [] and one.code.startswith("LIMIT = 9\n\n\ndef short(text):\n    return len(text) < LIMIT\n")
    assert '\n\n\ndef judge(completions, **kwargs):\n    """Short ones."""\n' in one.code


def test_of_functions_that_nobody_calls_the_outermost_is_followed():
    text = (
        "def build(model, rate):\n    return GRPOTrainer(model, score, GRPOConfig(learning_rate=rate))\n"
        "def experiment():\n    build('a/m', 1e-4).train()\n"
    )
    raw, said = read(text)
    assert raw["model"]["id"] == "a/m" and raw["training"] == {"learning_rate": 1e-4}
    assert "experiment (line 13) is called nowhere in the script" in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("data = load_dataset('/home/me/gsm8k', 'main')['train']",
         "The dataset “/home/me/gsm8k” (line 11) is no dataset of the hub: where it is a folder, upload its data"),
        ("data = load_dataset('a/b')[which()]",
         "The split of the data (line 11) is computed by the script: set data.split"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_source_says_what_to_do(text: str, words: str):
    raw, said = read(f"{text}\nGRPOTrainer('a/m', score, None, data).train()")
    assert words in said and "/home" not in str(raw)


def test_a_look_at_a_row_or_a_tokenizer_is_not_worth_a_note():
    text = (
        "from transformers import AutoTokenizer\ndef cut(t):\n    return t.split('#')[1]\n"
        "data = load_dataset('a/b', split='train')\ncut(data[0]['answer'])\ndata[0]\n"
        "tok = AutoTokenizer.from_pretrained('a/m')\nprint(tok.apply_chat_template([], tokenize=False))\n"
        "get_ipython().system('pip install x')\nGRPOTrainer('a/m', score, None, data, processing_class=tok).train()"
    )
    found = read_script(TOP + text)
    assert without_closing(found.notes) == [
        "Left out, as they are for the notebook or the shell: get_ipython().system (line 19)."
    ]


# ---- recipes ----
def test_a_recipe_that_says_a_setting_twice_is_read_with_the_last():
    text = "model_name_or_path: a/b\nreward_funcs:\n- accuracy\nseed: 1\nreward_funcs:\n- format\nseed: 2\n"
    once, said = without_repeats(text)
    assert once.count("\n") == text.count("\n") and said == [
        "reward_funcs is given twice (lines 2 and 5): the last was taken.",
        "seed is given twice (lines 4 and 7): the last was taken.",
    ]
