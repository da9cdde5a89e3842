"""Trains a quantised model with LoRA for two real steps: `python -m tests.support.quantized 4bit FOLDER`, where
bitsandbytes can be found (see tests.support.beside)."""

import sys

import torch
from datasets import Dataset
from peft import LoraConfig
from trl import GRPOConfig, GRPOTrainer

from groupwise.storage.spec.spec import ModelSpec
from groupwise.worker.builtin import models

LAYERS = {"8bit": "Linear8bitLt", "4bit": "Linear4bit"}


def train(bits: str, folder: str) -> None:
    """AssertionError unless the adapter changes and the quantised weights do not."""
    model, tokenizer = models.load_model(ModelSpec(quantization=bits), use_cpu=True)
    layer = model.model.layers[0].mlp.up_proj
    assert type(layer).__name__ == LAYERS[bits]
    before = layer.weight.detach().clone()
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=[lambda completions, **_: [float(index) for index in range(len(completions))]],
        args=GRPOConfig(
            output_dir=folder, report_to="none", use_cpu=True, max_steps=2, num_generations=4, logging_steps=1,
            per_device_train_batch_size=4, max_completion_length=6, learning_rate=1e-2, save_strategy="no",
            disable_tqdm=True, gradient_checkpointing=True,
        ),
        train_dataset=Dataset.from_list([{"prompt": [{"role": "user", "content": "1+2?"}]}] * 4),
        processing_class=tokenizer,
        peft_config=LoraConfig(r=4, target_modules="all-linear"),
    )  # fmt: skip
    trainer.train()
    trained = {name: value for name, value in trainer.model.named_parameters() if value.requires_grad}
    assert trained and all("lora_" in name and value.dtype == torch.bfloat16 for name, value in trained.items())
    assert any(value.abs().sum() > 0 for name, value in trained.items() if "lora_B" in name)
    assert torch.equal(layer.weight, before)


if __name__ == "__main__":
    train(*sys.argv[1:])
