"""Data homes and dashboards for measurements and browser tests; what they start is ended by id, and nothing else."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from groupwise.storage.home import files, locks, paths, process
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.record import states
from groupwise.storage.registry import registry
from groupwise.storage.spec import spec
from groupwise.storage.spec.spec import RunSpec
from groupwise.worker.builtin import models, shipped

# s, for what comes sooner or later: a wait costs what it takes, and on a busy machine all takes three times as long.
PATIENCE = 300.0
QUICKSTART = Path(__file__).parents[2] / "app" / "pages" / "new" / "shipped_presets" / "quickstart.yaml"


@contextlib.contextmanager
def fresh_home() -> Iterator[Path]:
    """A prepared home in a temporary folder, for this process and its children."""
    with (
        tempfile.TemporaryDirectory(prefix="groupwise-bench-", ignore_cleanup_errors=True) as place,
        in_home(place),
    ):
        paths.prepare()
        registry.open_registry()
        try:
            yield Path(place)
        finally:
            end_trainings()


def end_trainings() -> None:
    """Kill what trains in this home."""
    for run in registry.list_runs(curves=False):
        if run.tag:
            process.signal_tagged(run.tag, run.folder.path, signal.SIGKILL)


@contextlib.contextmanager
def in_home(place: str | Path | None) -> Iterator[None]:
    """In another home (None: the usual one), which was prepared before."""
    before = os.environ.pop("GROUPWISE_HOME", None)
    if place is not None:
        os.environ["GROUPWISE_HOME"] = str(place)
    try:
        yield
    finally:
        os.environ.pop("GROUPWISE_HOME", None)
        if before is not None:
            os.environ["GROUPWISE_HOME"] = before


# The registry's tables of what a person brought or made; the others are the worker's.
BROUGHT = ("run", "command", "preset", "reward_code", "reward", "note", "trash", "outcome")


def empty_home() -> None:
    """Leave nothing in this home of what a person brought or made: runs, data, models, reward functions, presets. Its
    dashboard and its worker go on."""
    for run in registry.list_runs(only={states.QUEUED}):
        registry.set_state(run.id, states.STOPPED, "Its test is over.")
    end_trainings()
    wait_for("all trainings to be gone", lambda: not any(map(_goes_on, registry.list_runs(curves=False))))
    with registry.write_registry() as index:
        for table in BROUGHT:
            index.execute(f"DELETE FROM {table}")
        for path in paths.runs_folder().iterdir():  # with their rows: the worker takes in a folder that has none
            path.rename(paths.trash_folder() / path.name)
    here = (paths.runs_folder(), paths.trash_folder(), paths.data_folder(), paths.models_folder(),
            paths.rewards_folder(), paths.uploads_folder())  # fmt: skip
    for path in itertools.chain.from_iterable(folder.iterdir() for folder in here):
        if path.name == "starter":
            continue  # which the worker brought
        if path.is_dir() and not path.is_symlink():
            wait_for(f"{path.name} to be gone", functools.partial(_is_removed, path))
        else:
            path.unlink(missing_ok=True)


def _is_removed(folder: Path) -> bool:
    """Whether a folder is gone now: its worker may write a last file while it is removed."""
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def _goes_on(run: registry.Run) -> bool:
    """Whether a process still works in its folder; what its state says is gone with its row."""
    return files.is_file(run.folder.lock) and locks.is_held(run.folder.lock)


def quickstart() -> RunSpec:
    return spec.parse_spec(QUICKSTART.read_text(encoding="utf-8"))


def queued(run_spec: RunSpec) -> RunFolder:
    """A run in the queue, its folder frozen as the supervisor would."""
    run_id = registry.create_run(
        spec.to_yaml(run_spec), name=run_spec.name, model=run_spec.model.id, data=run_spec.data.source
    )
    folder = paths.run_folder(run_id)
    shipped.freeze(folder, run_spec)
    models.install_starter()
    return folder


@contextlib.contextmanager
def no_worker() -> Iterator[None]:
    """Nothing takes up or settles the runs of this home: a process that does nothing holds the supervisor's lock."""
    hold = (
        "import sys; from pathlib import Path; from groupwise.storage.home import locks; "
        "assert locks.hold(Path(sys.argv[1])); "
    )
    words = [sys.executable, "-c", hold + "print('held', flush=True); sys.stdin.read()", str(paths.supervisor_lock())]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None and child.stdout.readline() == "held\n"
        try:
            yield
        finally:
            child.kill()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


OURS = (sys.executable, "-m", "groupwise.app")


@contextlib.contextmanager
def dashboard(
    port: int | None = None,
    *options: str,
    warm_start: bool = False,
    command: Sequence[str] = OURS,
    place: Path | None = None,
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """`groupwise` on a free port, or this one, with more options: (process, address). Its supervisor ends with it.
    `warm_start`: whether it gets a spare training process ready, which takes processor time while others measure.
    `command`: another installation's, in `place`."""
    port = port or free_port()
    options = options if warm_start else (*options, "--no-warm-start")
    app = subprocess.Popen(
        [*command, "serve", "--port", str(port), "--no-open", *options],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=place,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for("the first page", lambda: answers(address))
        yield app, address
    finally:
        app.kill()
        app.wait()
        end_supervisor()


def end_supervisor() -> None:
    """End the supervisor of this home."""
    for pid, _ in supervisors():
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGTERM)


def supervisors() -> list[tuple[int, str]]:
    """(process, its Python) of this home's: what has the home in its environment and runs `-m groupwise.worker`."""
    here = f"GROUPWISE_HOME={os.environ['GROUPWISE_HOME']}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if words[1:3] == [b"-m", b"groupwise.worker"] and here in (entry / "environ").read_bytes().split(b"\0"):
                found.append((int(entry.name), os.fsdecode(words[0])))
    return found


def answers(address: str) -> bool:
    with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=5) as reply:
        return bool(reply.status == 200)
    return False


def wait_for(what: str, is_so: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """Wait until `is_so()` is true and return it; TimeoutError, naming what was waited for, when it takes too long.
    What has taken a second is looked at less often: what is waited for computes on the same processors."""
    begun = time.monotonic()
    while time.monotonic() < begun + seconds:
        found = is_so()
        if found:
            return found
        time.sleep(0.02 if time.monotonic() < begun + 1 else 0.05)
    raise TimeoutError(f"waited {seconds:.0f} s in vain for {what}")
