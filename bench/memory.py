"""The estimate of a GRPO step's peak memory against torch's own record of every allocation, over models built at
random: real steps of the real GRPOTrainer, on the CPU or, where there is one, on a GPU."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.table import Row
from groupwise.app.core import format
from groupwise.app.pages.new.preflight import memory
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.models.model_facts import facts
from groupwise.storage.spec import spec
from tests.support.homes import fresh_home

BOUND = 25  # per cent


@dataclass(frozen=True)
class Case:
    """A model and the settings that are changed. `shape`: layers, hidden, intermediate, heads, kv_heads, vocab."""

    name: str
    shape: tuple[int, int, int, int, int, int]
    training: dict[str, Any] = field(default_factory=dict)
    lora: dict[str, Any] | None = None
    dtype: str = "float32"
    tied: bool = True
    prompt: int = 64
    completion: int = 16


PLAIN = {"bf16": False, "gradient_checkpointing": False}
ALL_LINEAR = {"r": 16, "target_modules": "all-linear"}
SMALL, MIDDLE, LARGE = (4, 256, 1024, 4, 2, 2000), (6, 512, 2048, 8, 4, 16000), (10, 896, 4096, 14, 2, 4000)
CASES = [
    Case("5 M, beta 0", SMALL, {**PLAIN, "per_device_train_batch_size": 8}),
    Case("5 M, beta 0.04, checkpointing", SMALL, {"bf16": False, "beta": 0.04, "per_device_train_batch_size": 8}),
    Case("5 M, long prompts, 16 at once", SMALL, {**PLAIN, "per_device_train_batch_size": 1,
         "gradient_accumulation_steps": 16, "optim": "sgd", "max_steps": 1}, prompt=256, completion=4),
    Case("30 M, beta 0.04, untied head", MIDDLE, {**PLAIN, "beta": 0.04}, tied=False),
    Case("30 M, TRL’s bf16 and checkpointing", MIDDLE),
    Case("30 M, LoRA on all matrices", MIDDLE, PLAIN, lora=ALL_LINEAR),
    Case("120 M, beta 0", LARGE, PLAIN),
    Case("120 M, bfloat16 weights, beta 0.04", LARGE, {"beta": 0.04}, dtype="bfloat16"),
    Case("120 M, LoRA, bfloat16 weights", LARGE, {}, lora={"r": 16}, dtype="bfloat16"),
]  # fmt: skip


def measure() -> list[Row]:
    """Each case in a process of its own, so that none finds what another has left."""
    with fresh_home():
        return [_row(case, *_in_a_process(index)) for index, case in enumerate(CASES)]


def _row(case: Case, estimated: int, torchs: int, largest: str) -> Row:
    off = abs(estimated / torchs - 1) * 100
    ours = f"{format.size(estimated)}, largest: {largest}"
    return Row(f"peak memory, {case.name}", ours, f"torch {format.size(torchs)}", off, BOUND, "% off")


def _in_a_process(index: int) -> tuple[int, int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "bench.memory", str(index)], env={**os.environ, "HF_HUB_OFFLINE": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True,
    )  # fmt: skip
    estimated, torchs, largest = json.loads(done.stdout.splitlines()[-1])
    return estimated, torchs, largest


def compare(case: Case, catalogue: dict[str, Any]) -> tuple[memory.Estimate, int]:
    """(the estimate, torch's peak in bytes) of one case."""
    import torch

    with tempfile.TemporaryDirectory(prefix="groupwise-memory-") as place:
        folder = Path(place) / "model"
        build(case, folder)
        run_spec = spec.from_dict(
            {
                "name": "memory",
                "model": {"id": str(folder), "dtype": case.dtype},
                "lora": case.lora,
                "rewards": [{"name": "format"}],
                "training": training(case, use_cpu=not torch.cuda.is_available()),
            }
        )
        offer = Offer(catalogue["training"], catalogue["lora"], hardware=_hardware(torch))
        # The starter's tokenizer makes a token of each character, and the prompt is plain text.
        guess = memory.estimate(run_spec, offer, facts(folder), case.prompt)
        assert guess is not None
        return guess, peak_of_training(run_spec, case, Path(place) / "out")


def build(case: Case, folder: Path) -> None:
    """A model with random weights, saved as any other."""
    import torch
    from transformers import AutoTokenizer, Qwen2Config, Qwen2ForCausalLM

    from groupwise.worker.builtin import starter

    layers, hidden, intermediate, heads, kv_heads, vocab = case.shape
    torch.manual_seed(0)
    config = Qwen2Config(
        num_hidden_layers=layers, hidden_size=hidden, intermediate_size=intermediate, num_attention_heads=heads,
        num_key_value_heads=kv_heads, vocab_size=vocab, tie_word_embeddings=case.tied,
    )  # fmt: skip
    Qwen2ForCausalLM(config).to(getattr(torch, case.dtype)).save_pretrained(folder)
    AutoTokenizer.from_pretrained(starter.MODEL).save_pretrained(folder)


def training(case: Case, *, use_cpu: bool) -> dict[str, Any]:
    """Two steps (the optimiser's memory is there from the second), every completion as long as it may be."""
    return {
        "per_device_train_batch_size": 4, "num_generations": 4, "max_completion_length": case.completion,
        "max_steps": 2, "learning_rate": 1e-6, "save_strategy": "no", "logging_steps": 1, "use_cpu": use_cpu,
        "generation_kwargs": {"min_new_tokens": case.completion}, **case.training,
    }  # fmt: skip


def peak_of_training(run_spec: spec.RunSpec, case: Case, place: Path) -> int:
    """Bytes at the highest moment of a real run."""
    import torch
    from datasets import Dataset
    from peft import LoraConfig
    from trl import GRPOConfig, GRPOTrainer

    from groupwise.worker.builtin import models

    model, tokenizer = models.load_model(run_spec.model)
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=[lambda completions, **_: [float(index) for index in range(len(completions))]],
        args=GRPOConfig(**run_spec.training, output_dir=str(place), report_to="none", disable_tqdm=True),
        train_dataset=Dataset.from_dict({"prompt": ["1" * case.prompt] * 256}),
        processing_class=tokenizer,
        peft_config=LoraConfig(**run_spec.lora) if run_spec.lora is not None else None,
    )
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
        trainer.train()
        return int(torch.cuda.max_memory_allocated())
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        trainer.train()
    return held_by(trainer) + highest(profile)


def held_by(trainer: Any) -> int:
    """Bytes of the weights, which were there before the record began; shared ones once."""
    models_ = [model for model in (trainer.model, trainer.ref_model) if model is not None]
    tensors = [tensor for model in models_ for tensor in (*model.parameters(), *model.buffers())]
    return sum({t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}.values())


def highest(profile: Any) -> int:
    """The highest sum of the memory events of a torch profile. Added up here, block by block: torch's own running
    total also counts what was freed while nobody recorded."""
    events: list[tuple[int, int, int]] = []
    waiting = list(profile.profiler.kineto_results.experimental_event_tree())
    while waiting:
        event = waiting.pop()
        waiting.extend(event.children)
        if event.name == "[memory]":
            block = event.typed[1]
            events.append((event.start_time_ns, block.ptr, block.alloc_size))
    live: dict[int, int] = {}
    now = most = 0
    for _, place, size in sorted(events, key=lambda event: event[0]):
        if size > 0:
            now += size - live.get(place, 0)
            live[place] = size
            most = max(most, now)
        else:
            now -= live.pop(place, 0)
    return most


def _hardware(torch: Any) -> dict[str, Any]:
    gpus = [
        {"name": torch.cuda.get_device_name(index), "memory": torch.cuda.mem_get_info(index)[1], "free": 0}
        for index in range(torch.cuda.device_count())
    ]
    return {"gpus": gpus, "cores": os.cpu_count(), "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")}


def main(index: int) -> None:
    from groupwise.worker.capabilities import catalogue

    logging.disable(logging.WARNING)
    with contextlib.redirect_stdout(sys.stderr):
        guess, torchs = compare(CASES[index], catalogue.build().as_dict())
    largest = next(term.name for term in guess.terms if term.name != "process")  # which torch's record does not hold
    print(json.dumps([guess.bytes_without_process, torchs, largest]))


if __name__ == "__main__":
    main(int(sys.argv[1]))
