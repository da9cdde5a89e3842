"""What is measured on a machine with a GPU, without a network: `make bench-gpu`, or `python -m bench.gpu`."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from bench.gpu import cases, endings, memory, model, steps
from bench.gpu.cases import Case, Load
from bench.gpu.machine import Machine, facts
from bench.gpu.report import RESULTS, Report, Row

MINUTES = 20.0


@dataclass(frozen=True)
class Job:
    """Some rows of the table. `copies`: how many such trainings are on a device at once."""

    name: str
    case: Case
    measure: Callable[[Path], Iterator[Row]]
    copies: int = 1
    processes: int = 1


def jobs(machine: Machine, load: Load) -> list[Job]:
    """All of them, those first of which most is learnt."""
    sizes = ["tiny"] if machine.dry else ["0.5B", "1.5B"]
    small, large = Case(sizes[0], lora=False), Case(sizes[-1], lora=True)
    half = Load(load.prompt, load.completion // 2, load.group)
    found = [_memory(case, machine, load) for case in cases.cases(sizes)]
    usual = [job for job in found if not job.case.vllm and job.case.attention == "sdpa"]
    recorded = [_steps(case, machine, load) for case in ([small] if machine.dry else [small, large])]
    return [
        *usual,
        _ends(small, machine, half),
        *recorded,
        _ranks(small, machine, half),
        *(job for job in found if job not in usual),
    ]


def _memory(case: Case, machine: Machine, load: Load) -> Job:
    name = f"memory {case.name}"
    return Job(name, case, lambda folder: memory.measure(name, case, folder, machine, load))


def _ends(case: Case, machine: Machine, load: Load) -> Job:
    name = f"ends {case.name}"
    return Job(name, case, lambda folder: endings.freed(name, case, folder, machine, load))


def _steps(case: Case, machine: Machine, load: Load) -> Job:
    name = f"steps {case.name}"
    return Job(name, case, lambda folder: steps.measure(name, case, folder, machine, load), steps.COPIES)


def _ranks(case: Case, machine: Machine, load: Load) -> Job:
    name, count = f"two ranks {case.name}", 2
    return Job(name, case, lambda folder: endings.ranks(name, case, folder, machine, load, count), processes=count)


def why_not(job: Job, machine: Machine, until: float, models: Path, load: Load) -> str | None:
    """Why a job is left out, in words. The model is made for those that nothing else keeps from running."""
    if time.monotonic() > until:
        return "the time for all of it is over (--minutes)"
    if machine.gpus and job.processes > len(machine.gpus):
        return f"needs {job.processes} GPUs, and there is {len(machine.gpus)}"
    missing = cases.why_not(job.case, machine)
    if missing:
        return missing
    run_spec = cases.spec_of(job.case, model.made(job.case.size, models), load, processes=job.processes)
    return cases.why_not_here(run_spec, machine, load, job.copies)


def run(job: Job, report: Report, machine: Machine, until: float, models: Path, load: Load) -> None:
    """One job's rows; what goes wrong in it is a row as well, and its log is kept beside the results."""
    try:
        reason = why_not(job, machine, until, models, load)
        if reason:
            report.add(Row(job.name, "", note=reason, verdict="skipped"))
            return
        for row in job.measure(model.made(job.case.size, models)):
            report.add(row)
    except Exception as error:  # the other jobs are worth as much as before
        said = " ".join(str(error).split()) or type(error).__name__
        report.add(Row(job.name, "", note=said.replace("|", "/"), verdict="FAILED"))
        report.keep_log(job.name, error)


def options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.gpu", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD", help="only what has all these words")
    parser.add_argument(
        "--minutes", type=float, default=MINUTES, help="after which nothing more is begun (%(default)s)"
    )
    parser.add_argument(
        "--tokens",
        type=int,
        default=cases.REAL.completion,
        metavar="N",
        help="of each completion (%(default)s); a model as small as these takes some 80 ms for one on a slow host",
    )
    parser.add_argument("--list", action="store_true", help="print the names, and measure nothing")
    parser.add_argument(
        "--dry", action="store_true", help="all of it with a tiny model on the CPU, to see that it works"
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder for the JSON file (%(default)s)")
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    """Measure; 1 when something failed or was missed, 2 when there is no GPU."""
    asked, begun = options(words), time.monotonic()
    os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    if asked.dry:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    machine = Machine.described(asked.dry)
    load = cases.DRY if asked.dry else replace(cases.REAL, completion=asked.tokens)
    if not machine.gpus and not asked.dry:
        print("No NVIDIA GPU was found (nvidia-smi lists none). --dry tries everything on the CPU.", file=sys.stderr)
        return 2
    wanted = [job for job in jobs(machine, load) if all(word.lower() in job.name.lower() for word in asked.only)]
    if asked.list:
        print("\n".join(job.name for job in wanted))
        return 0
    report = Report(facts(machine), asked.results)
    with tempfile.TemporaryDirectory(prefix="groupwise-gpu-models-") as models:
        for job in wanted:
            run(job, report, machine, begun + 60 * asked.minutes, Path(models), load)
    print(f"\n{report.path}")
    return 0 if report.holds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
