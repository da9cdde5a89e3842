"""Scripts that people have: what of them is taken, and what is said of the rest."""

from __future__ import annotations

import pytest

from groupwise.storage.checks.script import to_script
from groupwise.storage.checks.script_reader import from_script, read_script
from groupwise.storage.spec.spec import from_dict
from tests.support.foreign_scripts import without_closing
from tests.support.runs import make_spec
from tests.support.scripts import COURSE, QUICKSTART, VLLM


def test_the_quickstart_of_trl():
    raw, notes = from_script(QUICKSTART)
    spec = from_dict(raw)
    assert spec.model.id == "Qwen/Qwen2.5-0.5B-Instruct" and spec.model.dtype == "float32"  # as TRL loads a name
    assert spec.data.source == "hub:trl-lib/DeepMath-103K" and spec.data.split == "train"
    assert spec.data.prompt_column == "prompt" and spec.data.answer_column == "solution"
    assert [(reward.name, reward.weight) for reward in spec.rewards] == [("math_equivalence", 1.0)]
    assert (spec.training, spec.lora, spec.name) == ({}, None, "from-script")
    note, *closing = notes
    assert without_closing(closing) == []
    assert note.startswith("accuracy_reward (line 4) became the built-in “math_equivalence”.")


def test_a_script_as_courses_write_them():
    raw, notes = from_script(COURSE)
    spec = from_dict(raw)
    assert spec.name == "Qwen-1.5B-GRPO-gsm8k"
    assert spec.model.model_dump() == {
        "id": "Qwen/Qwen2.5-1.5B-Instruct", "revision": None, "dtype": "bfloat16", "quantization": None,
        "attn_implementation": "flash_attention_2",
    }  # fmt: skip
    assert spec.lora == {"r": 16, "lora_alpha": 64, "target_modules": ["q_proj", "k_proj"],
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
    assert len(without_closing(notes)) == 1


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
    assert (data.source, data.holdout, data.filter) == ("file:math.jsonl", 0.1, ["level < 4"])
    assert data.prompt_template == "Problem: {problem}\nLevel {level}."
    assert data.answer_column == "solution"
    said = "\n".join(notes)
    for words in ("num_generations (line", "Some of the settings under training (line", "upload it", "hub_token (line",
                  "“solution”", "load_dataset(…) (line 31) does not reach", "train_test_split(…) (line 34) has no seed",
                  "rubric (line 8) is not defined in the script: only its name was taken"):  # fmt: skip
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
    ("lr = 1\nlr = 2\nGRPOConfig(learning_rate=lr)", "training", {"learning_rate": 2}),
    ("def f(lr=1e-5):\n    GRPOConfig(learning_rate=lr)", "training", {"learning_rate": 1e-5}),
    ("A = {'beta': 0.1}\nGRPOConfig(**{**A, 'seed': 1} | dict(top_k=2))", "training",
     {"beta": 0.1, "seed": 1, "top_k": 2}),
    ("GRPOConfig(beta=-1e-3, seed=+1, top_p=1/2, a=[1, (2,)], b=None, c=True, d='x' 'y', e=[*[1], 2])", "training",
     {"beta": -1e-3, "seed": 1, "top_p": 0.5, "a": [1, [2]], "b": None, "c": True, "d": "xy", "e": [1, 2]}),
    ("GRPOConfig(a=10**10**10, b=1/0, c='x'*10**9, d=b'x', e=1j, f=..., g=x[0], h=f'{x!r}')", "training", {}),
    ("a = b\nb = a\nGRPOConfig(beta=a)", "training", {}),
    ("GRPOConfig(use_cpu=not torch.cuda.is_available(), output_dir=f'{x}')", "training", {}),
    ("GRPOTrainer(reward_funcs=[partial(f, 1), 3])", "rewards", None),
    ("GRPOTrainer(reward_funcs='org/reward-model')", "rewards",
     [{"name": "reward_model", "parameters": {"models": ["org/reward-model"]}, "weight": 1.0}]),
    ("GRPOTrainer(reward_funcs=[trl.rewards.x], args=GRPOConfig(reward_weights=[1, 2]))", "rewards",
     [{"name": "x", "weight": 1.0}]),
    ("f = partial(x, low=3, tags=['a'])\nGRPOTrainer(reward_funcs=[f])", "rewards",
     [{"name": "x", "parameters": {"low": 3, "tags": ["a"]}, "weight": 1.0}]),
    ("class T(GRPOTrainer):\n    pass\nT(reward_funcs=[x], args=GRPOConfig(beta=0.1))", "rewards",
     [{"name": "x", "weight": 1.0}]),
    ("load_dataset('a/b', split='train[:100]')\nGRPOConfig()", "data",
     {"source": "hub:a/b", "split": "train", "limit": 100, "prompt_column": "prompt", "answer_column": None}),
    ("load_dataset('a/b', split='test')\nd = load_dataset('a/b', split='train', streaming=True).take(9)\n"
     "GRPOTrainer(train_dataset=d)", "data",
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
        ("GRPOTrainer(reward_funcs=[partial(f, low=n())])", "f's parameter low (line 1) is computed by the script"),
        ("GRPOConfig(trust_remote_code=True)", "code from a model's repository is never run"),
        ("GRPOConfig()", "The script loads no dataset"),
        ("GRPOConfig()", "The script names no reward functions"),
        ("load_dataset(x)\nGRPOConfig()", "The dataset (line 1) is computed by the script"),
        ("load_dataset('a/b', x)\nGRPOConfig()", "load_dataset's name (line 1) could not be taken."),
    ],
)
def test_what_is_not_taken_is_said_with_its_line(script: str, sentence: str):
    assert any(sentence in note for note in from_script(script)[1]), from_script(script)[1]


def test_functions_that_look_like_rewards_are_taken_where_no_trainer_names_any():
    script = """
from trl import GRPOConfig
def helper(completions): return completions
def rr(completions, **k): return [1.0 for _ in helper(completions)]
def asked(prompts, completions, answer, **kwargs): return [0.0 for _ in completions]
def tidy(row, **kwargs): return row
args = GRPOConfig(reward_weights=[2, 1])
"""
    found = read_script(script)
    assert [(one["name"], one["weight"]) for one in found.raw["rewards"]] == [("rr", 2.0), ("asked", 1.0)]
    assert [(one.name, one.places) for one in found.functions] == [("rr", [0]), ("asked", [1])]
    assert "def helper" in found.functions[0].code
    said = "“rr”, “asked” look like reward functions and were taken: no trainer in the script names any."
    assert said in found.notes and not any("names no reward functions" in note for note in found.notes)


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


def test_an_edited_script_says_how_its_rewards_are_set_and_weighed():
    rewards = [{"name": "format", "parameters": {"strict": False}, "schedule": [{"step": 0, "weight": 1.0}],
                "timeout": 2.0}, {"name": "correctness", "adapt": {"every": 3}, "version": "abcdef12"}]  # fmt: skip
    script = to_script(make_spec(rewards=rewards))
    edited = script.replace("strict=False", "strict=True, after_penalty=n()").replace("[0, 1.0]", "[5, 2.0]")
    raw, notes = from_script(edited)
    assert raw["rewards"][0] == {
        "name": "format", "weight": 1.0, "parameters": {"strict": True}, "schedule": [{"step": 5, "weight": 2.0}],
        "timeout": 2.0,
    }  # fmt: skip
    assert (raw["rewards"][1]["adapt"]["every"], raw["rewards"][1]["version"]) == (3, "abcdef12")
    assert len(notes) == 1 and notes[0].startswith("format's parameter after_penalty (line ")
    raw, notes = from_script(script.replace("[[0, 1.0]]", "points()"))
    assert "schedule" not in raw["rewards"][0] and len(notes) == 1


@pytest.mark.parametrize("path", ["rewards.9.timeout", "rewards.x.y", "rewards.0.name.z", "x", "stages.0.y", "name.z"])
def test_what_an_edited_script_keeps_for_no_place_is_left_out(path: str):
    script = to_script(make_spec(model={"id": "starter", "revision": "main"}))
    raw, _ = from_script(script.replace('"model.revision"', repr(path)))
    assert [reward["name"] for reward in raw["rewards"]] == ["format", "correctness"]
    assert (raw["name"], "x" in raw) == ("small", False)
