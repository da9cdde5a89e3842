"""Starts a run on this machine: one process, or several ranks through accelerate."""

import os
import socket
import subprocess
import sys
from pathlib import Path

from groupwise.storage.home.paths import RunFolder
from groupwise.storage.home.process import TAG, child_environment


def start(folder: RunFolder, tag: str, processes: int) -> subprocess.Popen[bytes]:
    """Start the training process in a session of its own, so that nothing that ends us ends it.

    Its output goes to a file, never a pipe: a run must not stall because nobody reads.
    """
    environment = training_environment(tag, processes)
    return start_with_log(training_command(folder.id, processes), folder.path, folder.log, environment)


def start_with_log(command: list[str], folder: Path, log: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start a process in a session of its own, in this folder; what it prints is appended to a file."""
    with log.open("ab") as output:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd=folder, env=environment,
            start_new_session=True,
        )  # fmt: skip


def training_command(run_id: str, processes: int) -> list[str]:
    """The argument list. `--multi_gpu` is what makes accelerate start ranks at all, on CPUs too: with `--cpu` it
    silently starts one (accelerate #2741); train.py says use_cpu where there is no GPU."""
    if processes == 1:
        return [sys.executable, "-m", "groupwise.worker.training.train", run_id]
    return [
        sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", str(processes),
        "--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no",
        "--main_process_port", str(_free_port()), "--module", "groupwise.worker.training.train", run_id,
    ]  # fmt: skip


def training_environment(tag: str, processes: int) -> dict[str, str]:
    """An allow-listed environment with the run's tag. PYTHONSAFEPATH: nothing in the run's folder can shadow a
    module."""
    env = {**child_environment(trackers=True), TAG: tag, "PYTHONSAFEPATH": "1", "PYTHONUNBUFFERED": "1"}
    env.setdefault("TOKENIZERS_PARALLELISM", "false")
    # On CPUs torch's threads spin while they wait for one another; as soon as anything else runs (a browser, say)
    # that made a step of the quickstart three to five times as long. Sleeping instead takes as long whatever else runs,
    # if longer than spinning with the machine to itself (0.87 against 0.52 s a step on two cores).
    env.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # A device's number is nvidia-smi's, by which the estimates are made: CUDA's own order begins with the fastest.
    env.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
    if processes == 1:
        # With several GPUs in sight the trainer would wrap the model in DataParallel, which GRPOTrainer refuses.
        env["CUDA_VISIBLE_DEVICES"] = env.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
    else:
        env.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // processes)))
    return env


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
