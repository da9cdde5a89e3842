"""Keeps the worker alive: starts its supervisor as a process of its own, which outlives the app."""

import contextlib
import subprocess
import sys
import threading
import time
from pathlib import Path

from groupwise.storage.home import locks, paths, process
from groupwise.storage.registry import questions

EVERY = 2.0  # seconds between two looks
LONGEST_PAUSE = 60.0  # seconds between two attempts to start a supervisor that ends at once, at most
ROOT = Path(__file__).parents[2]  # the folder that holds app, worker and storage

_child: subprocess.Popen[bytes] | None = None  # the last supervisor this process started
_starting = threading.Lock()


def worker_lives() -> bool:
    """Whether a supervisor holds this home."""
    return locks.is_held(paths.supervisor_lock())


def loads_libraries() -> bool:
    """Whether the worker's process that answers questions loads what it answers with, or is about to: it is started
    only when something is asked. A try needs none of it."""
    if locks.is_held(paths.questions_ready_lock()):
        return False
    return locks.is_held(paths.questions_lock()) or questions.is_any_open(but=questions.TRY)


def ensure_worker() -> bool:
    """Start a supervisor if none lives and none of ours is still starting; whether one was started.

    Raises OSError where its log cannot be written or no process can be made.
    """
    global _child
    with _starting:
        if worker_lives() or (_child is not None and _child.poll() is None):
            return False
        _child = _start_supervisor()
        return True


def wake_worker() -> None:
    """Make sure a worker is there to take up what was asked.

    Where none can be started now, what was asked stays asked: the app keeps trying, and the bar on top says so.
    """
    with contextlib.suppress(OSError):
        ensure_worker()


def _start_supervisor() -> subprocess.Popen[bytes]:
    """Its own session, so that neither Ctrl-C nor a closed terminal reaches it; no pipe to this process."""
    environment = process.child_environment(trackers=True) | {"GROUPWISE_HOME": str(paths.home())}
    with paths.worker_log().open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "groupwise.worker"],
            cwd=ROOT, env=environment, start_new_session=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip


def hold_app_lock() -> int | None:
    """Tell an idle supervisor, for as long as this process lives, that someone may need it. Once a process: see
    storage.home.locks."""
    return locks.hold(paths.app_lock(), shared=True)


class Watch(threading.Thread):
    """Looks every two seconds, for the app's life, that a supervisor lives."""

    def __init__(self) -> None:
        super().__init__(name="watch", daemon=True)
        self._ended = threading.Event()
        self._pause = 0.0
        self._not_before = 0.0

    def start(self) -> None:
        """Hold the app's lock, and begin to look."""
        hold_app_lock()
        super().start()

    def run(self) -> None:
        """Look again and again until stopped."""
        while True:
            self._check_worker()
            if self._ended.wait(EVERY):
                return

    def stop(self) -> None:
        """Stop looking; a living supervisor stays."""
        self._ended.set()

    def _check_worker(self) -> None:
        """Start a supervisor where needed, after ever longer pauses where they end at once."""
        if time.monotonic() < self._not_before:
            return
        try:
            started = ensure_worker()
        except OSError as error:
            print(f"groupwise: the worker could not be started: {error}", file=sys.stderr, flush=True)
            started = True
        if started:
            self._not_before = time.monotonic() + self._pause
            self._pause = min(max(EVERY, 2 * self._pause), LONGEST_PAUSE)
        elif worker_lives():
            self._pause = 0.0
