"""The spare training process: used where it is just what a run would get, and in no other case; whatever is killed, a
run has one process or none, and the process is that of a run as any other."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from groupwise.storage.home import files, process
from groupwise.storage.record import states
from groupwise.storage.registry import commands, registry
from groupwise.storage.registry.messages import facts
from groupwise.storage.registry.registry import Run
from groupwise.worker import niceness, warm_start
from groupwise.worker.capabilities import hardware
from groupwise.worker.warm_start import WarmStart
from tests.support import spares
from tests.support.homes import dashboard, wait_for
from tests.support.runs import acknowledged_step, make_spec, queue, state_of
from tests.support.supervised import LONG, StartWorker, resume, supervisors, wait_state, wait_step

SHORT = {"max_steps": 1}


@pytest.fixture
def start_worker(registry_home: Path) -> Iterator[StartWorker]:
    with supervisors(registry_home) as begin, spares.open_dashboard():
        yield begin


@pytest.fixture
def warm(registry_home: Path) -> Iterator[WarmStart]:
    with spares.open_dashboard(), spares.warm_start() as made:
        yield made


def queued_run() -> tuple[Run, str]:
    """A short run and a tag for it."""
    run = registry.get_run(queue(make_spec(training=SHORT)).id)
    assert run is not None
    return run, f"{run.id}:1:{os.urandom(8).hex()}"


def trains_alone(child: subprocess.Popen[bytes], run: Run, tag: str) -> bool:
    """Whether a process is the only one of a run, and trains it to its end."""
    wait_for("its tag", lambda: process.carries(child.pid, tag), 10)
    alone = process.tagged_pids(tag, run.folder.path) == [child.pid]
    return alone and child.wait(180) == 0 and (files.read_json(run.folder.exit) or {})["outcome"] == "finished"


def test_a_run_that_started_in_the_spare_is_as_any_other(start_worker: StartWorker, registry_home: Path) -> None:
    """Its process, log, niceness, signals; it outlives its supervisor, is taken over, stopped and resumed; killed."""
    supervisor = start_worker()
    spare = spares.await_ready(supervisor.pid, registry_home)
    assert Path(f"/proc/{spare}/oom_score_adj").read_text() == "1000\n", "it goes before a training does"
    niceness.park(spare, None)
    folder = queue(make_spec(training=LONG))
    run = wait_state(folder.id, states.RUNNING)
    assert run.pid == spare == os.getsid(spare)
    assert process.tagged_pids(run.tag or "", folder.path) == [spare] and process.works_in(spare, folder.path)
    own = os.getpriority(os.PRIO_PROCESS, 0)
    threads = os.listdir(f"/proc/{spare}/task")
    assert {os.getpriority(os.PRIO_PROCESS, int(thread)) for thread in threads} == {own}
    assert spares.niceness_of_session(spare) in (0, None)
    same = Path("/proc/self/oom_score_adj").read_text()
    assert Path(f"/proc/{spare}/oom_score_adj").read_text() == same
    outputs = {os.readlink(f"/proc/{spare}/fd/{number}") for number in (1, 2)}
    assert outputs == {str(folder.log)} and os.readlink(f"/proc/{spare}/fd/0") == "/dev/null"

    supervisor.kill()
    supervisor.wait()
    wait_step(folder, acknowledged_step(folder) + 2)
    successor = start_worker()
    commands.ask_of_run(folder.id, commands.STOP)
    stopped = wait_state(folder.id, states.STOPPED)
    assert stopped.pid == spare and "Resume continues from step" in stopped.sentence
    assert "'reward'" in folder.log.read_text()

    another = spares.await_ready(successor.pid, registry_home)
    resume(folder)
    run = wait_state(folder.id, states.RUNNING)
    assert run.pid == another and run.attempt == 2
    os.kill(another, signal.SIGKILL)
    assert "memory ran out" in wait_state(folder.id, states.KILLED).sentence
    assert not process.tagged_anywhere(run.tag or "")


def test_a_supervisor_that_is_killed_while_it_hands_over_leaves_no_process(
    start_worker: StartWorker, registry_home: Path
) -> None:
    supervisor = start_worker()
    spare = spares.await_ready(supervisor.pid, registry_home)
    os.kill(spare, signal.SIGSTOP)
    folder = queue(make_spec(training=SHORT))
    wait_for("it to be started", lambda: state_of(folder.id) == states.STARTING)
    time.sleep(0.3)
    supervisor.kill()
    supervisor.wait()
    wait_for("the spare to go with it", lambda: process.identity_of(spare) is None, 10)
    start_worker()
    run = wait_state(folder.id, states.INTERRUPTED)
    assert not process.tagged_anywhere(run.tag or "") and not folder.db.exists()
    resume(folder)
    wait_state(folder.id, states.FINISHED)


def test_a_supervisor_that_is_killed_at_any_moment_leaves_one_process_or_none(
    start_worker: StartWorker, registry_home: Path
) -> None:
    for _ in range(3):
        supervisor = start_worker()
        spares.await_ready(supervisor.pid, registry_home)
        folder = queue(make_spec(training=LONG))
        wait_for("it to be started", lambda i=folder.id: state_of(i) == states.STARTING)
        time.sleep(random.uniform(0, 0.06))
        supervisor.kill()
        supervisor.wait()
        successor = start_worker()
        wait_for("it to be known", lambda i=folder.id: state_of(i) in (states.RUNNING, states.INTERRUPTED))
        run = registry.get_run(folder.id)
        assert run is not None
        trains = run.state == states.RUNNING
        assert process.tagged_anywhere(run.tag or "") == ([run.pid] if trains else [])
        if trains:
            commands.ask_of_run(folder.id, commands.KILL)
            wait_state(folder.id, states.STOPPED)
        successor.kill()
        successor.wait()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_spare_that_is_killed_or_hangs_is_as_none(warm: WarmStart, number: signal.Signals) -> None:
    spare = spares.ready_spare(warm)
    os.kill(spare.child.pid, number)
    run, tag = queued_run()
    child = warm.begin(run, tag, 1)
    assert child.pid != spare.child.pid and not spare.lives()
    assert trains_alone(child, run, tag)


def test_a_spare_of_another_environment_is_ended(warm: WarmStart, monkeypatch: pytest.MonkeyPatch) -> None:
    spare = spares.ready_spare(warm)
    assert spare.fits("run:1:abc", 1) and not spare.fits("run:1:abc", 2), "accelerate starts several"
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    run, tag = queued_run()
    child = warm.begin(run, tag, 1)
    assert child.pid != spare.child.pid and not spare.lives()
    wait_for("its tag", lambda: process.carries(child.pid, tag), 10)
    assert b"OMP_NUM_THREADS=2" in Path(f"/proc/{child.pid}/environ").read_bytes().split(b"\0")
    assert trains_alone(child, run, tag)


def test_a_spare_with_another_version_than_what_is_installed_leaves(
    warm: WarmStart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(packages))
    spare = spares.ready_spare(warm)
    (packages / "note.txt").write_text("no package")
    (packages / "new-1.0.dist-info").mkdir()
    run, tag = queued_run()
    child = warm.begin(run, tag, 1)
    assert child.pid != spare.child.pid and not spare.lives()
    child.kill()
    child.wait()


CHANGES = """
import os, sys, time
from pathlib import Path
from groupwise.worker.training.stale_imports import Loaded
place = Path(sys.argv[1])
sys.path.insert(0, str(place))
time.sleep(0.05)
loaded = Loaded()
loaded._begun = time.time_ns()
time.sleep(0.05)
import module
loaded.note()
print(loaded.has_changed())
(place / "other.txt").write_text("x")
print(loaded.has_changed())
before = os.stat(place / "module.py")
(place / "module.py").write_text("a = 2")
os.utime(place / "module.py", ns=(before.st_atime_ns, before.st_mtime_ns))
print(loaded.has_changed())
"""


def test_a_file_that_changed_since_its_import_is_seen_even_with_its_old_time_and_size(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text("a = 1")
    said = subprocess.run([sys.executable, "-c", CHANGES, str(tmp_path)], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["False", "False", "True"]


def test_nothing_waits_where_memory_is_short_or_gets_short(
    warm: WarmStart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Below the limit of our own control group, whose files are made here."""
    group = tmp_path / "group"
    group.mkdir()
    monkeypatch.setattr(hardware, "GROUP", group)
    (group / "memory.stat").write_text(f"anon 5\nactive_file {2**20}\ninactive_file {2**20}\n")
    (group / "memory.current").write_text(f"{2**30 + 2**21}\n")
    (group / "memory.max").write_text("max\n")
    assert hardware.free_memory() == pytest.approx(hardware._free_of_machine(), rel=0.2)
    (group / "memory.max").write_text(f"{2**30 + warm_start.TO_START - 1}\n")
    assert hardware.free_memory() == warm_start.TO_START - 1
    spares.look(warm)
    assert warm.spare is None
    (group / "memory.max").write_text(f"{2**30 + warm_start.TO_START}\n")
    spares.look(warm)
    spare = warm.spare
    assert spare is not None
    (group / "memory.max").write_text(f"{2**30 + warm_start.TO_KEEP - 1}\n")
    spares.look(warm)
    assert warm.spare is None and not spare.lives()


def test_nothing_waits_where_that_is_not_wanted_or_nobody_could_click(registry_home: Path) -> None:
    with spares.warm_start() as warm:
        spares.look(warm)
        assert warm.spare is None, "no dashboard is open"
        with spares.open_dashboard():
            registry.publish_fact(facts.WarmStart(wanted=False))
            spares.look(warm)
            assert warm.spare is None
            registry.publish_fact(facts.WarmStart(wanted=True))
            spares.look(warm, busy=True)
            assert warm.spare is None, "the processors are wanted for something else"
            spares.look(warm)
            first = warm.spare
            assert first is not None
        spares.look(warm)
        assert warm.spare is None and not first.lives()


def test_whoever_starts_the_dashboard_says_whether_one_waits(registry_home: Path) -> None:
    for wanted in (False, True):
        with dashboard(warm_start=wanted):
            assert registry.read_fact(facts.WarmStart) == facts.WarmStart(wanted=wanted)


def test_a_spare_that_still_imports_is_ended_by_a_launch(warm: WarmStart) -> None:
    spares.look(warm)
    spare = warm.spare
    assert spare is not None
    run, tag = queued_run()
    child = warm.begin(run, tag, 1)
    assert child.pid != spare.child.pid and not spare.lives()
    child.kill()
    child.wait()


def test_the_next_spare_waits_until_a_run_trains_calmly(warm: WarmStart, monkeypatch: pytest.MonkeyPatch) -> None:
    run, _ = queued_run()
    monkeypatch.setattr(warm_start, "CALM", 0.2)

    def begins_one(state: str, step: int) -> bool:
        warm._looked_at = warm._not_before = 0.0
        warm.look(replace(run, state=state, step=step), False)
        return warm.spare is not None

    for state, step in ((states.STARTING, 0), (states.RUNNING, 0), (states.RUNNING, 1)):
        assert not begins_one(state, step)
        time.sleep(0.3)
    assert begins_one(states.RUNNING, 2)
    spare = warm.spare
    assert spare is not None and os.getpriority(os.PRIO_PROCESS, spare.child.pid) in (niceness.LOWEST, 0)
    assert spares.niceness_of_session(spare.child.pid) in (niceness.LOWEST, None)


def test_a_tag_takes_only_a_blank_s_place() -> None:
    code = "from groupwise.storage.home import process; import sys; print(process.take_tag(sys.argv[1]))"
    for before, tag, taken in (
        (process.NO_TAG, "run:1:abc", True), (process.NO_TAG, "x" * 129, False), ("other", "run:1:abc", False),
    ):  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", code, tag], env={**os.environ, process.TAG: before}, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        assert done.stdout == f"{taken}\n"
