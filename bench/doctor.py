"""How often the doctor is wrong: quickstarts that are sound, in as many variations, trained for real, and what it says
of each.

    python -m bench.doctor FOLDER [HOW_MANY]

FOLDER is a data home that is kept: what it holds already is not trained again, and `groupwise` shows its runs.
A run of 60 steps takes half a minute on two cores. A false alarm is a run with a verdict that is not calm.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench.table import Row, ms, print_table
from groupwise.storage.analysis.doctor.evidence_reader import gather
from groupwise.storage.analysis.doctor.examine import Report, examine
from groupwise.storage.home import paths
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.record import states
from groupwise.storage.registry import registry
from groupwise.storage.spec import spec
from groupwise.storage.spec.spec import RunSpec
from groupwise.worker.launchers.local import training_environment
from tests.support.homes import queued, quickstart

LORA = {"r": 16, "lora_alpha": 32, "target_modules": "all-linear"}
# What is sound to train the quickstart with: its own settings with these changed.
VARIATIONS: list[dict[str, Any]] = [
    {"seed": 42}, {"seed": 1}, {"seed": 2}, {"seed": 3}, {"seed": 4},
    {"learning_rate": 5e-5}, {"learning_rate": 5e-5, "seed": 5}, {"learning_rate": 7e-5, "num_generations": 16},
    {"learning_rate": 1.5e-4}, {"learning_rate": 2e-4, "seed": 6}, {"learning_rate": 2e-4, "beta": 0.04},
    {"num_generations": 4}, {"num_generations": 4, "seed": 7},
    {"num_generations": 16}, {"num_generations": 16, "seed": 8},
    {"beta": 0.0}, {"beta": 0.04}, {"beta": 0.04, "num_generations": 4}, {"max_completion_length": 64},
    {"max_completion_length": 56, "seed": 9}, {"scale_rewards": "batch"}, {"scale_rewards": "none"},
    {"loss_type": "dr_grpo", "scale_rewards": "none"}, {"loss_type": "grpo", "beta": 0.04},
    {"lora": LORA, "learning_rate": 2e-4, "seed": 10}, {"lr_scheduler_type": "cosine", "learning_rate": 1.5e-4},
]  # fmt: skip
SAID_BY = ("problem", "warning", "suspicion")


def measure(folder: Path, how_many: int = len(VARIATIONS)) -> list[Row]:
    """Train what is not there yet, and count what the doctor says of each run at its end and on the way."""
    os.environ["GROUPWISE_HOME"] = str(folder.resolve())
    paths.prepare()
    registry.open_registry()
    alarmed, early, times = 0, 0, []
    for changes in VARIATIONS[:how_many]:
        run = _trained(changes)
        report = _report(run)
        times.append(min(_seconds(run) for _ in range(5)))
        alarmed += bool(report.verdicts)
        early += any(_report(run, until).verdicts for until in range(10, report_steps(run), 10))
        print(f"{json.dumps(changes)}: {report.headline}", flush=True)
        for verdict in report.verdicts:
            print(f"  {verdict.level}: {verdict.title}. {verdict.sentence}", flush=True)
    ended, before = alarmed / max(1, how_many), early / max(1, how_many)
    return [
        Row(f"{how_many} healthy quickstarts: false alarms at the end", str(alarmed), "–", ended, 0.05, "share"),
        Row("… or at any tenth step before", str(early), "–", before, 0.15, "share"),
        Row("evidence and verdicts of a run, longest", ms(max(times)), "–", max(times) * 1000, 50, "ms"),
    ]


def variation(changes: dict[str, Any]) -> RunSpec:
    """The quickstart with these changed, named after them."""
    shown = {**changes, **({"lora": "yes"} if "lora" in changes else {})}
    training = {key: value for key, value in changes.items() if key != "lora"}
    plain = quickstart().model_dump()
    plain["name"] = " ".join(f"{key}={value}" for key, value in shown.items())[:80]
    plain["lora"] = changes.get("lora")
    plain["training"] = {**plain["training"], **training}
    return spec.from_dict(plain)


def _trained(changes: dict[str, Any]) -> RunFolder:
    run_spec = variation(changes)
    there = next(
        (run for run in registry.list_runs() if run.name == run_spec.name and run.state == states.FINISHED), None
    )
    return there.folder if there else _train(run_spec)


def _train(run_spec: RunSpec) -> RunFolder:
    folder = queued(run_spec)
    registry.set_state(folder.id, states.STARTING, "It is trained for bench.doctor.")
    registry.set_state(folder.id, states.RUNNING, "It is trained for bench.doctor.")
    with folder.log.open("wb") as log:
        subprocess.run(
            [sys.executable, "-m", "groupwise.worker.training.train", folder.id],
            env={
                **os.environ,
                **training_environment("bench:1:doctor", 1),
                "PYTHONSAFEPATH": "",
                "PYTHONPATH": os.getcwd(),
            },
            stdout=log,
            stderr=log,
            check=True,
        )
    registry.set_state(folder.id, states.FINISHED, "Trained for bench.doctor.")
    return folder


def _report(folder: RunFolder, until: int | None = None) -> Report:
    """What the doctor says of a run, or would have said after so many steps."""
    run_spec = spec.parse_spec(folder.spec.read_text(encoding="utf-8"))
    return examine(gather(folder.db, run_spec, until=until))


def _seconds(folder: RunFolder) -> float:
    begun = time.perf_counter()
    _report(folder)
    return time.perf_counter() - begun


def report_steps(folder: RunFolder) -> int:
    return gather(folder.db, None).step


def main(arguments: list[str]) -> int:
    if not arguments or len(arguments) > 2 or not all(one.isdigit() for one in arguments[1:]):
        print(__doc__, file=sys.stderr)
        return 2
    rows = measure(Path(arguments[0]), int(arguments[1]) if len(arguments) > 1 else len(VARIATIONS))
    print_table(rows, "bench.doctor")
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
