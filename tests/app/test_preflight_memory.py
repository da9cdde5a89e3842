"""The memory estimate: against torch's own record, and what each setting does to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from bench.memory import Case, compare
from groupwise.app.pages.new.preflight import memory, memory_fixes
from groupwise.app.pages.new.preflight.shape import lora_parameters, lora_targets, shape_of
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.models.model_facts import ModelFacts
from groupwise.storage.spec import spec
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.problem import BLOCKING
from tests.support import offer as offers

GB = 10**9
# The sizes of a usual model of 1.5 billion parameters.
MODEL = ModelFacts(
    "", model_type="qwen2", parameters=1_543_714_304, dtype="bfloat16", layers=28, hidden=1536, intermediate=8960,
    heads=12, kv_heads=2, head_dim=128, vocab=151_936, max_position=32_768, tied=True,
)  # fmt: skip
EXTRA = {
    "max_completion_length": 512, "gradient_checkpointing": True, "optim": "adamw_torch_fused", "fp16": False,
    "use_cpu": False, "use_vllm": False, "vllm_mode": "colocate", "vllm_gpu_memory_utilization": 0.3,
}  # fmt: skip
FIELDS = {**offers.TRAINING, **{name: {"types": [], "default": value} for name, value in EXTRA.items()}}


def offer(gpu: int | None = 24 * GB, **extras: str) -> Offer:
    gpus = [{"name": "NVIDIA Test GPU", "memory": gpu, "free": gpu}] if gpu else []
    return Offer(FIELDS, offers.LORA, extras=extras, hardware={"gpus": gpus, "cores": 2, "memory": 64 * GB})


def a_spec(lora: dict[str, Any] | None = None, model: dict[str, Any] | None = None, **training: Any) -> RunSpec:
    raw = {"name": "m", "rewards": [{"name": "format"}], "lora": lora, "training": training, "model": model or {}}
    return spec.from_dict(raw)


def terms(run_spec: RunSpec, of: Offer | None = None, facts: ModelFacts = MODEL) -> dict[str, int]:
    found = memory.estimate(run_spec, of or offer(), facts)
    assert found is not None
    return {term.name: term.bytes for term in found.terms}


def total(run_spec: RunSpec, of: Offer | None = None, facts: ModelFacts = MODEL) -> int:
    found = memory.estimate(run_spec, of or offer(), facts)
    assert found is not None
    return found.total


SHORT = {"prompt": 24, "completion": 4}
TINY = (2, 128, 512, 4, 2, 600)


@pytest.fixture
def one_thread() -> Iterator[None]:
    """So small an amount of work is done sooner by one thread than by several that wait for one another."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    "case",
    [
        Case("full", TINY, {"bf16": False, "gradient_checkpointing": False, "beta": 0.04}, **SHORT),
        Case("LoRA", TINY, lora={"r": 8, "target_modules": "all-linear"}, **SHORT),
    ],
    ids=lambda case: case.name,
)
def test_the_estimate_is_within_a_quarter_of_what_torch_recorded(case: Case, one_thread: None) -> None:
    from groupwise.worker.capabilities import catalogue

    guess, torchs = compare(case, catalogue.build().as_dict())
    assert abs(guess.bytes_without_process / torchs - 1) < 0.25


def test_terms_add_up_and_the_largest_comes_first() -> None:
    found = memory.estimate(a_spec(), offer(), MODEL)
    assert found is not None
    assert sum(term.bytes for term in found.terms) == found.total
    assert [term.bytes for term in found.terms] == sorted((term.bytes for term in found.terms), reverse=True)
    assert found.total == max(size for _, size in found.moments)
    assert found.largest.name == "optimiser" and found.largest.bytes == 4 * (MODEL.parameters or 0)


def test_a_reference_model_counts_when_beta_is_not_0_and_never_with_lora() -> None:
    assert "reference model" not in terms(a_spec(beta=0.0))
    assert terms(a_spec(beta=0.04))["reference model"] == 2 * (MODEL.parameters or 0)
    assert "reference model" not in terms(a_spec(lora={"r": 16}, beta=0.04))


def test_lora_takes_the_gradients_and_the_optimiser_down_to_the_adapters() -> None:
    full, small = terms(a_spec()), terms(a_spec(lora={"r": 16}))
    assert small["optimiser"] < full["optimiser"] / 100
    shape = shape_of(MODEL)
    assert shape is not None
    # queries 1536 → 1536 and values 1536 → 256, at rank 16, in 28 layers
    assert lora_parameters({}, 16, shape) == 28 * 16 * (1536 + 1536 + 1536 + 256)
    assert small["LoRA adapters"] == 4 * lora_parameters({}, 16, shape)


@pytest.mark.parametrize(
    ("targets", "parts"),
    [
        (None, ("q", "v")), ("all-linear", ("q", "k", "v", "o", "gate", "up", "down")),
        (["q_proj", "o_proj"], ("q", "o")), (["c_attn"], ("q", "k", "v")), (r".*\.(q_proj|up_proj)", ("q", "up")),
    ],
)  # fmt: skip
def test_what_lora_adapts_is_read_from_its_target_modules(targets: Any, parts: tuple[str, ...]) -> None:
    shape = shape_of(MODEL)
    assert shape is not None and lora_targets({"target_modules": targets}, shape) == parts


def test_checkpointing_a_smaller_batch_and_shorter_completions_each_save_memory() -> None:
    much = a_spec(gradient_checkpointing=False, per_device_train_batch_size=16)
    assert total(a_spec(per_device_train_batch_size=16)) < total(much)
    assert total(a_spec(gradient_checkpointing=False, per_device_train_batch_size=8)) < total(much)
    shorter = a_spec(gradient_checkpointing=False, per_device_train_batch_size=16, max_completion_length=128)
    assert total(shorter) < total(much)


@pytest.mark.parametrize(
    ("optim", "a_parameter"),
    [("adamw_torch_fused", 4), ("paged_adamw_32bit", 8), ("lion_32bit", 4), ("sgd", 0), ("rmsprop", 2)],
)
def test_each_optimiser_keeps_its_own_states(optim: str, a_parameter: int) -> None:
    assert terms(a_spec(optim=optim)).get("optimiser", 0) == a_parameter * (MODEL.parameters or 0)


def test_four_bits_make_the_layers_small_and_leave_the_embedding() -> None:
    found = terms(a_spec(lora={"r": 16}, model={"quantization": "4bit"}))["weights"]
    embedding = 151_936 * 1536
    assert found == round(((MODEL.parameters or 0) - embedding) * 0.5625 + embedding * 2)


def test_vllm_takes_its_share_and_the_cache_is_then_inside_it() -> None:
    found = memory.estimate(a_spec(use_vllm=True), offer(), MODEL)
    assert found is not None
    assert {term.name: term.bytes for term in found.terms}["vLLM"] == round(0.3 * 24 * GB)


def test_many_completions_at_once_make_the_cache_the_worst_of_it() -> None:
    many = a_spec(
        per_device_train_batch_size=1, gradient_accumulation_steps=256, max_completion_length=2048, optim="sgd"
    )  # fmt: skip
    found = memory.estimate(many, offer(), MODEL, prompt_tokens=64)
    assert found is not None and found.moment == memory.GENERATING and found.largest.name == "KV cache"
    # keys and values × layers × 256 wide × 2 bytes × 256 completions × 2,112 tokens, and one layer's again
    assert found.largest.bytes == 2 * 29 * 256 * 2 * 256 * 2112


def test_the_worst_stage_counts() -> None:
    staged = spec.from_dict(
        {**a_spec().model_dump(), "stages": [{"training": {}}, {"training": {"max_completion_length": 4096}}]}
    )
    assert total(staged) == total(a_spec(max_completion_length=4096)) > total(a_spec())


def test_nothing_is_estimated_of_a_model_that_is_not_known() -> None:
    assert memory.estimate(a_spec(), offer(), None) is None
    assert memory.estimate(a_spec(), offer(), ModelFacts("")) is None
    assert memory.estimate(a_spec(), Offer(), MODEL) is None


def test_what_cannot_fit_blocks_and_every_fix_is_an_edit_that_saves_what_it_says() -> None:
    small, run_spec = offer(8 * GB, bitsandbytes="0.49"), a_spec(beta=0.04)
    before = memory.estimate(run_spec, small, MODEL)
    (problem,) = memory_fixes.memory_problems(run_spec, small, MODEL, before)
    assert problem.level == BLOCKING and "8.0 GB" in problem.message and "optimiser" in problem.message
    assert problem.fixes
    for fix in problem.fixes:
        after = memory_fixes.with_settings(run_spec, fix.settings)
        assert after is not None and before is not None and total(after, small) < before.total * 0.97
    best = memory_fixes.with_settings(run_spec, problem.fixes[0].settings)
    assert best is not None and total(best, small) <= 0.85 * 8 * GB and "it fits" in problem.fixes[0].label


def test_a_smaller_batch_keeps_the_update_and_whole_groups() -> None:
    run_spec = a_spec(per_device_train_batch_size=32, gradient_checkpointing=False)
    tight = offer(20 * GB)
    (problem,) = memory_fixes.memory_problems(run_spec, tight, MODEL, memory.estimate(run_spec, tight, MODEL))
    sizes = [fix.settings for fix in problem.fixes if "training.per_device_train_batch_size" in fix.settings]
    assert sizes
    for settings in sizes:
        batch, times = (settings.get(f"training.{name}", 1) for name in
                        ("per_device_train_batch_size", "gradient_accumulation_steps"))  # fmt: skip
        assert batch * times == 32


def test_generating_in_parts_is_offered_where_a_generation_holds_several_groups() -> None:
    run_spec = a_spec(
        per_device_train_batch_size=4, gradient_accumulation_steps=64, max_completion_length=1024, optim="sgd"
    )  # fmt: skip
    tight = offer(12 * GB)
    (problem,) = memory_fixes.memory_problems(run_spec, tight, MODEL, memory.estimate(run_spec, tight, MODEL))
    parts = [fix.settings for fix in problem.fixes if "training.steps_per_generation" in fix.settings]
    assert parts == [{"training.steps_per_generation": 2}]  # 4 on each device × 2: one group of 8


def test_where_no_single_edit_is_enough_several_are_offered_together() -> None:
    run_spec = a_spec(per_device_train_batch_size=64, gradient_checkpointing=False)
    tiny = offer(12 * GB, bitsandbytes="0.49")
    (problem,) = memory_fixes.memory_problems(run_spec, tiny, MODEL, memory.estimate(run_spec, tiny, MODEL))
    assert "together, and it fits" in problem.fixes[0].label
    after = memory_fixes.with_settings(run_spec, problem.fixes[0].settings)
    assert after is not None and total(after, tiny) <= 0.85 * 12 * GB


def test_the_eight_bit_optimiser_is_offered_only_where_its_package_is() -> None:
    run_spec, labels = a_spec(), {}
    for name, of in (("with", offer(12 * GB, bitsandbytes="0.49")), ("without", offer(12 * GB))):
        (problem,) = memory_fixes.memory_problems(run_spec, of, MODEL, memory.estimate(run_spec, of, MODEL))
        labels[name] = " ".join(fix.label for fix in problem.fixes)
    assert "8-bit" in labels["with"] and "8-bit" not in labels["without"]


def test_where_there_is_room_nothing_is_said() -> None:
    assert (
        memory_fixes.memory_problems(a_spec(), offer(80 * GB), MODEL, memory.estimate(a_spec(), offer(80 * GB), MODEL))
        == []
    )


def test_processes_on_one_cpu_share_its_memory() -> None:
    one = memory.estimate(a_spec(), offer(None), MODEL)
    two = memory.estimate(spec.from_dict({**a_spec().model_dump(), "launch": {"processes": 2}}), offer(None), MODEL)
    assert one is not None and two is not None and one.available == 64 * GB
    assert two.total > 2 * one.total  # each process, and the buckets that gradients are sent in


def test_each_process_that_reads_rows_is_counted_where_it_takes_of_the_same_memory() -> None:
    on_cpu = offer(None)
    one = terms(a_spec(dataloader_num_workers=1, dataloader_multiprocessing_context="fork"), on_cpu)
    many = terms(a_spec(dataloader_num_workers=1000, dataloader_multiprocessing_context="fork"), on_cpu)
    assert many["data loader workers"] == 1000 * one["data loader workers"] > 10 * GB
    anew = terms(a_spec(dataloader_num_workers=1, dataloader_multiprocessing_context="spawn"), on_cpu)
    assert anew["data loader workers"] > 10 * one["data loader workers"]
    assert "data loader workers" not in terms(a_spec()) and "data loader workers" not in terms(
        a_spec(dataloader_num_workers=8)
    )
    too_many = a_spec(dataloader_num_workers=20_000)
    found = memory.estimate(too_many, on_cpu, MODEL)
    assert memory_fixes.memory_problems(too_many, on_cpu, MODEL, found) == []  # as there are no cores for them either
    cored = replace(on_cpu, hardware={**on_cpu.hardware, "cores": 20_000})
    (problem,) = memory_fixes.memory_problems(too_many, cored, MODEL, found)
    assert problem.field == "training.dataloader_num_workers"
    assert problem.fixes[0].settings == {"training.dataloader_num_workers": 0}
