"""Scripts that people have: what of them is taken, what is said of the rest, and what is refused with a sentence."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.problem import SpecError
from storage.script import to_script
from storage.script_read import from_script
from storage.spec import from_dict
from tests.runs import make_spec

QUICKSTART = """
from datasets import load_dataset
from trl import GRPOTrainer
from trl.rewards import accuracy_reward

dataset = load_dataset("trl-lib/DeepMath-103K", split="train")

trainer = GRPOTrainer(
    model="Qwen/Qwen2.5-0.5B-Instruct",
    reward_funcs=accuracy_reward,
    train_dataset=dataset,
)
trainer.train()
"""

COURSE = '''
import re
import torch
from datasets import load_dataset, Dataset
from peft import LoraConfig, TaskType
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

SYSTEM_PROMPT = """
Respond in the following format:
<reasoning>
...
</reasoning>
"""


def extract_hash_answer(text: str) -> str | None:
    if "####" not in text:
        return None
    return text.split("####")[1].strip()


def get_gsm8k_questions(split="train") -> Dataset:
    data = load_dataset("gsm8k", "main")[split]
    data = data.map(lambda x: {
        "prompt": [
            {"role": "system", "content": SYSTEM_PROMPT},
            {"role": "user", "content": "What is 2+2?"},
            {"role": "assistant", "content": "4"},
            {"role": "user", "content": x["question"]},
        ],
        "answer": extract_hash_answer(x["answer"]),
    })
    return data


dataset = get_gsm8k_questions().shuffle(seed=42).select(range(500))


def correctness_reward_func(prompts, completions, answer, **kwargs) -> list[float]:
    return [0.0]


def int_reward_func(completions, **kwargs) -> list[float]:
    return [0.0]


model_name = "Qwen/Qwen2.5-1.5B-Instruct"
training_args = GRPOConfig(
    output_dir="outputs/Qwen-1.5B-GRPO",
    run_name="Qwen-1.5B-GRPO-gsm8k",
    learning_rate=5e-6,
    adam_beta1=0.9,
    lr_scheduler_type="cosine",
    bf16=torch.cuda.is_bf16_supported(),
    per_device_train_batch_size=1,
    gradient_accumulation_steps=2 * 2,
    num_generations=16,
    max_prompt_length=256,
    max_completion_length=786,
    save_steps=100,
    report_to="wandb",
    log_on_each_node=False,
)
training_args.beta = 0.04
peft_config = LoraConfig(
    r=16,
    lora_alpha=64,
    target_modules=["q_proj", "k_proj"],
    task_type="CAUSAL_LM",
    lora_dropout=0.05,
)
model = AutoModelForCausalLM.from_pretrained(
    model_name, torch_dtype=torch.bfloat16, attn_implementation="flash_attention_2", device_map=None
).to("cuda")
tokenizer = AutoTokenizer.from_pretrained(model_name)
trainer = GRPOTrainer(
    model=model,
    processing_class=tokenizer,
    reward_funcs=[correctness_reward_func, int_reward_func],
    args=training_args,
    train_dataset=dataset,
    peft_config=peft_config,
)
trainer.train()
'''

VLLM = """
import os
from dataclasses import dataclass
from datasets import load_dataset
from peft import LoraConfig, TaskType, get_peft_model
from transformers import AutoModelForCausalLM, BitsAndBytesConfig
from trl import GRPOConfig, GRPOTrainer
from my_rewards import format_reward, accuracy as accuracy_reward, rubric


class CFG:
    model = "meta-llama/Llama-3.2-3B-Instruct"
    lr = 1e-5
    seed: int = 7


COMMON = dict(learning_rate=CFG.lr, logging_steps=10, seed=CFG.seed)
VLLM = {"use_vllm": True, "vllm_mode": "colocate", "vllm_gpu_memory_utilization": 0.3}
weights = [1.0, 2, -0.5]


def make_conversation(example):
    return {
        "prompt": [{"role": "user", "content": f"Problem: {example['problem']}\\nLevel {example['level']}."}],
        "solution": example["solution"],
    }


def main():
    train = load_dataset("json", data_files={"train": "./corpus/math.jsonl"}, split="train")
    test = load_dataset("json", data_files="test.jsonl", split="test")
    train = train.filter(lambda row: row["level"] < 4)
    train = train.map(make_conversation, remove_columns=["messages"])
    splits = train.train_test_split(test_size=0.1)
    bnb = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4")
    base = AutoModelForCausalLM.from_pretrained(
        CFG.model, revision="v1", quantization_config=bnb, dtype="bfloat16"
    )
    model = get_peft_model(base, LoraConfig(task_type=TaskType.CAUSAL_LM, r=8, target_modules={"q_proj"}))
    config = GRPOConfig(
        "llama-grpo/", **COMMON, **VLLM, num_generations=int(os.environ["N"]), reward_weights=weights, max_steps=10**3,
        hub_token="hf_abcdefghijklmnop", push_to_hub=True, **extra_settings(),
    )
    trainer = GRPOTrainer(model, [format_reward, accuracy_reward, rubric], config, splits["train"], splits["test"])
    trainer.train()


if __name__ == "__main__":
    main()
"""


def test_the_quickstart_of_trl():
    raw, notes = from_script(QUICKSTART)
    spec = from_dict(raw)
    assert spec.model.id == "Qwen/Qwen2.5-0.5B-Instruct" and spec.model.dtype == "float32"  # as TRL loads a name
    assert spec.data.source == "hub:trl-lib/DeepMath-103K" and spec.data.split == "train"
    assert spec.data.prompt_column == "prompt" and spec.data.answer_column is None
    assert [(reward.name, reward.weight) for reward in spec.rewards] == [("accuracy_reward", 1.0)]
    assert (spec.training, spec.lora, spec.name) == ({}, None, "from-script")
    assert notes == ["Of the reward functions (accuracy_reward) only the names were taken, not their code."]


def test_a_script_as_courses_write_them():
    raw, notes = from_script(COURSE)
    spec = from_dict(raw)
    assert spec.name == "Qwen-1.5B-GRPO-gsm8k"
    assert spec.model.model_dump() == {
        "id": "Qwen/Qwen2.5-1.5B-Instruct", "revision": None, "dtype": "bfloat16", "quantization": None,
        "attn_implementation": "flash_attention_2",
    }  # fmt: skip
    assert spec.lora == {"r": 16, "lora_alpha": 64, "target_modules": ["q_proj", "k_proj"], "task_type": "CAUSAL_LM",
                         "lora_dropout": 0.05}  # fmt: skip
    assert spec.training == {
        "run_name": "Qwen-1.5B-GRPO-gsm8k", "learning_rate": 5e-6, "adam_beta1": 0.9, "lr_scheduler_type": "cosine",
        "per_device_train_batch_size": 1, "gradient_accumulation_steps": 4, "num_generations": 16,
        "max_prompt_length": 256, "max_completion_length": 786, "save_steps": 100, "log_on_each_node": False,
        "beta": 0.04,
    }  # fmt: skip
    data = spec.data
    assert (data.source, data.config, data.shuffle, data.limit) == ("hub:openai/gsm8k", "main", 42, 500)
    assert data.system_prompt == "\nRespond in the following format:\n<reasoning>\n...\n</reasoning>\n"
    assert [(example.prompt, example.completion) for example in data.examples] == [("What is 2+2?", "4")]
    assert (data.prompt_template, data.answer_column, data.answer_pattern) == ("{question}", "answer", r"####\s*(.+)")
    assert [reward.name for reward in spec.rewards] == ["correctness_reward_func", "int_reward_func"]
    line = COURSE[: COURSE.index("bf16=torch")].count("\n") + 1
    assert notes[0] == f"bf16 (line {line}) is computed by the script: set it here."
    assert len(notes) == 2


def test_a_script_with_lora_vllm_and_settings_from_everywhere():
    raw, notes = from_script(VLLM)
    spec = from_dict(raw)
    assert spec.name == "llama-grpo"
    assert spec.model.model_dump(exclude={"attn_implementation"}) == {
        "id": "meta-llama/Llama-3.2-3B-Instruct", "revision": "v1", "dtype": "bfloat16", "quantization": "4bit",
    }  # fmt: skip
    assert spec.lora == {"r": 8, "target_modules": ["q_proj"]}
    assert spec.training == {
        "learning_rate": 1e-5, "logging_steps": 10, "seed": 7, "use_vllm": True, "vllm_mode": "colocate",
        "vllm_gpu_memory_utilization": 0.3, "max_steps": 1000, "push_to_hub": True,
    }  # fmt: skip
    assert [(reward.name, reward.weight) for reward in spec.rewards] == [
        ("format_reward", 1.0), ("accuracy", 2.0), ("rubric", -0.5)
    ]  # fmt: skip
    data = spec.data
    assert (data.source, data.holdout) == ("file:math.jsonl", 0.1)
    assert data.prompt_template == "Problem: {problem}\nLevel {level}."
    assert data.answer_column == "solution"
    said = "\n".join(notes)
    for words in ("num_generations (line", "Some of the settings under training (line", "A filter (line", "upload it",
                  "hub_token (line", "“solution”"):  # fmt: skip
        assert words in said
    assert "hf_abc" not in said + str(raw)


PIECES = [
    # a part of a script, where to look, what is found
    ("GRPOTrainer(model='a/b', args=GRPOConfig(model_init_kwargs={'dtype': 'bfloat16', 'revision': 'x'}))",
     "model", {"id": "a/b", "dtype": "bfloat16", "revision": "x"}),
    ("m = M.from_pretrained('a/b')\nGRPOTrainer(m)", "model", {"id": "a/b"}),
    ("m = AutoModelForCausalLM.from_pretrained('a/b', torch_dtype=torch.half)\nm = wrap(m)\nGRPOTrainer(m)",
     "model", {"id": "a/b", "dtype": "float16"}),
    ("GRPOTrainer(model=args.model)", "model", {}),
    ("c = {'beta': 0.1}\nc['beta'] = f()\nGRPOConfig(**c)", "training", {}),
    ("lr = 1\nlr = 2\nGRPOConfig(learning_rate=lr)", "training", {}),
    ("def f(lr=1e-5):\n    GRPOConfig(learning_rate=lr)", "training", {}),
    ("A = {'beta': 0.1}\nGRPOConfig(**{**A, 'seed': 1} | dict(top_k=2))", "training",
     {"beta": 0.1, "seed": 1, "top_k": 2}),
    ("GRPOConfig(beta=-1e-3, seed=+1, top_p=1/2, a=[1, (2,)], b=None, c=True, d='x' 'y', e=[*[1], 2])", "training",
     {"beta": -1e-3, "seed": 1, "top_p": 0.5, "a": [1, [2]], "b": None, "c": True, "d": "xy", "e": [1, 2]}),
    ("GRPOConfig(a=10**10**10, b=1/0, c='x'*10**9, d=b'x', e=1j, f=..., g=x[0], h=f'{x!r}')", "training", {}),
    ("a = b\nb = a\nGRPOConfig(beta=a)", "training", {}),
    ("GRPOConfig(use_cpu=not torch.cuda.is_available(), output_dir=f'{x}')", "training", {}),
    ("GRPOTrainer(reward_funcs=[lambda completions: [0], partial(f, 1), 'org/reward-model', 3])", "rewards", None),
    ("GRPOTrainer(reward_funcs=[trl.rewards.x], args=GRPOConfig(reward_weights=[1, 2]))", "rewards",
     [{"name": "x", "weight": 1.0}]),
    ("load_dataset('a/b', split='train[:100]')\nGRPOConfig()", "data",
     {"source": "hub:a/b", "split": "train", "limit": 100, "prompt_column": "prompt", "answer_column": None}),
    ("load_dataset('a/b', split='test')\nload_dataset('a/b', split='train', streaming=True).take(9)\nGRPOConfig()",
     "data",
     {"source": "hub:a/b", "split": "train", "streaming": True, "limit": 9, "prompt_column": "prompt",
      "answer_column": None}),
    ("load_dataset('a/b')['dev'].rename_column('q', 'prompt')\nGRPOConfig()", "data",
     {"source": "hub:a/b", "split": "dev", "prompt_column": "q", "answer_column": None}),
    ("load_dataset(name)\nGRPOConfig()", "data", {"prompt_column": "prompt", "answer_column": None}),
    ("T = 'Q: {q}!'\nload_dataset('a/b').map(lambda r: {'prompt': T.format(q=r['question']), 'answer': str(r['a'])})\n"
     "GRPOConfig()", "data",
     {"source": "hub:a/b", "prompt_template": "Q: {question}!", "answer_column": "a"}),
    ("def f(r):\n    r['prompt'] = [dict(role='user', content='Q ' + r['q'])]\n    return r\n"
     "load_dataset('a/b').map(f)\nGRPOConfig()", "data",
     {"source": "hub:a/b", "prompt_template": "Q {q}", "answer_column": None}),
    ("h = 0x" + "f" * 5000 + "\nGRPOTrainer(reward_funcs=[f], args=GRPOConfig(reward_weights=[h], x=f'{h}'))",
     "training", {}),
    ("load_dataset('a/b').map(lambda r: {'prompt': build(r)})\nGRPOConfig()", "data",
     {"source": "hub:a/b", "answer_column": None}),
]  # fmt: skip


@pytest.mark.parametrize(("script", "part", "found"), PIECES, ids=[piece[0][:40] for piece in PIECES])
def test_what_is_plain_to_see_is_taken_and_nothing_else(script: str, part: str, found: object):
    assert from_script(script)[0].get(part) == found


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("GRPOConfig(beta=f())", "beta (line 1) is computed by the script: set it here."),
        ("TrlParser((GRPOConfig, X))\nGRPOTrainer()", "The training settings (line 1) are read from the command line"),
        ("GRPOTrainer(peft_config=get_peft_config(x))", "peft_config (line 1) is computed by the script"),
        ("GRPOTrainer()\nGRPOTrainer()", "The script has 2 trainers; only the first (line 1) was taken."),
        ("GRPOTrainer(model=x)", "The model (line 1) is computed by the script"),
        ("GRPOTrainer(reward_funcs=[f], args=GRPOConfig(reward_weights=w()))", "reward_weights (line 1) is computed"),
        (
            "GRPOTrainer(reward_funcs=[f], args=GRPOConfig(reward_weights=[1, 2]))",
            "one number for each of the 1 rewards",
        ),
        ("GRPOConfig(trust_remote_code=True)", "code from a model's repository is never run"),
        ("GRPOConfig()", "The script loads no dataset"),
        ("GRPOConfig()", "The script names no reward functions"),
        ("load_dataset(x)\nGRPOConfig()", "The dataset (line 1) is computed by the script"),
        ("load_dataset('a/b', x)\nGRPOConfig()", "load_dataset's name (line 1) could not be taken."),
    ],
)
def test_what_is_not_taken_is_said_with_its_line(script: str, sentence: str):
    assert any(sentence in note for note in from_script(script)[1]), from_script(script)[1]


def test_an_edited_script_of_our_own_is_read_as_edited():
    script = to_script(make_spec(data={"filter": ["answer > 50"], "limit": 64}))
    edited = script.replace("LIMIT = 64", "LIMIT = 2 * 50").replace("max_steps=8", "max_steps=9")
    edited = edited.replace("number(row.get('answer')) > 50", "True").replace(
        "learning_rate=0.0001", "learning_rate=f()"
    )
    assert edited.count("\n") == script.count("\n") and edited != script
    raw, notes = from_script(edited)
    assert raw["data"]["limit"] == 100 and raw["training"]["max_steps"] == 9
    assert len(notes) == 2 and "text: “answer > 50”" in notes[0] and notes[1].startswith("learning_rate (line ")


BAD = [
    ("x = = 1", "This is not Python: invalid syntax.", 1),
    ("\nimport trl\n!pip install trl\n", "“!pip install trl” is a notebook's command", 3),
    ("%%capture\nimport trl", "“%%capture” is a notebook's command", 1),
    ("a = 1\nprint 'x'\n", "This is Python 2, it seems", 2),
    ("try:\n  pass\nexcept E, e:\n  pass", "This is Python 2, it seems", 3),
    ("a\nb\0", "NUL byte", 2),
    ('{"cells": [], "nbformat": 4}', "This is a notebook file", None),
    ("# " + "x" * 300_000, "larger than 256 KB", None),
    ("a = " + "(" * 300 + ")" * 300, "too many nested parentheses", 1),
    ("a = " + "-" * 100_000 + "1", "nested too deeply", None),
    ("a = " + "a+" * 60_000 + "a", "nested too deeply", None),
    ("a = '\ud800'", "cannot be read", None),
    ("", "no GRPO script", None),
    ("print('hello')", "no GRPO script", None),
    ("name: a-run\nmodel: x y", "not Python", 2),
]


@pytest.mark.parametrize(("script", "words", "line"), BAD, ids=[row[1][:24] + str(row[2]) for row in BAD])
def test_what_is_no_script_is_refused_with_a_sentence(script: str, words: str, line: int | None):
    began = time.monotonic()
    with pytest.raises(SpecError) as caught:
        from_script(script)
    (problem,) = caught.value.problems
    assert words in problem.message and problem.line == line
    assert time.monotonic() - began < 2


def test_names_that_stand_for_names_cannot_explode():
    doubling = "\n".join(f"a{n + 1} = f'{{a{n}}}{{a{n}}}'\nb{n + 1} = [b{n}, b{n}]" for n in range(40))
    began = time.monotonic()
    raw, notes = from_script(f"a0 = 'xxxxxxxx'\nb0 = 1\n{doubling}\nGRPOConfig(run_name=a40, x=b40)")
    assert raw["training"] == {} and len(notes) == 4
    assert time.monotonic() - began < 5


def test_nothing_of_a_script_is_run(tmp_path):
    mark = tmp_path / "ran"
    raw, _ = from_script(f"import os\nopen({str(mark)!r}, 'w')\nGRPOConfig(seed=os.system('touch {mark}'), beta=0.1)")
    assert raw["training"] == {"beta": 0.1} and not mark.exists()


WORDS = [re.findall(r"\w+|\W", script) for script in (QUICKSTART, COURSE, VLLM, to_script(make_spec(stages=[{}])))]
OTHERS = ["None", "1", "0.5", "x", "[]", "{}", "''", "f()", "{**x}", "[*y]", "1e999", "lambda r: r", "'a'['b']"]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(WORDS), st.lists(st.tuples(st.integers(0, 10**6), st.sampled_from(OTHERS)), max_size=4))
def test_a_script_that_was_tampered_with_is_read_or_refused(words: list[str], changes: list[tuple[int, str]]):
    places = [index for index, word in enumerate(words) if re.fullmatch(r"\w+", word)]
    changed = list(words)
    for place, other in changes:
        changed[places[place % len(places)]] = other
    try:
        raw, notes = from_script("".join(changed))
    except SpecError:
        return
    assert isinstance(raw["name"], str) and all(isinstance(note, str) for note in notes)
