"""What a run will write, against what is free, and against what TRL really wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.new.preflight import counts, disk
from groupwise.app.pages.new.preflight.settings import Settings
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec import spec
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.problem import BLOCKING, WARNING
from tests.app.test_preflight_memory import FIELDS, GB, MODEL

MORE = {"save_strategy": "steps", "save_steps": 500, "save_total_limit": None, "save_only_model": False}
OFFER = Offer({**FIELDS, **{name: {"types": [], "default": value} for name, value in MORE.items()}})


def a_spec(lora: dict[str, Any] | None = None, **training: Any) -> RunSpec:
    raw = {"name": "d", "rewards": [{"name": "format"}], "lora": lora, "training": {"max_steps": 1000, **training}}
    return spec.from_dict(raw)


def written(run_spec: RunSpec, free: int | None = 1000 * GB) -> disk.Disk:
    found = disk.disk(run_spec, OFFER, MODEL, free=free)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("training", "kept"),
    [
        ({}, 2), ({"save_steps": 100}, 10), ({"save_steps": 300}, 4), ({"save_steps": 0.1}, 10),
        ({"save_steps": 100, "save_total_limit": 2}, 3), ({"save_total_limit": 5}, 2), ({"save_strategy": "no"}, 0),
    ],
)  # fmt: skip
def test_how_many_checkpoints_there_are_at_once(training: dict[str, Any], kept: int) -> None:
    run_spec = a_spec(**training)
    assert disk.checkpoints_at_once(Settings(run_spec, OFFER), counts.counts(run_spec, OFFER)) == kept


def test_a_checkpoint_is_the_weights_and_what_the_optimiser_remembers() -> None:
    size = MODEL.parameters or 0
    assert written(a_spec()).checkpoint == 2 * size + 4 * size + disk.SMALL_FILES
    assert written(a_spec(save_only_model=True)).checkpoint == 2 * size + disk.SMALL_FILES
    assert written(a_spec(lora={"r": 16})).checkpoint < size / 20


def test_a_real_checkpoint_is_as_large_as_was_said(tmp_path: Path) -> None:
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import GRPOConfig, GRPOTrainer

    from groupwise.storage.library.models.model_facts import facts
    from groupwise.worker.builtin import starter

    settings = {
        "per_device_train_batch_size": 4, "num_generations": 4, "max_completion_length": 4, "max_steps": 1,
        "save_steps": 1, "bf16": False,
    }  # fmt: skip
    trainer = GRPOTrainer(
        model=AutoModelForCausalLM.from_pretrained(starter.MODEL),
        processing_class=AutoTokenizer.from_pretrained(starter.MODEL),
        reward_funcs=[lambda completions, **_: [float(len(one)) for one in completions]],
        args=GRPOConfig(output_dir=str(tmp_path), use_cpu=True, report_to="none", **settings),
        train_dataset=Dataset.from_dict({"prompt": ["1+1?"] * 8}),
    )
    trainer.train()
    real = sum(path.stat().st_size for path in (tmp_path / "checkpoint-1").rglob("*") if path.is_file())
    found = disk.disk(a_spec(**settings), OFFER, facts(starter.MODEL))
    assert found is not None
    assert found.checkpoint - disk.SMALL_FILES == pytest.approx(real, rel=0.05)


def test_what_cannot_fit_blocks_and_keeping_two_mends_it() -> None:
    run_spec = a_spec(save_steps=50)
    (problem,) = disk.disk_problems(run_spec, OFFER, written(run_spec, free=60 * GB))
    assert problem.level == BLOCKING and problem.field == "training.save_total_limit"
    assert problem.fixes[0].settings == {"training.save_total_limit": 2}
    mended = a_spec(save_steps=50, save_total_limit=2)
    assert disk.disk_problems(mended, OFFER, written(mended, free=60 * GB)) == []


def test_what_takes_most_of_the_disk_is_a_warning_and_what_does_not_is_nothing() -> None:
    run_spec = a_spec()
    total = written(run_spec).total
    (problem,) = disk.disk_problems(run_spec, OFFER, written(run_spec, free=round(total / 0.8)))
    assert problem.level == WARNING
    assert disk.disk_problems(run_spec, OFFER, written(run_spec, free=total * 3)) == []


def test_where_not_even_one_fits_it_says_so() -> None:
    run_spec = a_spec()
    (problem,) = disk.disk_problems(run_spec, OFFER, written(run_spec, free=5 * GB))
    assert "Not even one checkpoint" in problem.message


def test_stages_each_keep_their_own() -> None:
    staged = spec.from_dict({**a_spec().model_dump(), "stages": [{"training": {}}, {"training": {"max_steps": 100}}]})
    assert written(staged).kept == 2 + 1


def test_nothing_is_said_of_a_model_that_is_not_known(own_home: Path) -> None:
    assert disk.disk(a_spec(), OFFER, None) is None
    assert disk.disk_problems(a_spec(), OFFER, None) == []
    assert (disk.free_space() or 0) > 0  # of the nearest folder there is, before the home is made
