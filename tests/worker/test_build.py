"""What TRL, transformers, torch and PEFT say about a spec's settings lands at the setting, with a click that cures it:
the real configs, optimisers and samplers, no lists of ours."""

from __future__ import annotations

import copy
import os
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.registry.messages.facts import Gpu, Hardware
from groupwise.storage.registry.questions import BUILD
from groupwise.storage.spec.spec import NO_MODEL, ModelSpec, RunSpec, from_dict
from groupwise.storage.spec.words.problem import Problem
from groupwise.worker.builtin import models
from groupwise.worker.capabilities import extras
from groupwise.worker.questions import build, build_rules, generation_arguments, server
from tests.support.runs import make_spec

CPU = Hardware(gpus=[], cores=8, memory=64 << 30, sentence="A CPU")
T4 = CPU.model_copy(update={"gpus": [Gpu(name="Tesla T4", memory=16 << 30, free=15 << 30)]})
H200 = CPU.model_copy(update={"gpus": [Gpu(name="NVIDIA H200", memory=141 << 30, free=140 << 30)]})
LORA = {"r": 4, "target_modules": ["q_proj"]}


def found(run_spec: RunSpec, hardware: Hardware | None = CPU) -> list[Problem]:
    return build.settings_problems(run_spec, hardware)


def applied(run_spec: RunSpec, problem: Problem, number: int = 0) -> RunSpec:
    """The spec after a click on one of a problem's fixes."""
    raw: Any = run_spec.model_dump()
    fix = problem.fixes[number]
    for path in fix.removed:
        *parents, name = path.split(".")
        _at(raw, parents).pop(name, None)
    for path, value in fix.settings.items():
        *parents, name = path.split(".")
        _at(raw, parents)[name] = copy.deepcopy(value)
    return from_dict(raw)


def _at(raw: Any, parents: list[str]) -> Any:
    for part in parents:
        raw = raw[int(part)] if isinstance(raw, list) else raw[part]
    return raw


def test_the_settings_of_a_run_that_trains_have_no_problem(registry_home: Path) -> None:
    assert found(make_spec()) == []
    assert found(make_spec(lora=LORA)) == []
    assert server.answer_question(BUILD, {"spec": make_spec().model_dump()}) == {"problems": []}


def test_a_long_completion_is_a_problem_of_a_model_that_is_chosen(registry_home: Path) -> None:
    models.tokenizer_place(ModelSpec())  # puts the starter there
    long = make_spec(training={**make_spec().training, "max_completion_length": 1024})
    assert [one.field for one in found(long)] == ["training.max_completion_length"]
    assert found(long.model_copy(update={"model": long.model.model_copy(update={"id": NO_MODEL})})) == []


TRAINING: list[tuple[dict[str, Any], str]] = [
    ({"temperature": 0.0}, "temperature"),
    ({"temperature": -1.0}, "temperature"),
    ({"top_p": 2.0}, "top_p"),
    ({"top_k": -1}, "top_k"),
    ({"min_p": 2.0}, "min_p"),
    ({"repetition_penalty": 0.0}, "repetition_penalty"),
    ({"max_completion_length": 0}, "max_completion_length"),
    ({"cache_implementation": "bogus"}, "cache_implementation"),
    ({"fp16": True, "bf16": True}, "fp16"),
    ({"optim": "adamw_typo"}, "optim"),
    ({"optim_args": "nothing"}, "optim_args"),
    ({"learning_rate": -1.0}, "learning_rate"),
    ({"adam_beta1": 1.5}, "adam_beta1"),
    ({"adam_beta2": 1.0}, "adam_beta2"),
    ({"adam_epsilon": -1.0}, "adam_epsilon"),
    ({"lr_scheduler_type": "sideways"}, "lr_scheduler_type"),
    ({"lr_scheduler_type": "polynomial", "lr_scheduler_kwargs": {"bogus": 1}}, "lr_scheduler_kwargs.bogus"),
    (
        {"lr_scheduler_type": "polynomial", "lr_scheduler_kwargs": {"power": 2.0, "lr_ent": 0.0}},
        "lr_scheduler_kwargs.lr_ent",
    ),
    ({"lr_scheduler_type": "reduce_lr_on_plateau"}, "lr_scheduler_type"),
    ({"lr_scheduler_type": "warmup_stable_decay"}, "lr_scheduler_type"),
    ({"warmup_steps": -1}, "warmup_steps"),
    ({"logging_steps": 0}, "logging_steps"),
    ({"loss_type": "bogus"}, "loss_type"),
    ({"scale_rewards": "bogus"}, "scale_rewards"),
    ({"importance_sampling_level": "bogus"}, "importance_sampling_level"),
    ({"multi_objective_aggregation": "bogus"}, "multi_objective_aggregation"),
    ({"num_generations": 3}, "num_generations"),
    ({"auto_find_batch_size": True}, "auto_find_batch_size"),
    ({"seed": -1}, "seed"),
    ({"dataloader_num_workers": -1}, "dataloader_num_workers"),
    ({"dataloader_prefetch_factor": 2}, "dataloader_prefetch_factor"),
    ({"dataloader_persistent_workers": True}, "dataloader_persistent_workers"),
    ({"torch_empty_cache_steps": 0}, "torch_empty_cache_steps"),
    ({"torch_compile": True, "torch_compile_backend": "bogus"}, "torch_compile_backend"),
    ({"debug": "bogus"}, "debug"),
    ({"load_best_model_at_end": True, "save_strategy": "steps"}, "load_best_model_at_end"),
    ({"gradient_checkpointing": True, "gradient_checkpointing_kwargs": {"bogus": 1}}, "gradient_checkpointing_kwargs"),
    ({"accelerator_config": {"bogus": 1}}, "accelerator_config"),
    ({"accelerator_config": "/etc/passwd"}, "accelerator_config"),
    ({"fsdp_config": "fsdp.json"}, "fsdp_config"),
    ({"deepspeed": "/etc/passwd"}, "deepspeed"),
    ({"lr_scheduler_kwargs": "{not json"}, "lr_scheduler_kwargs"),
    ({"parallelism_config": {"tp_size": 2}}, "parallelism_config"),
    ({"fsdp": "full_shard"}, "fsdp"),
    ({"sync_ref_model": True}, "sync_ref_model"),
    ({"remove_unused_columns": True}, "remove_unused_columns"),
    ({"eval_on_start": True}, "eval_on_start"),
    ({"log_completions_hub_repo": "a/b"}, "log_completions_hub_repo"),
    ({"vllm_importance_sampling_clip_min": 5.0}, "vllm_importance_sampling_clip_min"),
    ({"tf32": True}, "tf32"),
]


@pytest.mark.parametrize(("settings", "name"), TRAINING, ids=lambda value: str(value)[:60])
def test_a_wrong_setting_is_said_at_its_field_and_one_click_cures_it(settings: dict[str, Any], name: str) -> None:
    run_spec = make_spec(training=settings, data={"limit": 256})
    problems = found(run_spec)
    assert [problem.field for problem in problems] == [f"training.{name}"], problems
    (problem,) = problems
    assert problem.fixes and problem.message and len(problem.message) < 900
    for number in range(len(problem.fixes)):
        if "processes" in str(problem.fixes[number].settings):
            continue  # more processes than this machine may have: another question
        assert found(applied(run_spec, problem, number)) == [], problem.fixes[number]


def test_only_the_argument_that_a_scheduler_does_not_have_is_blamed_and_the_others_stay() -> None:
    slip = make_spec(
        training={"lr_scheduler_type": "cosine_with_min_lr", "lr_scheduler_kwargs": {"min_lr": 1e-6, "num_cycle": 2}},
        data={"limit": 256},
    )
    (problem,) = found(slip)
    assert problem.field == "training.lr_scheduler_kwargs.num_cycle"
    assert problem.message == "“cosine_with_min_lr” has no argument “num_cycle”. Did you mean “num_cycles”?"
    assert [fix.label for fix in problem.fixes] == ["Rename it to num_cycles", "Remove num_cycle"]
    for number, left in enumerate(({"min_lr": 1e-6, "num_cycles": 2}, {"min_lr": 1e-6})):
        assert applied(slip, problem, number).training["lr_scheduler_kwargs"] == left


@pytest.mark.parametrize(
    ("scheduler", "arguments", "place"),
    [
        ("warmup_stable_decay", {"num_decay_step": 10}, "lr_scheduler_kwargs.num_decay_step"),
        ("cosine_with_min_lr", {"min_lrr": 1e-6}, "lr_scheduler_kwargs.min_lrr"),
        ("cosine_with_min_lr", {"bogus": 1}, "lr_scheduler_kwargs.bogus"),
        ("cosine_with_min_lr", {"min_lr": 1e-6, "min_lr_rate": 0.1}, "lr_scheduler_kwargs"),
        ("cosine_with_min_lr", 5, "lr_scheduler_kwargs"),
    ],
)
def test_a_scheduler_is_not_said_to_lack_what_only_its_wrong_arguments_keep_from_it(
    scheduler: str, arguments: Any, place: str
) -> None:
    given = {"lr_scheduler_type": scheduler, "lr_scheduler_kwargs": arguments}
    problems = found(make_spec(training=given, data={"limit": 256}))
    assert [problem.field for problem in problems] == [f"training.{place}"], problems


def test_arguments_of_another_scheduler_are_not_removed_but_that_scheduler_is_offered() -> None:
    given = {"num_cycles": 2, "min_lr": 1e-6}
    run_spec = make_spec(training={"lr_scheduler_kwargs": given}, data={"limit": 256})
    problems = found(run_spec)
    assert [problem.fixes[0].label for problem in problems] == ["Use cosine_with_min_lr as the scheduler"] * 2
    used = applied(run_spec, problems[0], 0)
    assert found(used) == [] and used.training["lr_scheduler_kwargs"] == given
    misspelt = make_spec(training={"lr_scheduler_type": "cosin", "lr_scheduler_kwargs": {"num_cycles": 1}})
    assert [problem.field for problem in found(misspelt)] == ["training.lr_scheduler_type"]


def test_an_argument_of_a_stage_is_blamed_and_renamed_in_the_stage() -> None:
    stage = {"training": {"lr_scheduler_type": "cosine", "lr_scheduler_kwargs": {"num_cycle": 2}}}
    (problem,) = found(make_spec(data={"limit": 256}, stages=[stage]))
    assert problem.field == "stages.0.training.lr_scheduler_kwargs.num_cycle"
    assert list(problem.fixes[0].settings) == ["stages.0.training.lr_scheduler_kwargs.num_cycles"]


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"r": 0}, "r"),
        ({"lora_dropout": 1.5}, "lora_dropout"),
        ({"bias": "some"}, "bias"),
        ({"init_lora_weights": "bogus"}, "init_lora_weights"),
        ({"task_type": "BOGUS"}, "task_type"),
        ({"task_type": "SEQ_CLS"}, "task_type"),
        ({"inference_mode": True}, "inference_mode"),
        ({"target_modules": ["no_such_layer"]}, "target_modules"),
        ({"target_modules": ["lm_head"]}, "target_modules"),
        ({"target_modules": ".*(", "r": 4}, "target_modules"),
        ({"layers_pattern": "layers"}, "layers_pattern"),
        ({"runtime_config": {}}, "runtime_config"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_wrong_lora_setting_too(registry_home: Path, settings: dict[str, Any], name: str) -> None:
    models.install_starter()
    run_spec = make_spec(lora={**LORA, **settings})
    (problem,) = found(run_spec)
    assert problem.field == f"lora.{name}"
    assert found(applied(run_spec, problem)) == []


def test_of_a_pattern_for_a_model_that_is_not_here_all_else_is_said(registry_home: Path) -> None:
    """Nothing of LoRA was said where target_modules is a text and the model was not here yet."""
    wrong = {**LORA, "r": 0, "lora_dropout": 2.0, "target_modules": ".*_proj"}
    problems = found(make_spec(model={"id": "org/not-here"}, lora=wrong))
    assert [one.field for one in problems if one.field.startswith("lora")] == ["lora.r", "lora.lora_dropout"]


def test_a_setting_for_mixtures_of_experts_is_said_of_another_model(registry_home: Path) -> None:
    models.install_starter()
    run_spec = make_spec(training={"router_aux_loss_coef": 0.1})
    (problem,) = found(run_spec)
    assert problem.field == "training.router_aux_loss_coef"
    assert found(applied(run_spec, problem)) == []


def test_several_wrong_settings_are_all_said_at_once() -> None:
    wrong = {"temperature": 0.0, "warmup_steps": -1, "loss_type": "x", "seed": -1, "logging_steps": 0}
    problems = found(make_spec(training=wrong, lora={"r": 0, "target_modules": ["q_proj"]}))
    assert {problem.field for problem in problems} == {f"training.{name}" for name in wrong} | {"lora.r"}


def test_of_two_that_exclude_one_another_either_can_go() -> None:
    (problem,) = found(make_spec(training={"fp16": True, "bf16": True}))
    assert {fix.removed for fix in problem.fixes} == {("training.fp16",), ("training.bf16",)}


def test_a_stage_s_own_setting_is_said_at_the_stage_and_the_run_s_once() -> None:
    stages = [{"training": {"temperature": 0.0}}, {"training": {"max_steps": 2}}]
    run_spec = make_spec(training={"warmup_steps": -1}, stages=stages)
    problems = {problem.field: problem for problem in found(run_spec)}
    assert set(problems) == {"training.warmup_steps", "stages.0.training.temperature"}
    fixed = applied(run_spec, problems["stages.0.training.temperature"])
    assert [problem.field for problem in found(fixed)] == ["training.warmup_steps"]


def test_the_batch_is_judged_for_as_many_processes_as_the_run_has() -> None:
    settings = {"per_device_train_batch_size": 2, "num_generations": 4}
    assert found(make_spec(training=settings))[0].field == "training.num_generations"
    assert found(make_spec(training=settings, launch={"processes": 2})) == []
    assert build.config(make_spec(launch={"processes": 3}), {}).generation_batch_size == 24


@pytest.mark.parametrize(
    ("settings", "package"),
    [
        ({"use_vllm": True}, "vllm"),
        ({"use_liger_kernel": True}, "liger_kernel"),
        ({"optim": "galore_adamw"}, "galore_torch"),
        ({"optim": "schedule_free_adamw"}, "schedulefree"),
        ({"deepspeed": {"zero_optimization": {"stage": 2}}}, "deepspeed"),
    ],
)
def test_what_needs_a_package_says_how_to_install_it(settings: dict[str, Any], package: str) -> None:
    if extras.is_installed(package):
        pytest.skip(f"{package} is installed here")
    (problem,) = found(make_spec(training=settings))
    assert "pip install" in problem.message
    assert problem.field == f"training.{next(iter(settings))}"


def test_a_gpu_that_this_process_does_not_see_is_no_reason_against_training_on_it() -> None:
    on_gpu = {"use_cpu": False, "bf16": True}
    assert found(make_spec(training=on_gpu), H200) == []
    (problem,) = found(make_spec(training=on_gpu))
    assert problem.field == "training.use_cpu" and "remove use_cpu, or set bf16 to false" in problem.message
    for number, left in enumerate(({"bf16": True}, {"use_cpu": False, "bf16": False})):
        cured = applied(make_spec(training=on_gpu), problem, number)
        assert {name: cured.training.get(name) for name in left} == left and found(cured) == []


@pytest.mark.parametrize(
    ("backend", "processes", "hardware", "said"),
    [
        ("nccl", 2, H200.model_copy(update={"gpus": H200.gpus * 2}), None),
        ("gloo", 2, CPU, None),
        ("nccl", 2, CPU, "GPUs only"),
        ("gloo", 1, CPU, "this run has one"),
        ("pigeons", 2, CPU, "gloo"),
    ],
)
def test_what_processes_speak_through(backend: str, processes: int, hardware: Hardware, said: str | None) -> None:
    problems = found(make_spec(training={"ddp_backend": backend}, launch={"processes": processes}), hardware)
    assert [problem.field for problem in problems] == (["training.ddp_backend"] if said else [])
    assert said is None or said in problems[0].message


def test_the_hardware_that_is_there_is_what_counts() -> None:
    assert found(make_spec(training={"tf32": True, "bf16": True}), H200) == []
    assert found(make_spec(training={"tf32": True}), None) == []  # nothing published yet
    (slow,) = found(make_spec(training={"bf16": None}), T4)
    assert (slow.field, slow.level, slow.fixes[0].settings) == (
        "training.bf16", "warning", {"training.bf16": False, "training.fp16": True},
    )  # fmt: skip
    assert found(make_spec(training={"bf16": True, "use_cpu": True}), T4) == []
    (many,) = found(make_spec(launch={"processes": 4}), H200)
    assert (many.field, many.fixes[0].settings) == ("launch.processes", {"launch.processes": 1})


def test_pushing_without_a_token_is_said_before_the_hub_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setenv("HF_TOKEN_PATH", "/nonexistent")
    (problem,) = found(make_spec(training={"push_to_hub": True}))
    assert (problem.field, "HF_TOKEN" in problem.message) == ("training.push_to_hub", True)
    monkeypatch.setenv("HF_TOKEN", "hf_made_up")
    assert build_rules._hub({"push_to_hub": True}) == []


def test_building_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, registry_home: Path) -> None:
    (here := tmp_path / "here").mkdir()
    monkeypatch.chdir(here)
    before = dict(os.environ)
    wild = {"output_dir": "here", "push_to_hub": True, "fsdp": "full_shard", "torch_compile": True}
    answer = server.answer_question(
        BUILD, {"spec": make_spec(training=wild, lora=LORA, launch={"processes": 2}).model_dump()}
    )
    assert answer["problems"]
    assert list(here.iterdir()) == []
    assert dict(os.environ) == before


@pytest.mark.parametrize("payload", [{}, {"spec": None}, {"spec": []}, {"spec": {"name": "x"}}, {"spec": {"a": "b"}}])
def test_what_is_no_spec_is_answered_all_the_same(registry_home: Path, payload: dict[str, Any]) -> None:
    assert server.answer_question(BUILD, payload)["problems"]


@pytest.mark.parametrize("value", [None, True, -1, 0, 10**30, 1e308, float("nan"), "", "x" * 5000, [], [[1]], {"a": 1}])
def test_no_value_of_any_setting_ends_it(value: Any) -> None:
    for name in build.training_fields():
        for problem in found(make_spec(training={name: value})):
            assert problem.message
    for name in build.lora_fields():
        for problem in found(make_spec(lora={**LORA, name: value})):
            assert problem.message


@pytest.mark.parametrize("optimiser", ["adamw_8bit", "paged_adamw_32bit"])
def test_a_package_that_is_missing_is_one_problem(optimiser: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build.build_rules.extras, "is_installed", lambda _: False)
    training = {"optim": optimiser, "max_completion_length": 64}
    spec = from_dict({"name": "x", "rewards": [{"name": "format"}], "training": training})
    [problem] = [one for one in build.settings_problems(spec, None) if one.field == "training.optim"]
    assert problem.message.startswith("needs bitsandbytes, which is not installed here")


def test_what_the_engine_does_not_know_of_generation_is_no_setting_of_it() -> None:
    """transformers would keep it as an attribute that nothing reads."""
    given = {"generation_kwargs": {"foo": 1, "no_repeat_ngram_sizes": 3, "renormalize_logits": True}}
    foo, slip = found(make_spec(training=given))
    assert foo.field == "training.generation_kwargs.foo" and "would do nothing" in foo.message
    assert [fix.label for fix in foo.fixes] == ["Remove foo"]  # nothing is near in meaning
    assert slip.message.endswith("Did you mean “no_repeat_ngram_size”?")
    cured = applied(applied(make_spec(training=given), slip), foo)
    assert cured.training["generation_kwargs"] == {"no_repeat_ngram_size": 3, "renormalize_logits": True}
    assert found(cured) == []
    (twice,) = found(make_spec(training={"generation_kwargs": {"disable_compile": True}}))
    assert (
        twice.message == "is set by TRL."
        and "generation_kwargs" not in applied(make_spec(training=given), twice).training
    )


def test_what_vllm_knows_is_read_in_its_source() -> None:
    source = (
        "class Other:\n    no: int\nclass SamplingParams(Base):\n    n: int = 1\n    _own: int = 0\n    stop: str\n"
    )
    assert generation_arguments.fields_in_source(source) == {"n", "stop"}
    assert generation_arguments.fields_in_source("x = 1") == frozenset()
