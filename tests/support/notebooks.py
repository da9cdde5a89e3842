"""Notebooks that train with GRPO, as people paste them: what is to be left of each, and what that earns."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

INSTALL = """%%capture
import os
if "COLAB_" not in "".join(os.environ.keys()):
    !pip install unsloth vllm
else:
    # only on a rented machine
    !pip install --no-deps bitsandbytes accelerate \\
        peft trl \\
        "datasets>=3.4"
    !pip install --no-deps unsloth
"""
INSTALL_BY_VERSION = """%%capture
import os
os.environ["UNSLOTH_VLLM_STANDBY"] = "1"
try: import numpy; get_numpy = f"numpy=={numpy.__version__}"
except: get_numpy = "numpy"
try:
    import subprocess
    is_small = "T4" in str(subprocess.check_output(["nvidia-smi"]))
except:
    is_small = False
get_vllm, get_triton = ("vllm==0.9.2", "triton==3.2") if is_small else ("vllm", "triton")
!uv pip install -qqq --upgrade \\
    unsloth {get_vllm} {get_numpy} torchvision \\
    && echo done
!uv pip install -qqq {get_triton}
"""
MODEL = """from unsloth import FastLanguageModel
import torch
max_seq_length = 1024
lora_rank = 32
model, tokenizer = FastLanguageModel.from_pretrained(
    model_name = "some/model",
    max_seq_length = max_seq_length,
)
model = FastLanguageModel.get_peft_model(
    model, r = lora_rank,
    target_modules = [
        "q_proj", "k_proj",  # no more
    ],
)
"""
TAGS = """reasoning_start = "<think>"
reasoning_end   = "</think>"
solution_start  = "<answer>"
solution_end    = "</answer>"
system_prompt = \\
f\"\"\"You are given a problem.
Think between {reasoning_start} and {reasoning_end}.
Then, give the solution between {solution_start}{solution_end}\"\"\"
"""
TEMPLATE = """chat_template = \\
    "{% if messages[0]['role'] == 'system' %}"\\
        "{{ messages[0]['content'] + eos_token }}"\\
    "{% endif %}"
chat_template = chat_template.replace("'{reasoning_start}'", f"'{reasoning_start}'")
tokenizer.chat_template = chat_template
text = tokenizer.apply_chat_template([{"role": "user", "content": "What is 1+1?"}], tokenize = False)
"""
DATA = """from datasets import load_dataset
import re
dataset = load_dataset("some/data", "main", split = "train")
def extract_hash_answer(text):
    if "####" not in text: return None
    return text.split("####")[1].strip()
dataset = dataset.map(lambda x: {
    "prompt": [{"role": "user", "content": x["question"]}],
    "answer": extract_hash_answer(x["answer"]),
})
dataset[0]
for text in dataset.select(range(2))["prompt"]:
    print(text)
"""
TRAIN = """from trl import GRPOConfig, GRPOTrainer
training_args = GRPOConfig(
    learning_rate = 5e-6, max_completion_length = max_seq_length - 256,
    output_dir = "outputs",
)
trainer = GRPOTrainer(
    model = model, processing_class = tokenizer,
    reward_funcs = [REWARDS],
    args = training_args, train_dataset = dataset,
)
trainer.train()
text = tokenizer.apply_chat_template([{"role": "user", "content": "Hi"}], tokenize = False)
from transformers import TextStreamer
_ = model.generate(**tokenizer(text, return_tensors = "pt").to("cuda"), streamer = TextStreamer(tokenizer))
model.save_lora("grpo_lora")
if False: model.save_pretrained_merged("model", tokenizer, save_method = "merged_16bit")
"""

FORMAT = """match_format = re.compile(
    rf"^[\\s]{{0,}}"\\
    rf"{reasoning_start}.+?{reasoning_end}.*?"\\
    rf"{solution_start}(.+?){solution_end}",
    flags = re.MULTILINE | re.DOTALL
)
match_format.search("<think>Let me think!</think><answer>2</answer>")
def match_exactly(completions, **kwargs):
    scores = []
    for completion in completions:
        score = 0
        response = completion[0]["content"]
        if match_format.search(response) is not None: score += 3.0
        scores.append(score)
    return scores
"""
FORMAT_EOS = """solution_end_regex = r"</answer>[\\s]{0,}" + \\
    "(?:" + re.escape(tokenizer.eos_token) + ")?"
match_format = re.compile(
    rf"{reasoning_end}.*?"\\
    rf"{solution_start}(.+?){solution_end_regex}"\\
    rf"[\\s]{{0,}}$",
    flags = re.MULTILINE | re.DOTALL
)
match_format.findall(
    "Let me think!</think>"\\
    f"<answer>  2  </answer>",
)
def match_eos(completions, **kwargs):
    return [3.0 if match_format.search(c[0]["content"]) else 0.0 for c in completions]
"""
PRINTED = """global PRINTED_TIMES
PRINTED_TIMES = 0
global PRINT_EVERY_STEPS
PRINT_EVERY_STEPS = 5
match_numbers = re.compile(
    solution_start + r".*?[\\s]{0,}([-]?[\\d\\.\\,]{1,})",
    flags = re.MULTILINE | re.DOTALL
)
def check_numbers(prompts, completions, answer, **kwargs):
    question = prompts[0][-1]["content"]
    responses = [completion[0]["content"] for completion in completions]
    extracted_responses = [
        guess.group(1) if (guess := match_numbers.search(r)) is not None else None
        for r in responses
    ]
    scores = []
    global PRINTED_TIMES
    global PRINT_EVERY_STEPS
    if PRINTED_TIMES % PRINT_EVERY_STEPS == 0:
        print('*'*20 + f"Question:\\n{question}", f"\\nResponse:\\n{responses[0]}")
    PRINTED_TIMES += 1
    for guess, true_answer in zip(extracted_responses, answer):
        if guess is None:
            scores.append(-2.5)
            continue
        try:
            scores.append(3.5 if float(guess.strip().replace(",", "")) == float(true_answer) else -1.5)
        except:
            scores.append(0)
            continue
    return scores
"""
XML = """def extract_xml_answer(text: str) -> str:
    answer = text.split("<answer>")[-1]
    answer = answer.split("</answer>")[0]
    return answer.strip()
def correctness_reward_func(prompts, completions, answer, **kwargs) -> list[float]:
    responses = [completion[0]['content'] for completion in completions]
    q = prompts[0][-1]['content']
    extracted_responses = [extract_xml_answer(r) for r in responses]
    print('-'*20, f"Question:\\n{q}", f"\\nAnswer:\\n{answer[0]}")
    return [2.0 if r == a else 0.0 for r, a in zip(extracted_responses, answer)]
"""
LOCAL_TEXT = """def count_xml(text) -> float:
    count = 0.0
    if text.count("<think>") == 1: count += 0.125
    if text.count("</answer>") == 1: count -= len(text.split("</answer>")[-1]) * 0.001
    return count
def xmlcount(completions, **kwargs) -> list[float]:
    contents = [completion[0]["content"] for completion in completions]
    return [count_xml(c) for c in contents]
"""
SHELL_AT_END = "!nvidia-smi\n%time trainer.train()\nfiles = !ls \\\n  outputs\n"


@dataclass(frozen=True)
class Notebook:
    """What is pasted; the function that runs, what it earns for a good and a bad completion; what must be gone and what
    must stay."""

    text: str
    function: str
    scores: list[float | None]
    gone: list[str] = field(default_factory=lambda: ["trainer = GRPOTrainer", "load_dataset", "from_pretrained"])
    stays: list[str] = field(default_factory=list)


def whole(reward: str, *, install: str = INSTALL, more: str = "", end: str = "") -> str:
    """A notebook as its cells follow each other."""
    return "\n".join([install, MODEL, TAGS, TEMPLATE, DATA, more, reward, TRAIN, end])


def as_file(text: str) -> str:
    """The same as a notebook's file, a cell for every empty line; some of its cells are no code."""
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None,
         "source": [f"{line}\n" for line in part.split("\n")]}
        for part in text.split("\n\n")
    ]  # fmt: skip
    cells.insert(0, {"cell_type": "markdown", "metadata": {}, "source": ["# Train\n", "def not_code(:"]})
    cells.insert(1, {"cell_type": "code", "source": "%%bash\nfor f in *; do echo $f; done\n\necho 'unclosed"})
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 0})


GUARDED = """try:
    from not_installed_anywhere import verify
except ImportError:
    def verify(text): return "4" in text
def verified(completions, **kwargs):
    return [float(verify(c[0]["content"])) for c in completions]
"""
CLASSED = """from dataclasses import dataclass
@dataclass
class Weights:
    good: float = 1.0
    bad: float = field_of("bad") if False else -1.0
WEIGHTS = Weights()
class Trainer2(GRPOTrainer):
    def step(self): return model(tokenizer("x"))
def classed(completions, **kwargs):
    return [WEIGHTS.good if "4" in c[0]["content"] else WEIGHTS.bad for c in completions]
"""
TABLES = """SCORES = {}
SCORES["4"] = 1.0
SCORES.update({"5": 0.0})
WORDS = []
for word in ("four", "4"):
    WORDS.append(word)
WORDS.append("iv")
def tabled(completions, **kwargs):
    return [max([SCORES.get(w, 0.5) for w in WORDS if w in c[0]["content"]], default=-1.0) for c in completions]
"""
BRANCHES = """USE_HF = False
if USE_HF:
    model, tokenizer = FastLanguageModel.from_pretrained("x")
    POINTS = 2.0
elif max_seq_length > 10_000:
    dataset = load_dataset("other")
else:
    POINTS = 1.0
    print(len(dataset))
def branched(completions, **kwargs):
    return [POINTS if "4" in c[0]["content"] else 0.0 for c in completions]
"""
ASYNC = """import asyncio
async def judged(completions, **kwargs):
    async def one(text): return float("4" in text)
    return await asyncio.gather(*(one(c[0]["content"]) for c in completions))
"""
DECORATED = """import functools
def traced(function):
    @functools.wraps(function)
    def inner(*args, **kwargs): return function(*args, **kwargs)
    return inner
@traced
def decorated(completions, **kwargs):
    return [float("4" in c[0]["content"]) for c in completions]
"""
RUN_FUNCTIONS = """def build_dataset(path):
    return load_dataset(path).map(lambda row: {"text": row["a"]})
def generate(prompt, text = None):
    return tokenizer.decode(model.generate(**tokenizer(prompt)))
def lengthy(completions, **kwargs):
    text = [c[0]["content"] for c in completions]
    return [float(len(t) > 20) for t in text]
print(generate("hi"))
"""
STAR = """from math import *
def rooted(completions, **kwargs):
    return [sqrt(4.0) if "4" in c[0]["content"] else floor(0.5) for c in completions]
"""
PARAMETER = """BEST = float("4")
def tuned(completions, *, best: float = BEST, model = None, dataset: list = (), **kwargs):
    return [best if "4" in c[0]["content"] else 0.0 for c in completions]
"""
EOS_INSIDE = """def clean(completions, **kwargs):
    done = [c[0]["content"].split(tokenizer.eos_token)[0] for c in completions]
    return [float(d.endswith(f"</answer>") and not d.endswith(tokenizer.eos_token)) for d in done]
"""
SESSION = "get_ipython().system('pip install unsloth')\nget_ipython().run_line_magic('matplotlib', 'inline')\n"
COMPREHENSION = """PAIRS = [(a, b) for a, b in zip("45", (1.0, 0.0))]
POINTS = {a: b for a, b in PAIRS}
def paired(completions, **kwargs):
    return [sum(b for a, b in POINTS.items() if a in c[0]["content"]) for c in completions]
"""
LAMBDA = """pick = lambda text: text.count("4")
def picked(completions, **kwargs):
    return [float(pick(c[0]["content"]) > 0) for c in completions]
"""

GOOD, BAD = "<think>two and two</think><answer>4</answer>", "no idea"
NOTEBOOKS = {
    "the format of tags": Notebook(whole(FORMAT), "match_exactly", [3.0, 0.0], stays=["reasoning_start = "]),
    "installs by version": Notebook(whole(FORMAT, install=INSTALL_BY_VERSION), "match_exactly", [3.0, 0.0],
                                    ["subprocess", "triton==3.2\") if", "nvidia-smi"]),
    "the end mark of the tokenizer": Notebook(whole(FORMAT_EOS), "match_eos", [3.0, 0.0],
                                              stays=["re.escape('<eos_token>') +"]),
    "counters that are global": Notebook(whole(PRINTED), "check_numbers", [3.5, -2.5], stays=["PRINTED_TIMES = 0"]),
    "answers in XML": Notebook(whole(XML), "correctness_reward_func", [2.0, 0.0]),
    "a local named as the script's text": Notebook(whole(LOCAL_TEXT), "xmlcount", [0.125, 0.0],
                                                   ["text = tokenizer", "tokenizer.chat_template"]),
    "shell lines at the end": Notebook(whole(XML, end=SHELL_AT_END), "correctness_reward_func", [2.0, 0.0]),
    "a guarded import": Notebook(whole(GUARDED), "verified", [1.0, 0.0], stays=["except ImportError:"]),
    "a class of its own": Notebook(whole(CLASSED), "classed", [1.0, -1.0], ["class Trainer2"]),
    "tables that are filled": Notebook(whole(TABLES), "tabled", [1.0, -1.0], stays=['WORDS.append("iv")']),
    "branches with the model in one": Notebook(whole(BRANCHES), "branched", [1.0, 0.0], ["print(len", "load_dataset"]),
    "an async function": Notebook(whole(ASYNC), "judged", [1.0, 0.0], stays=["import asyncio"]),
    "a decorator of its own": Notebook(whole(DECORATED), "decorated", [1.0, 0.0], stays=["@traced"]),
    "functions for the data and the model": Notebook(whole(RUN_FUNCTIONS), "lengthy", [1.0, 0.0],
                                                     ["def build_dataset", "def generate"]),
    "a star import": Notebook(whole(STAR), "rooted", [2.0, 0.0], stays=["from math import *"]),
    "a default from the script": Notebook(whole(PARAMETER), "tuned", [4.0, 0.0], stays=["BEST = "]),
    "the end mark inside of a function": Notebook(whole(EOS_INSIDE), "clean", [1.0, 0.0]),
    "a notebook exported as a script": Notebook(SESSION + whole(XML, install=""), "correctness_reward_func",
                                                [2.0, 0.0], ["get_ipython"]),
    "comprehensions at the top": Notebook(whole(COMPREHENSION), "paired", [1.0, 0.0]),
    "a lambda as a helper": Notebook(whole(LAMBDA), "picked", [1.0, 0.0]),
    "two rewards, and one is chosen": Notebook(whole(XML, more=FORMAT), "match_exactly", [3.0, 0.0]),
    "the file itself": Notebook(as_file(whole(PRINTED)), "check_numbers", [3.5, -2.5]),
    "the file itself, with the end mark": Notebook(as_file(whole(FORMAT_EOS)), "match_eos", [3.0, 0.0]),
    "with prompts": Notebook("".join(f"In [{n}]: {cell}\n\n" for n, cell in enumerate(
        [MODEL, TAGS, DATA, FORMAT, TRAIN])), "match_exactly", [3.0, 0.0]),
    "from a web page": Notebook(f"```python\n{whole(XML)}\n```", "correctness_reward_func", [2.0, 0.0]),
    "with Windows' line ends": Notebook(whole(FORMAT).replace("\n", "\r\n"), "match_exactly", [3.0, 0.0]),
    "a cell for the shell": Notebook(f"%%bash\nfor f in *; do\n  echo $f\ndone\n\n{whole(XML)}",
                                     "correctness_reward_func", [2.0, 0.0]),
}  # fmt: skip
