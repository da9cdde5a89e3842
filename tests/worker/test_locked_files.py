"""Files that stay locked for longer than anyone waits: training goes on, nothing is lost, and how it ended is known."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupwise.storage.home import paths
from groupwise.storage.record import record, states
from groupwise.storage.record.step_record import read_lines
from groupwise.storage.registry import registry
from tests.conftest import Start
from tests.support.homes import wait_for
from tests.support.runs import acknowledged_step, ask_db, make_spec, queue, state_of
from tests.support.supervised import LONG, StartWorker, pid_of, supervisors, wait_state, wait_step

REGISTRY_PATIENCE = 10.0  # seconds: what storage.home.db waits for a locked file where nothing else is said

# Nobody else writes these files until it is told so; reading them goes on, so that a supervisor tries to write.
HOLD = """
import sqlite3, sys
held = [sqlite3.connect(path, isolation_level=None, timeout=30) for path in sys.argv[1:]]
for one in held:
    one.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def start_worker(registry_home: object) -> Iterator[StartWorker]:
    with supervisors(paths.home()) as begin:
        yield begin


def lines_of(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_a_while_in_which_nothing_can_be_written_and_the_trainer_dies(start_worker: StartWorker, start: Start) -> None:
    folder = queue(make_spec(training={**LONG, "max_steps": 100_000, "save_steps": 50}))
    start_worker()
    wait_step(folder, 3)
    pid = pid_of(folder)
    locker = start("-S", "-c", HOLD, str(folder.db), str(paths.registry_path()), stdin=subprocess.PIPE)
    assert locker.stdout is not None and locker.stdin is not None
    locker.stdout.readline()
    spill = record.spill_of(folder.db)
    wait_for("fifty steps and a checkpoint beside the file", lambda: lines_of(spill) > 55)
    kept = lines_of(spill)
    wait_for("training to go on", lambda: lines_of(spill) > kept)
    os.kill(pid, signal.SIGKILL)
    newest = read_lines(spill)[-1].step
    time.sleep(REGISTRY_PATIENCE + 3)  # the supervisor, who would write how it ended, gives up once at least
    assert state_of(folder.id) == states.RUNNING
    locker.stdin.write("\n")
    locker.stdin.flush()
    locker.wait()
    run = wait_state(folder.id, states.KILLED)
    assert "(SIGKILL), which Groupwise did not send" in run.sentence
    assert not spill.exists()
    [(rows, last)] = ask_db(folder, "SELECT count(DISTINCT step), max(step) FROM acknowledged WHERE step > 0")
    assert rows == last == acknowledged_step(folder) == newest > 50
    assert ask_db(folder, "SELECT count(*) FROM grp") == [(last,)]
    assert registry.list_runs()[0].step == last
