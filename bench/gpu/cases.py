"""The runs that are measured: sizes, full and LoRA, kinds of attention, with and without vLLM; as real RunSpecs."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.gpu.machine import Machine, has
from groupwise.app.core import format
from groupwise.app.pages.new.preflight import memory
from groupwise.storage.checks.check import check_spec
from groupwise.storage.library.models.model_facts import facts
from groupwise.storage.spec import spec
from groupwise.storage.spec.spec import RunSpec

LORA = {"r": 16, "lora_alpha": 32, "target_modules": "all-linear"}
AROUND_QUESTION = 8  # tokens of the longest question (49+49?) and of the two that the chat template adds
VLLM_SHARE = 0.3  # TRL's default
ROOM = 0.95  # of what is free: a driver keeps some


@dataclass(frozen=True)
class Load:
    """What a step works through: tokens of each prompt and completion, completions of a group, of each of a step's
    two batches."""

    prompt: int
    completion: int
    group: int


REAL, DRY = Load(prompt=256, completion=256, group=8), Load(prompt=64, completion=12, group=4)


@dataclass(frozen=True)
class Case:
    size: str
    lora: bool
    attention: str = "sdpa"
    vllm: bool = False

    @property
    def name(self) -> str:
        kind = "LoRA" if self.lora else "full"
        return f"{self.size} {kind} {self.attention}{' vLLM' if self.vllm else ''}"


def cases(sizes: list[str]) -> list[Case]:
    """All of them; those that need what few have installed come last."""
    found = [
        Case(size, lora, attention, vllm)
        for size, lora, attention, vllm in itertools.product(
            sizes, (False, True), ("sdpa", "flash_attention_2"), (False, True)
        )
    ]
    return sorted(found, key=lambda case: (case.vllm, case.attention != "sdpa"))


def spec_of(case: Case, folder: Path, load: Load, *, processes: int = 1, **training: Any) -> RunSpec:
    """The run of a case with the model in `folder`. Every prompt and every completion has nearly the same length:
    what is measured is the longest that the settings allow."""
    generation = {"min_tokens" if case.vllm else "min_new_tokens": load.completion}
    vllm = {
        "use_vllm": True, "vllm_mode": "colocate", "vllm_gpu_memory_utilization": VLLM_SHARE,
        "vllm_max_model_length": load.prompt + load.completion,
    }  # fmt: skip
    return spec.from_dict(
        {
            "name": case.name,
            "model": {"id": str(folder), "dtype": "bfloat16", "attn_implementation": case.attention},
            "lora": LORA if case.lora else None,
            "data": {
                "source": "task:arithmetic", "limit": 512,
                "prompt_template": "1" * (load.prompt - AROUND_QUESTION) + "{question}",
            },
            "rewards": [{"name": "format"}, {"name": "correctness"}],
            "training": {
                "num_generations": load.group, "per_device_train_batch_size": load.group,
                "gradient_accumulation_steps": 2, "max_completion_length": load.completion, "max_steps": 3,
                "learning_rate": 1e-6, "save_strategy": "no", "logging_steps": 1,
                "generation_kwargs": generation, **(vllm if case.vllm else {}), **training,
            },
            "launch": {"processes": processes},
        }
    )  # fmt: skip


def estimate(run_spec: RunSpec, machine: Machine, load: Load) -> memory.Estimate:
    """As the preflight says it of this machine."""
    found = memory.estimate(run_spec, machine.offer, facts(Path(run_spec.model.id)), load.prompt)
    assert found is not None  # the sizes and TRL's defaults are known
    return found


def why_not(case: Case, machine: Machine) -> str | None:
    """What this machine lacks for a case, whatever its size."""
    if case.vllm and not machine.gpus:
        return "vLLM needs a GPU"
    if case.vllm and not has("vllm"):
        return "vLLM is not installed"
    if case.attention == "flash_attention_2" and machine.gpus and not has("flash_attn"):
        return "flash-attn is not installed"
    if case.attention == "flash_attention_2" and not machine.gpus:
        return "flash attention needs a GPU"
    return None


def why_not_here(run_spec: RunSpec, machine: Machine, load: Load, copies: int = 1) -> str | None:
    """What the product itself has against a run here; that it, `copies` times at once, does not fit."""
    problems = check_spec(run_spec, machine.offer)
    if problems:
        return str(problems[0])
    needed, free = copies * estimate(run_spec, machine, load).total, machine.free()
    if needed > ROOM * free:
        return f"needs about {format.size(needed)}, and {format.size(free)} are free"
    return None
