"""Whether TRL and PEFT take a spec's settings: each stage's real GRPOConfig, optimiser, schedule and LoraConfig are
built, and what they raise is said at the field it is about. Nothing is loaded, fetched, written, or put on a GPU."""

import contextlib
import os
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from groupwise.storage.checks.batch import BATCH_FIELDS
from groupwise.storage.checks.check import check_spec
from groupwise.storage.checks.stages import at_own_setting
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.build import BuildAnswer, BuildQuestion
from groupwise.storage.registry.messages.facts import Hardware
from groupwise.storage.registry.messages.problem import messages_of
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.problem import BLOCKING, Problem
from groupwise.worker.capabilities import catalogue
from groupwise.worker.questions import (
    build_lora,
    build_parts,
    build_rewards,
    build_rules,
    find_bad_setting,
    generation_arguments,
    schedule_arguments,
)
from groupwise.worker.training.settings import training_settings

ELSEWHERE = ("tf32", "ddp_backend")
NOWHERE = Path("/nonexistent")  # a config is not a run: nothing is ever written to its output_dir


def answer_build(question: BuildQuestion) -> BuildAnswer:
    """Every problem of the settings, and of the reward functions' code."""
    found = settings_problems(question.spec, registry.read_fact(Hardware))
    return BuildAnswer(problems=messages_of([*found, *build_rewards.reward_problems(question.spec)]))


def settings_problems(run_spec: RunSpec, hardware: Hardware | None) -> list[Problem]:
    """Every problem of every stage, each once, at the field that says it: the stage's, or the run's."""
    found: dict[tuple[str, str], Problem] = {}
    with warnings.catch_warnings(), _same_environment():
        warnings.simplefilter("ignore")
        for number, stage in enumerate(run_spec.by_stage()):
            for problem in _stage_problems(stage, hardware):
                placed = at_own_setting(problem, run_spec, number)
                found.setdefault((placed.field, placed.message), placed)
    return list(found.values())


@contextlib.contextmanager
def _same_environment() -> Iterator[None]:
    """Some configs (FSDP's, DeepSpeed's) leave settings in the environment, for a training that is not begun here."""
    before = dict(os.environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _stage_problems(stage: RunSpec, hardware: Hardware | None) -> list[Problem]:
    fields = training_fields()
    found = _known_problems(stage, fields)
    found += build_rules.refused_settings(stage, _others(stage.training, "training", found, fields), fields)
    given = _others(stage.training, "training", found, fields)
    if any(problem.field.rpartition(".")[2] in (*BATCH_FIELDS, "holdout") for problem in found):
        given = {name: value for name, value in given.items() if name not in (*BATCH_FIELDS, "eval_strategy")}
    more, given = find_bad_setting.problems_by_setting(
        "training", given, lambda settings: config(stage, settings), fields
    )
    found += more
    default = fields.get("lr_scheduler_type", {}).get("default")
    arguments, given = schedule_arguments.argument_problems(stage.training, given, default)
    found += arguments
    arguments, given = generation_arguments.generation_problems(given)
    found += arguments
    if not any(problem.field == "training" for problem in more):
        parts = build_parts.part_problems(given, lambda settings: config(stage, settings), fields)
        found += schedule_arguments.without_lack_of_arguments(parts, [*found, *parts])
    absent = build_rules.missing(stage, given, fields)
    said = {problem.field for problem in absent}  # why a part could not be made, too: the cause is said, once
    found = [problem for problem in found if problem.field not in said] + absent
    found += build_rules.hardware(stage, given, hardware)
    if stage.lora is not None:
        found += build_lora.lora_problems(stage, _others(stage.lora, "lora", found, lora_fields()), lora_fields())
    return found


def _known_problems(stage: RunSpec, fields: dict[str, dict[str, Any]]) -> list[Problem]:
    """What is wrong with names, types, choices and batch arithmetic: said here as it is said without a worker."""
    found = check_spec(stage, Offer(training=fields, lora=lora_fields()))
    return [problem for problem in found if problem.field.startswith(("training.", "lora.", "data.holdout"))]


def _others(
    settings: dict[str, Any], section: str, found: list[Problem], fields: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """The settings that nothing blocking was found about yet."""
    wrong = {problem.field for problem in found if problem.level == BLOCKING}
    return {name: v for name, v in settings.items() if name in fields and f"{section}.{name}" not in wrong}


def config(stage: RunSpec, settings: dict[str, Any]) -> Any:
    """The GRPOConfig of a stage with these settings, as its training would build it, for as many processes. What asks
    for devices, or for other processes, is left to build_rules: there are none here."""
    kept = {name: v for name, v in settings.items() if name not in ELSEWHERE and (name, v) != ("use_cpu", False)}
    asked = stage.model_copy(update={"training": kept})
    return _config_for_processes(stage.launch.processes)(**training_settings(asked, NOWHERE))


@cache
def _config_for_processes(processes: int) -> type:
    """GRPOConfig as it is in a run of several processes: its batch arithmetic asks how many there are."""
    from trl import GRPOConfig

    return type("GRPOConfig", (GRPOConfig,), {"world_size": property(lambda _: processes)})


@cache
def training_fields() -> dict[str, dict[str, Any]]:
    """The fields of GRPOConfig, as the catalogue publishes them."""
    import trl.trainer.grpo_trainer  # noqa: F401  # see catalogue.build
    from trl import GRPOConfig

    return catalogue.fields_of(GRPOConfig)


@cache
def lora_fields() -> dict[str, dict[str, Any]]:
    """The fields of LoraConfig, as the catalogue publishes them."""
    from peft import LoraConfig

    return catalogue.fields_of(LoraConfig, section="LoRA")
