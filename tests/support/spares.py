"""Spare training processes in tests: a dashboard that seems open, and a spare that is ready."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from groupwise.storage.home import locks, paths
from groupwise.worker import niceness
from groupwise.worker.launchers.spare import Spare
from groupwise.worker.warm_start import WarmStart
from tests.conftest import holding
from tests.support.asking import children
from tests.support.homes import wait_for

MODULE = "groupwise.worker.training.wait_for_run"


@contextlib.contextmanager
def open_dashboard() -> Iterator[None]:
    """What a supervisor sees of one: its lock."""
    with holding(paths.app_lock()):
        assert locks.is_held(paths.app_lock())
        yield


@contextlib.contextmanager
def warm_start() -> Iterator[WarmStart]:
    """One whose supervisor is this process."""
    warm = WarmStart()
    try:
        yield warm
    finally:
        warm.end()


def look(warm: WarmStart, **options: bool) -> None:
    """A look, as if the last was a while ago."""
    warm._looked_at = warm._not_before = 0.0
    warm.look(None, options.get("busy", False))


def ready_spare(warm: WarmStart) -> Spare:
    """Its spare, once it is ready."""
    look(warm)
    spare = warm.spare
    assert spare is not None
    hurry(spare.child.pid)

    def is_ready() -> bool:
        warm.look(None, False)
        assert spare.lives()
        return spare.ready

    wait_for("the spare", is_ready, 240)
    return spare


def hurry(pid: int) -> None:
    """Give a spare its share of the processors: on a busy machine its imports would take minutes."""
    niceness.unpark(pid)


def spare_of(supervisor: int) -> int | None:
    """The spare that a supervisor has."""
    found = [pid for pid in children(supervisor) if MODULE.encode() in words(pid)]
    return found[0] if found else None


def words(pid: int) -> list[bytes]:
    """The command line of a process; none where it is gone."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return []


def await_ready(supervisor: int, place: Path) -> int:
    """The supervisor's next spare, once it is ready."""
    pid: int = wait_for("a spare", lambda: spare_of(supervisor), 60)
    wait_for("it to be parked", lambda: niceness_of_session(pid) in (niceness.LOADING, niceness.LOWEST, None), 10)
    hurry(pid)
    line = f"a spare training process is ready: process {pid}\n"
    wait_for("the spare to be ready", lambda: line in (place / "worker.log").read_text(), 240)
    return pid


def niceness_of_session(pid: int) -> int | None:
    """None where sessions have no share of their own here."""
    group = Path(f"/proc/{pid}/autogroup")
    return int(group.read_text().split()[-1]) if group.exists() else None
