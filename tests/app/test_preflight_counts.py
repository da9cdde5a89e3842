"""The arithmetic of groups, steps and completions: against TRL's own, and in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.new.preflight import counts
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec import spec
from groupwise.storage.spec.spec import RunSpec
from tests.app.test_preflight_memory import offer

SMALL = {"num_generations": 4, "per_device_train_batch_size": 4, "max_completion_length": 8}


def a_spec(data: dict[str, Any] | None = None, stages: list[Any] | None = None, **training: Any) -> RunSpec:
    raw = {"name": "c", "rewards": [{"name": "format"}], "training": training, "data": data or {}}
    return spec.from_dict({**raw, "stages": stages or []})


def known(run_spec: RunSpec, rows: int | None = None) -> counts.Counts:
    found = counts.counts(run_spec, offer(), rows)
    assert found is not None
    return found


@pytest.mark.parametrize("wrong", ["zehn", "20,5", 20.5, True])
@pytest.mark.parametrize("name", counts.WHOLE)
def test_nothing_is_counted_by_another_number_than_the_one_that_is_wrong(name: str, wrong: Any) -> None:
    settings = {**SMALL, "max_steps": 10, name: wrong}
    assert counts.counts(a_spec(**settings), offer(), 50) is None
    assert counts.sentences(a_spec(**settings), offer(), 50) == []


@pytest.mark.parametrize(
    ("training", "rows"),
    [
        ({}, 50),
        ({"gradient_accumulation_steps": 4}, 50),
        ({"gradient_accumulation_steps": 3, "num_iterations": 2}, 41),
        ({"gradient_accumulation_steps": 4, "steps_per_generation": 2}, 41),
        ({"steps_per_generation": 8, "num_train_epochs": 2.5}, 43),
        ({"generation_batch_size": 16, "gradient_accumulation_steps": 2}, 43),
    ],
)
def test_steps_are_counted_as_trl_counts_them(training: dict[str, Any], rows: int, tmp_path: Path) -> None:
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import GRPOConfig, GRPOTrainer

    from groupwise.worker.builtin import starter

    settings = {**SMALL, "num_train_epochs": 1.0, **training}
    trainer = GRPOTrainer(
        model=AutoModelForCausalLM.from_pretrained(starter.MODEL),
        processing_class=AutoTokenizer.from_pretrained(starter.MODEL),
        reward_funcs=[lambda completions, **_: [0.0] * len(completions)],
        args=GRPOConfig(output_dir=str(tmp_path), use_cpu=True, report_to="none", **settings),
        train_dataset=Dataset.from_dict({"prompt": [str(n) for n in range(rows)]}),
    )
    planned = trainer.set_initial_training_values(trainer.args, trainer.get_train_dataloader())
    found = known(a_spec({"source": "file:x.jsonl"}, **settings), rows)
    assert (found.epoch_steps, found.steps) == (planned[1], planned[6])
    assert found.generation == trainer.args.generation_batch_size
    assert found.per_generation == trainer.args.steps_per_generation


def test_a_generation_is_batch_times_processes_times_steps_per_generation() -> None:
    run_spec = a_spec(**SMALL, gradient_accumulation_steps=8, steps_per_generation=4, max_steps=10)
    found = known(spec.from_dict({**run_spec.model_dump(), "launch": {"processes": 2}}))
    assert (found.step, found.generation, found.prompts) == (4 * 2 * 8, 4 * 2 * 4, 8)
    assert found.completions == 10 * 64


def test_the_last_generation_is_made_whole() -> None:
    # 3 updates of 4 from generations of 8: the second generation is used by half
    assert known(a_spec(**SMALL, steps_per_generation=2, max_steps=3)).completions == 16


def test_rows_are_cut_to_the_limit_and_then_held_out() -> None:
    data = {"source": "file:x.csv", "limit": 50, "holdout": 0.1}
    assert counts.split_rows(a_spec(data), 1000) == (5, 45)
    assert counts.split_rows(a_spec(data), 30) == (3, 27)
    assert counts.split_rows(a_spec(data), None) == (None, None)
    assert counts.split_rows(a_spec({"source": "task:arithmetic", "limit": 100, "holdout": 16}), None) == (16, 84)


def test_words_for_a_plain_run() -> None:
    data = {"source": "task:arithmetic", "limit": 116, "holdout": 16}
    said = counts.sentences(
        a_spec(data, per_device_train_batch_size=16, num_generations=8, max_steps=10, max_completion_length=48,
               beta=0.02, eval_strategy="steps", eval_steps=5), offer()
    )  # fmt: skip
    assert said == [
        "2 prompts × 8 completions = 16 completions a step; one update a step.",
        "10 steps: 160 completions in all, each at most 48 tokens. 0.20 epochs of 100 prompts (50 steps each).",
        "2 evaluations, each of 16 held-out prompts × 8 completions.",
    ]


def test_steps_are_epochs_times_the_steps_of_each() -> None:
    data = {"source": "file:x.csv", "holdout": 12}
    batches = {"per_device_train_batch_size": 16, "gradient_accumulation_steps": 32, "generation_batch_size": 512}
    said = counts.sentences(a_spec(data, num_generations=8, max_steps=60, **batches), offer(), 120)
    assert said[2].endswith(" 35.6 epochs of 108 prompts (1.69 steps each).")
    assert said[0].startswith("64 prompts × 8 completions")


def test_one_evaluation_is_of_its_prompts() -> None:
    data = {"source": "task:arithmetic", "limit": 116, "holdout": 4}
    once = {"max_steps": 10, "eval_strategy": "steps", "eval_steps": 10}
    said = counts.sentences(a_spec(data, **SMALL, **once), offer())
    assert any(line.startswith("1 evaluation of 4 held-out prompts × ") for line in said)
    for rows in (0, None):  # none there; not counted yet, and what is held out may be of the file before
        of_file = counts.sentences(a_spec({**data, "source": "file:x.csv"}, **SMALL, **once), offer(), rows)
        assert "held-out" not in str(of_file)


@pytest.mark.parametrize(
    ("training", "data", "at"),
    [
        ({"max_steps": 5, "eval_steps": 2, "eval_on_start": True}, {}, [0, 2, 4, 5]),
        ({"max_steps": 4, "eval_steps": 2}, {}, [2, 4]),
        ({"max_steps": 5, "eval_steps": 2, "eval_delay": 3}, {}, [4, 5]),
        ({"max_steps": 3, "eval_steps": 2, "eval_delay": 4, "eval_on_start": True}, {}, [0]),
        ({"max_steps": 5, "eval_strategy": "epoch", "eval_delay": 1}, {"limit": 4, "holdout": 2}, [2, 4, 5]),
        ({"max_steps": 2, "eval_strategy": "no", "eval_on_start": True}, {}, [0]),
    ],
)
def test_evaluations_are_counted_as_a_run_makes_them(
    training: dict[str, Any], data: dict[str, Any], at: list[int], tmp_path: Path
) -> None:
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    from groupwise.worker.builtin import starter

    settings = {**SMALL, "max_completion_length": 2, "eval_strategy": "steps", **training}
    prompts = [Dataset.from_dict({"prompt": [f"{n}+1?" for n in range(2)]})] * 2
    trainer = GRPOTrainer(
        model=str(starter.MODEL),
        reward_funcs=[lambda completions, **_: [0.0] * len(completions)],
        args=GRPOConfig(output_dir=str(tmp_path), use_cpu=True, report_to="none", save_strategy="no",
                        per_device_eval_batch_size=4, **settings),
        train_dataset=prompts[0], eval_dataset=prompts[1],
    )  # fmt: skip
    trainer.train()
    assert [one["step"] for one in trainer.state.log_history if "eval_loss" in one] == at
    made = {"source": "task:arithmetic", "limit": 4, "holdout": 2, **data}
    assert known(a_spec(made, **settings)).evaluations == len(at)


def test_words_for_accumulation_and_reuse() -> None:
    said = counts.sentences(a_spec(**SMALL, gradient_accumulation_steps=2, num_iterations=3, max_steps=6), offer())
    assert said[0] == "2 prompts × 4 completions = 8 completions at a time, for 3 updates of 8, each used 3 times."
    assert said[1] == "An update of 8 completions = 4 on each device × 2 accumulated."
    assert said[2].startswith("6 steps: 16 completions in all")
    assert said[-1].startswith("No KL")


def test_epochs_without_a_row_count_say_that_it_is_not_known_yet() -> None:
    said = counts.sentences(a_spec({"source": "file:x.csv"}, **SMALL, num_train_epochs=3.0), offer())
    assert any("known once its rows are counted" in line for line in said)


def test_stages_are_said_one_by_one_and_summed() -> None:
    stages = [{"name": "format", "training": {"max_steps": 10}}, {"training": {"max_steps": 20}}]
    said = counts.sentences(a_spec(stages=stages, **SMALL), offer())
    assert said[0].startswith("Stage 1 (format): 1 prompt × 4")
    assert said[-1] == "In all 30 steps and 120 completions."


@pytest.mark.parametrize(
    "training", [{"num_generations": 0}, {"num_generations": "8"}, {"per_device_train_batch_size": True}]
)
def test_a_setting_that_makes_no_sense_leaves_the_numbers_out(training: dict[str, Any]) -> None:
    assert counts.counts(a_spec(**training), offer()) is None
    assert counts.sentences(a_spec(**training), offer()) == []


def test_before_the_worker_has_said_anything_there_are_no_numbers() -> None:
    assert counts.counts(a_spec(), Offer()) is None
