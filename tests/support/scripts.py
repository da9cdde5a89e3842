"""Scripts as people have them: TRL's own quickstart, a course's, and one with LoRA and vLLM."""

from __future__ import annotations

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
    report_to="none",
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
