"""Scripts in the manner of those that people bring: a course's, open-r1's, Unsloth's notebooks, command lines."""

from __future__ import annotations

import json

GSM8K = '''
import re
from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed
from trl import GRPOConfig, GRPOTrainer

set_seed(11)
MODEL = "Qwen/Qwen2.5-0.5B-Instruct"
SYSTEM = "Think first, then answer."
NUMBER = re.compile(r"-?[0-9]+")


def last_number(text):
    found = NUMBER.findall(text)
    return found[-1] if found else ""


def right_answer(completions, answer, **kwargs):
    """1 for the right number."""
    return [1.0 if last_number(c[0]["content"]) == a else 0.0 for c, a in zip(completions, answer)]


def short(completions, *, most=200, **kwargs):
    text = [c[0]["content"] for c in completions]
    return [float(len(each) < most) for each in text]


def final(text):
    if "####" not in text:
        return None
    return text.split("####")[1].strip().replace(",", "").replace("$", "")


def shape(row):
    return {
        "prompt": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": row["question"]}],
        "answer": final(row["answer"]),
    }


train = load_dataset("openai/gsm8k", "main", split="train").map(shape)
test = load_dataset("openai/gsm8k", "main", split="test").map(lambda x: {"prompt": x["question"]})
args = GRPOConfig(output_dir="gsm8k", learning_rate=1e-6, num_generations=8)
lora = LoraConfig(r=8)  # not used for now
text = "a global that reward functions have a local name for"
tokenizer = AutoTokenizer.from_pretrained(MODEL)
tokenizer.pad_token = tokenizer.eos_token
trainer = GRPOTrainer(model=MODEL, reward_funcs=[right_answer, short], args=args, train_dataset=train,
                      processing_class=tokenizer)
trainer.train()
trainer.save_model("gsm8k/final")
'''
UNSLOTH = """
from unsloth import FastLanguageModel, PatchFastRL
PatchFastRL("GRPO", FastLanguageModel)
import torch
max_seq_length = 1024
lora_rank = 32
model, tokenizer = FastLanguageModel.from_pretrained(
    model_name = "unsloth/Qwen3-4B-Base",
    max_seq_length = max_seq_length,
    load_in_4bit = False,
    fast_inference = True,
    max_lora_rank = lora_rank,
    gpu_memory_utilization = 0.7,
)
model = FastLanguageModel.get_peft_model(
    model,
    r = lora_rank,
    target_modules = ["q_proj", "v_proj"],
    lora_alpha = lora_rank * 2,
    use_gradient_checkpointing = "unsloth",
    random_state = 3407,
)
from datasets import load_dataset
dataset = load_dataset("open-r1/DAPO-Math-17k-Processed", "en", split = "train")
dataset = dataset.map(lambda x: {
    "prompt": [{"role": "user", "content": x["prompt"]}],
    "answer": x["solution"],
})


def check_answer(prompts, completions, answer, **kwargs):
    return [float(a in c[0]["content"]) for c, a in zip(completions, answer)]


maximum_length = 200
from vllm import SamplingParams
vllm_sampling_params = SamplingParams(min_p = 0.1, seed = 3407)
from trl import GRPOConfig, GRPOTrainer
training_args = GRPOConfig(
    vllm_sampling_params = vllm_sampling_params,
    temperature = 1.0,
    learning_rate = 5e-6,
    max_completion_length = max_seq_length - maximum_length,
    max_steps = 100,
    report_to = "none",
    output_dir = "outputs",
)
trainer = GRPOTrainer(
    model = model,
    processing_class = tokenizer,
    reward_funcs = [check_answer],
    args = training_args,
    train_dataset = dataset,
)
trainer.train()
model.save_lora("grpo_saved_lora")
output = model.fast_generate("What is 2+2?", sampling_params = vllm_sampling_params)
"""
OPEN_R1_MAIN = """
import logging
import os
import sys
from datasets import load_dataset
from transformers import set_seed
from transformers.trainer_utils import get_last_checkpoint
from open_r1.configs import GRPOConfig, GRPOScriptArguments
from open_r1.rewards import get_reward_funcs
from open_r1.utils import get_dataset, get_model, get_tokenizer
from open_r1.utils.callbacks import get_callbacks
from trl import GRPOTrainer, ModelConfig, TrlParser, get_peft_config

logger = logging.getLogger(__name__)


def main(script_args, training_args, model_args):
    set_seed(training_args.seed)
    last_checkpoint = None
    if os.path.isdir(training_args.output_dir):
        last_checkpoint = get_last_checkpoint(training_args.output_dir)
    dataset = get_dataset(script_args)
    tokenizer = get_tokenizer(model_args, training_args)
    model = get_model(model_args, training_args)
    reward_funcs = get_reward_funcs(script_args)

    def make_conversation(example, prompt_column=script_args.dataset_prompt_column):
        return {"prompt": [{"role": "user", "content": example[prompt_column]}]}

    dataset = dataset.map(make_conversation)
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=reward_funcs,
        args=training_args,
        train_dataset=dataset[script_args.dataset_train_split],
        eval_dataset=(dataset[script_args.dataset_test_split] if training_args.eval_strategy != "no" else None),
        peft_config=get_peft_config(model_args),
        callbacks=get_callbacks(training_args, model_args),
        processing_class=tokenizer,
    )
    train_result = trainer.train(resume_from_checkpoint=last_checkpoint)
    trainer.save_model(training_args.output_dir)
    if training_args.push_to_hub:
        trainer.push_to_hub()


if __name__ == "__main__":
    parser = TrlParser((GRPOScriptArguments, GRPOConfig, ModelConfig))
    script_args, training_args, model_args = parser.parse_args_and_config()
    main(script_args, training_args, model_args)
"""
COMMAND_LINE = """
import argparse
from dataclasses import dataclass, field
from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer
from trl.rewards import get_soft_overlong_punishment, think_format_reward


@dataclass
class Settings:
    rate: float = 2e-6
    names: list = field(default_factory=lambda: ["q_proj"])


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="Qwen/Qwen3-0.6B")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--vllm", action="store_true")
    parser.add_argument("--run-name", required=True)
    return parser.parse_args()


def rewards(limit=512):
    return [think_format_reward, get_soft_overlong_punishment(limit, soft_punish_cache=128)]


def main():
    opts = options()
    settings = Settings()
    common = {"learning_rate": settings.rate, "max_steps": opts.steps}
    common["use_vllm"] = opts.vllm
    config = GRPOConfig(output_dir="out/cli", run_name=opts.run_name, **common)
    if opts.steps > 100:
        config.logging_steps = 5
    data = load_dataset("trl-lib/DeepMath-103K", split="train")
    trainer = GRPOTrainer(opts.model, rewards(limit=1024), config, data)
    trainer.train()


if __name__ == "__main__":
    main()
"""
OPEN_R1_RECIPE = """
# Model arguments
model_name_or_path: Qwen/Qwen2.5-1.5B-Instruct
model_revision: main
torch_dtype: bfloat16
attn_implementation: flash_attention_2

# Data training arguments
dataset_name: open-r1/OpenR1-Math-220k
dataset_prompt_column: problem
system_prompt: "You are a helpful AI assistant."

# GRPO trainer config
bf16: true
use_vllm: true
do_eval: false
gradient_accumulation_steps: 4
gradient_checkpointing: true
gradient_checkpointing_kwargs:
  use_reentrant: false
hub_model_id: Qwen2.5-1.5B-Open-R1-GRPO
learning_rate: 2.0e-05
max_completion_length: 1024
num_generations: 16
output_dir: data/Qwen2.5-1.5B-Open-R1-GRPO
overwrite_output_dir: true
push_to_hub: true
report_to:
- wandb
reward_funcs:
- accuracy
- format
- tag_count
- cosine
- length
reward_weights:
- 1.0
- 1.0
- 0.5
- 0.25
- 1.0
cosine_max_len: 1024
repetition_n_grams: 4
seed: 42
wandb_project: grpo
"""
TRL_RECIPE = """
model_name_or_path: Qwen/Qwen2-0.5B-Instruct
dataset_name: trl-lib/DeepMath-103K
reward_funcs: [accuracy_reward, think_format_reward, get_soft_overlong_punishment, my_lib.rewards.mine]
use_peft: true
lora_r: 8
lora_target_modules: [q_proj, v_proj]
load_in_4bit: true
learning_rate: 1e-5
max_steps: 100
"""


def without_closing(notes: list[str]) -> list[str]:
    """The notes with a line of the script: without what the import set by itself, and what it left out in one line."""
    return [
        note
        for note in notes
        if not note.startswith(
            (
                "Set by the import: ",
                "Left out, as each run",
                "Left out, as they change",
                "Left out, as TRL",
                "Left out, as a run",
            )
        )
    ]


def notebook(*cells: str | tuple[str, str]) -> str:
    """A notebook's file of these cells: code, or (kind, text)."""
    made = [("code", cell) if isinstance(cell, str) else cell for cell in cells]
    listed = [
        {"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True), "outputs": []}
        for kind, text in made
    ]
    return json.dumps({"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


UNSLOTH_NOTEBOOK = notebook(
    ("markdown", "# Train *it*"),
    "%%capture\n!pip install unsloth vllm \\\n    trl==0.22.2\nimport os",
    *UNSLOTH.split("from datasets", 1)[0:1],
    "from datasets" + UNSLOTH.split("from datasets", 1)[1],
)
