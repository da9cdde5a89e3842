"""The plain script of a run, really run in a world without Groupwise: the same first steps at the same seed."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.home import paths
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.record import groups as record_groups
from groupwise.storage.record import metrics
from groupwise.worker.builtin import starter
from groupwise.worker.training import train
from tests.support.runs import WITHOUT_GROUPWISE, make_spec, queue

STAGES = [
    {"name": "correct first", "rewards": [{"name": "correctness", "weight": 0.5}], "training": {"max_steps": 1}},
    {"training": {"learning_rate": 1e-3, "beta": 0.1}},
]
LORA = {"r": 4, "lora_alpha": 128, "target_modules": ["q_proj", "v_proj"]}


def run_script(folder: RunFolder) -> subprocess.CompletedProcess[str]:
    """The run's train.py, where no Groupwise can be imported."""
    return subprocess.run(
        [sys.executable, "-I", "-c", WITHOUT_GROUPWISE],
        cwd=folder.path, capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip


def run_plain(folder: RunFolder) -> str:
    """What it prints."""
    plain = run_script(folder)
    assert plain.returncode == 0, plain.stderr[-3000:]
    return plain.stdout


def printed_of(name: str, plain: str) -> list[float]:
    return [float(value) for value in re.findall(rf"'{name}': '?([-0-9.e+]+)", plain)]


GERMAN = {"source": "file:aufgaben.csv", "prompt_template": "{Frage}", "answer_column": "Lösung", "limit": 40,
          "answer_numbers": "comma", "separator": "semicolon", "encoding": "cp1252"}  # fmt: skip


def write_german_sums() -> None:
    """A CSV as Excel in German saves it: semicolons, Windows-1252, and answers such as 58,0."""
    rows = "".join(f"{n}+{n + 7}?;{2 * n + 7},0\r\n" for n in range(2, 42))
    (paths.data_folder() / "aufgaben.csv").write_bytes(f"Frage;Lösung\r\n{rows}".encode("cp1252"))


def right_and_wrong(folder: RunFolder) -> list[tuple[bool, float | None]]:
    """(whether its last number is the prompt's sum, what “correctness” gave) of each completion that has one."""
    groups = [found for step in (1, 2, 3, 4) for found in record_groups.at_step(folder.db, step)]
    found = []
    for group in filter(None, (record_groups.read_group(folder.db, each["id"]) for each in groups)):
        wanted = re.search(r"(\d+)\+(\d+)\?", str(group["prompt"]))
        assert wanted is not None
        for one in group["completions"]:
            numbers = re.findall(r"\d+", one["text"])
            (value,) = [each["value"] for each in one["scores"] if each["name"] == "correctness"]
            if numbers and not one["truncated"]:
                found.append((int(numbers[-1]) == int(wanted[1]) + int(wanted[2]), value))
    return found


def test_it_makes_the_same_steps_with_no_groupwise_of_a_german_file_whose_answers_have_decimal_commas(
    registry_home: Path,
) -> None:
    write_german_sums()
    settings = {"max_steps": 4, "per_device_train_batch_size": 8, "max_completion_length": 48}
    folder = queue(make_spec(training=settings, data=GERMAN))
    assert train.main(folder.id) == 0, folder.log
    scored = right_and_wrong(folder)
    assert {right for right, _ in scored} == {True, False}  # else there is nothing to tell apart
    assert [value for _, value in scored] == [float(right) for right, _ in scored]
    plain = run_plain(folder)
    curves = metrics.read_metrics(folder.db)["curves"]
    for name in ("reward", "rewards/correctness/mean", "completions/mean_length"):
        printed = printed_of(name, plain)
        assert len(printed) == 4, (name, plain)
        assert printed == pytest.approx(curves[name]["y"], rel=1e-3), name


def test_a_model_folder_that_is_not_there_is_said_before_anything_is_loaded(registry_home: Path) -> None:
    folder = queue(make_spec(model={"id": "/nowhere/model"}))
    plain = run_script(folder)
    said = "There is no model folder /nowhere/model. Put it there, or change MODEL in train.py.\n"
    assert (plain.returncode, plain.stdout, plain.stderr.splitlines(keepends=True)[-1]) == (1, "", said)
    assert "Traceback" not in plain.stderr


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
                "num_generations": 8, "steps_per_generation": per_generation, "beta": 0.02}  # fmt: skip
    follows = {"target": 1e-4, "rate": 1.0, "least": 0.018, "most": 0.025}
    folder = queue(make_spec(training=settings, rewards=CHANGING, kl=follows))
    assert train.main(folder.id) == 0, folder.log
    curves = metrics.read_metrics(folder.db)["curves"]
    assert set(curves["rewards/format/weight"]["y"]) >= {2.0, 1.0}
    assert len(set(curves["rewards/length/weight"]["y"])) > 2  # else there is nothing to compare
    betas = curves["beta"]["y"]
    assert betas[0] == 0.02 and len({round(beta, 9) for beta in betas}) > 2  # else there is nothing to compare
    assert per_generation == 1 or len(betas) == 3 or betas[1] in (None, betas[0])  # only as a generation begins
    plain = run_plain(folder)
    for name in ("reward", "rewards/format/mean", "grad_norm", "kl", "beta"):
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


def test_a_copied_folder_says_which_file_to_put_where_and_runs_with_them(registry_home: Path, tmp_path: Path) -> None:
    """It looked for the home that it came from, and said only what open() says."""
    (paths.data_folder() / "my rows.csv").write_text("question,answer\n" + "1+1?,2\n2+2?,4\n" * 8)
    settings = {"max_steps": 1, "max_completion_length": 4}
    folder = queue(make_spec(training=settings, data={"source": "file:my rows.csv", "limit": None}))
    copied = RunFolder(tmp_path / "elsewhere" / "run")
    shutil.copytree(folder.path, copied.path)
    home = registry_home.rename(tmp_path / "gone")

    def missing() -> str:
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(copied.script))["prompts"](True)
        return str(ended.value)

    told = "{name} is not here. Copy it to {place}: it was in {folder}/ of the data home."
    model = told.format(name="starter", place=copied.path / "starter", folder="models")
    assert missing() == f"{model} Or give any model's folder: MODEL=/where/it/is python train.py"
    shutil.copytree(starter.MODEL, copied.path / "starter")
    assert missing() == told.format(name="my rows.csv", place=copied.path / "my rows.csv", folder="data")
    shutil.copy(home / "data" / "my rows.csv", copied.path)
    assert len(printed_of("reward", run_plain(copied))) == 1
