"""A training process that waits for its run: `python -m groupwise.worker.training.wait_for_run CHANNEL SUPERVISOR`.

It has imported torch and TRL, and knows no run. What it shall train comes over the socket that it was started with,
from the supervisor that started it and from nobody else; from then on it is that run's process as if it had been
started for it: the same process, with the run's tag, folder and log. It trains one run, or none. Until it is given one
it goes when the supervisor goes, and is the first to go when memory runs out.

It makes nothing on a GPU: a CUDA context would hold memory there.
"""

import contextlib
import json
import os
import select
import signal
import socket
import sys
from pathlib import Path

from groupwise.storage.home import paths, process, process_log
from groupwise.storage.home.large_imports import no_collections
from groupwise.worker.training import handover, hung_threads, train
from groupwise.worker.training.stale_imports import Loaded

LOOK_EVERY = 30.0  # seconds between looks at whether what it has imported is still what is installed
OOM_SCORE = Path("/proc/self/oom_score_adj")
FIRST_TO_GO = "1000"  # the highest: the system ends it before anything that trains


def main(channel: socket.socket, supervisor: int) -> int:
    """Wait for a run and train it: its exit code; 0 where none came or other files are installed by now,
    1 where the imports began what they must not."""
    if not process.go_with(supervisor, signal.SIGKILL):
        return 0
    oom_score = OOM_SCORE.read_text()
    _set_oom_score(FIRST_TO_GO)
    loaded = Loaded()
    with no_collections():
        clean = import_all()
    if not clean:
        return 1
    loaded.note()
    if loaded.has_changed():
        return 0
    channel.send(handover.READY)
    run_id = _wait(channel, loaded, supervisor)
    if run_id is None:
        return 0
    _set_oom_score(oom_score)
    channel.close()
    return train.main(run_id)


def _set_oom_score(score: str) -> None:
    """Where the system lets us: anyone may raise it, and give it back what it was."""
    with contextlib.suppress(OSError):
        OOM_SCORE.write_text(score)


def import_all() -> bool:
    """Import what every training imports; whether no GPU was touched by it."""
    import peft  # noqa: F401
    import torch
    from transformers.models.llama import modeling_llama  # noqa: F401 # the starter's; what most others are built like

    from groupwise.worker.training import capture, failures, recorder, stages  # noqa: F401

    if torch.cuda.is_initialized():
        print("groupwise: an import has made a CUDA context; no process waits for a run like this", flush=True)
        return False
    return True


def _wait(channel: socket.socket, loaded: Loaded, supervisor: int) -> str | None:
    """The id of the run to train, once this is its process; None where there is none to come, or it is not to be
    trained with what was imported here."""
    while not select.select([channel], [], [], LOOK_EVERY)[0]:
        if loaded.has_changed():
            return None
    said = channel.recv(handover.LONGEST)
    if not said:  # the supervisor has closed its end
        return None
    if loaded.has_changed():
        channel.send(handover.STALE)
        return None
    order = json.loads(said)
    if not become(order["run"], order["tag"]) or not process.outlive(supervisor):
        return None
    # Whoever looks for the run's process from here on finds this one; the supervisor that looked before lived until
    # now, and waits for this word.
    channel.send(handover.TAKEN)
    return str(order["run"])


def become(run_id: str, tag: str) -> bool:
    """Work in the run's folder, print to its log, what was printed until now first, and carry its tag; whether all of
    that could be done."""
    folder = paths.run_folder(run_id)
    os.chdir(folder.path)
    log = os.open(folder.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    printed = os.fstat(1).st_size
    os.write(log, os.pread(1, printed, 0))
    for descriptor in (1, 2):
        os.dup2(log, descriptor)
    os.close(log)
    return process.take_tag(tag)


if __name__ == "__main__":
    process_log.keep_secrets()
    sys.exit(hung_threads.leave_process(main(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))))
