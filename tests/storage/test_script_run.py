"""The plain script of a run, really run in a world without Groupwise: the same first steps at the same seed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.home import paths
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.record import metrics
from groupwise.worker.training import train
from tests.support.runs import WITHOUT_GROUPWISE, make_spec, queue

STAGES = [
    {"name": "correct first", "rewards": [{"name": "correctness", "weight": 0.5}], "training": {"max_steps": 1}},
    {"training": {"learning_rate": 1e-3, "beta": 0.1}},
]
LORA = {"r": 4, "lora_alpha": 128, "target_modules": ["q_proj", "v_proj"]}


def run_plain(folder: RunFolder) -> str:
    """What the run's train.py prints, where no Groupwise can be imported."""
    plain = subprocess.run(
        [sys.executable, "-I", "-c", WITHOUT_GROUPWISE],
        cwd=folder.path, capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    assert plain.returncode == 0, plain.stderr[-3000:]
    return plain.stdout


def printed_of(name: str, plain: str) -> list[float]:
    return [float(value) for value in re.findall(rf"'{name}': '?([-0-9.e+]+)", plain)]


def test_it_makes_the_same_steps_with_no_groupwise(registry_home: Path) -> None:
    settings = {"max_steps": 4, "per_device_train_batch_size": 8, "max_completion_length": 24}
    folder = queue(make_spec(training=settings))
    assert train.main(folder.id) == 0, folder.log
    plain = run_plain(folder)
    curves = metrics.read_metrics(folder.db)["curves"]
    for name in ("reward", "completions/mean_length"):
        printed = printed_of(name, plain)
        assert len(printed) == 4, (name, plain)
        assert printed == pytest.approx(curves[name]["y"], rel=1e-3), name


@pytest.mark.parametrize("lora", [None, LORA], ids=["whole model", "lora"])
def test_two_stages_make_the_same_steps_with_no_groupwise(registry_home: Path, lora: dict[str, Any] | None):
    settings = {"max_steps": 2, "max_completion_length": 32, "learning_rate": 1e-2, "beta": 0.02,
                "per_device_train_batch_size": 16, "num_generations": 8}  # fmt: skip
    data = {"filter": ["answer > 20"], "shuffle": 3, "holdout": 2}
    folder = queue(make_spec(training=settings, data=data, lora=lora, stages=STAGES))
    assert train.main(folder.id) == 0, folder.log
    plain = run_plain(folder)
    curves = metrics.read_metrics(folder.db)["curves"]
    assert curves["grad_norm"]["y"][0] > 0 and curves["kl"]["y"][1] > 1e-4  # else there is nothing to compare
    for name in ("loss", "reward", "kl", "completions/mean_length", "grad_norm"):
        printed = printed_of(name, plain)
        assert len(printed) == 3, (name, plain)
        assert printed == pytest.approx(curves[name]["y"], rel=2e-3, abs=1e-6), name
    assert list((folder.path / "plain-output" / "final").glob("*.safetensors"))


CHANGING = [
    {"name": "format", "parameters": {"strict": False, "tags": ["think", "answer"]}, "weight": 3.0,
     "schedule": [{"step": 1, "weight": 2.0}, {"step": 4, "weight": -1.0}]},
    {"name": "length", "parameters": {"low": 1, "high": 64}, "weight": 0.5,
     "adapt": {"every": 1, "success": 0.5, "up": 2.0, "down": 0.25, "low": 0.6, "high": 0.7}},
    {"name": "correctness"},
]  # fmt: skip


@pytest.mark.parametrize("per_generation", [1, 2])
def test_weights_that_change_are_the_same_at_the_same_steps(registry_home: Path, per_generation: int):
    settings = {"max_steps": 6, "max_completion_length": 32, "learning_rate": 1e-2, "per_device_train_batch_size": 8,
                "num_generations": 8, "steps_per_generation": per_generation}  # fmt: skip
    folder = queue(make_spec(training=settings, rewards=CHANGING))
    assert train.main(folder.id) == 0, folder.log
    curves = metrics.read_metrics(folder.db)["curves"]
    assert set(curves["rewards/format/weight"]["y"]) >= {2.0, 1.0}
    assert len(set(curves["rewards/length/weight"]["y"])) > 2  # else there is nothing to compare
    plain = run_plain(folder)
    for name in ("reward", "rewards/format/mean", "grad_norm"):
        assert printed_of(name, plain) == pytest.approx(curves[name]["y"], rel=2e-3, abs=1e-6), name


def test_what_the_model_writes_is_run_in_the_same_sandbox_with_no_groupwise(registry_home: Path) -> None:
    """What the starter answers is a number, and so a program."""
    rows = [{"question": f"What is {n} + {n}?", "answer": str(2 * n), "tests": ["assert True"]} for n in range(20)]
    (paths.data_folder() / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    settings = {"max_steps": 2, "per_device_train_batch_size": 8, "max_completion_length": 24}
    rewards = [{"name": "code_tests", "parameters": {"timeout": 60}}]
    data = {"source": "file:rows.jsonl", "limit": None}
    folder = queue(make_spec(training=settings, rewards=rewards, data=data))
    assert train.main(folder.id) == 0, folder.log
    curves = metrics.read_metrics(folder.db)["curves"]
    assert max(curves["reward"]["y"]) > 0  # else there is nothing to compare
    assert printed_of("reward", run_plain(folder)) == pytest.approx(curves["reward"]["y"], rel=1e-3)
