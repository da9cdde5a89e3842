"""The plain script of a run, really run in a world without Groupwise: the same first steps at the same seed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from storage import series
from tests.runs import WITHOUT_GROUPWISE, make_spec, queue
from worker.training import train

STAGES = [
    {"name": "correct first", "rewards": [{"name": "correctness", "weight": 0.5}], "training": {"max_steps": 1}},
    {"training": {"learning_rate": 1e-3, "beta": 0.1}},
]
LORA = {"r": 4, "lora_alpha": 128, "target_modules": ["q_proj", "v_proj"]}


@pytest.mark.parametrize("lora", [None, LORA], ids=["whole model", "lora"])
def test_two_stages_make_the_same_steps_with_no_groupwise(registry_home: Path, lora: dict[str, Any] | None):
    settings = {"max_steps": 2, "max_completion_length": 32, "learning_rate": 1e-2, "beta": 0.02,
                "per_device_train_batch_size": 16, "num_generations": 8}  # fmt: skip
    data = {"filter": ["answer > 20"], "shuffle": 3, "holdout": 2}
    folder = queue(make_spec(training=settings, data=data, lora=lora, stages=STAGES))
    assert train.main(folder.id) == 0, folder.log
    plain = subprocess.run(
        [sys.executable, "-I", "-c", WITHOUT_GROUPWISE],
        cwd=folder.path, capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    assert plain.returncode == 0, plain.stderr[-3000:]
    curves = series.read(folder.db)["curves"]
    assert curves["grad_norm"]["y"][0] > 0 and curves["kl"]["y"][1] > 1e-4  # else there is nothing to compare
    for name in ("loss", "reward", "kl", "completions/mean_length", "grad_norm"):
        printed = [float(value) for value in re.findall(rf"'{name}': '?([-0-9.e+]+)", plain.stdout)]
        assert len(printed) == 3, (name, plain.stdout)
        assert printed == pytest.approx(curves[name]["y"], rel=2e-3, abs=1e-6), name
    assert list((folder.path / "plain-output" / "final").glob("*.safetensors"))
