"""Runs whose disk, or log, is full: training waits, says so, and goes on; nothing that is printed ends it, and how it
ended is known."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupwise.app.pages.run import header
from groupwise.storage.home import disk, paths, process
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.record import checkpoint_files, metrics, states
from groupwise.storage.registry import commands, registry
from groupwise.worker.builtin import models
from groupwise.worker.launchers import local
from groupwise.worker.training import checkpoints
from tests.conftest import Start
from tests.support.homes import wait_for
from tests.support.runs import acknowledged_step, ask_db, make_spec, queue
from tests.support.small_disk import fill, needs_root, small_disk
from tests.support.supervised import LONG, StartWorker, pid_of, supervisors, trains, wait_state, wait_step

pytestmark = needs_root

SIZE = 400  # megabytes: a run wants some free to begin at all


@pytest.fixture
def start_worker(own_home: Path) -> Iterator[StartWorker]:
    """Starts supervisors of a home that is a small disk."""
    with small_disk(own_home, SIZE):
        paths.prepare()
        registry.open_registry()
        with supervisors(own_home) as begin:
            yield begin


def events(folder: RunFolder, kind: str) -> list[str]:
    return [message for (message,) in ask_db(folder, "SELECT message FROM event WHERE kind = ? ORDER BY id", kind)]


def note_of(folder: RunFolder) -> str:
    """What the head of the run's page notes."""
    return str(header.run_status({"run": folder.id}).get("note", ""))


def everything_is_recorded(folder: RunFolder, steps: int) -> None:
    """Each step once, with its reward and its group of four."""
    assert metrics.read_metrics(folder.db)["curves"]["reward"]["x"] == list(range(1, steps + 1))
    assert ask_db(folder, "SELECT count(*) FROM completion") == [(4 * steps,)]
    assert ask_db(folder, "PRAGMA integrity_check") == [("ok",)]
    assert not folder.db.with_name("run.spill.jsonl").exists()


@contextlib.contextmanager
def standing_still(folder: RunFolder) -> Iterator[None]:
    """The run's trainer takes no step meanwhile."""
    trainer = pid_of(folder)
    os.kill(trainer, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(trainer, signal.SIGCONT)


def test_a_disk_that_is_full_for_a_while_costs_a_pause(start_worker: StartWorker, own_home: Path) -> None:
    """Before a checkpoint, whose room is missing too."""
    folder = queue(make_spec(training={**LONG, "max_steps": 40, "save_steps": 20}))
    start_worker()
    wait_step(folder, 3)
    with standing_still(folder):  # it takes some seconds to fill the disk, and forty steps on a fast machine one
        assert acknowledged_step(folder) < 20
        filler = fill(own_home)
    wait_for("the page to say so", lambda: trains(folder) and "The disk is full" in note_of(folder))
    time.sleep(1.0)
    reached = acknowledged_step(folder)
    time.sleep(2.0)  # forty steps, where it did not
    assert acknowledged_step(folder) == reached < 40, "it waits"
    assert registry.list_runs()[0].state == states.RUNNING
    filler.unlink()
    run = wait_state(folder.id, states.FINISHED)
    assert run.step == 40
    everything_is_recorded(folder, 40)
    waited, went_on = events(folder, "storage")[-2:]
    assert waited.startswith("The disk is full: ") and "goes on by itself" in waited
    assert went_on.startswith("There is room again: training continues, ")
    assert checkpoints.latest_whole(folder.checkpoints)[1] == []
    assert json.loads(folder.exit.read_text())["unrecorded"] == 0
    assert not list(folder.path.glob(".*"))


def test_a_checkpoint_that_finds_no_room_waits_for_it(start_worker: StartWorker, own_home: Path) -> None:
    """There is room for what is recorded, and a checkpoint of the starter takes some ten megabytes."""
    folder = queue(make_spec(training={**LONG, "max_steps": 36, "save_steps": 12}))
    start_worker()
    wait_step(folder, 2)
    with standing_still(folder):  # a checkpoint that was begun as the disk fills would take what is to be left
        assert acknowledged_step(folder) < 12
        filler = fill(own_home, leave=disk.FLOOR + 6 * disk.MEGABYTE)
    wait_for("the page to say so", lambda: trains(folder) and "the next checkpoint needs" in note_of(folder))
    assert acknowledged_step(folder) == 12
    assert checkpoints.latest_whole(folder.checkpoints) == (None, []), "nothing half saved is left"
    filler.unlink()
    wait_state(folder.id, states.FINISHED)
    everything_is_recorded(folder, 36)
    assert note_of(folder) == ""
    saved = ask_db(folder, "SELECT step FROM checkpoint ORDER BY step")
    assert saved == [(12,), (24,), (36,)]


def test_two_ranks_wait_together(own_home: Path) -> None:
    """One that waited alone would be waited for by the other in the next step, until that gives up."""
    with small_disk(own_home, SIZE):
        paths.prepare()
        registry.open_registry()
        models.install_starter()
        folder = queue(make_spec(training={**LONG, "max_steps": 6, "save_steps": 2}, launch={"processes": 2}))
        filler = fill(own_home, leave=disk.FLOOR + 6 * disk.MEGABYTE)
        child = local.start(folder, f"{folder.id}:1:two", 2)
        try:
            wait_for("the wait", lambda: child.poll() is None and events(folder, "storage"))
            time.sleep(1.0)
            assert acknowledged_step(folder) == 2
            filler.unlink()
            assert child.wait(timeout=120) == 0, folder.log.read_text()[-3000:]
        finally:
            process.signal_tagged(f"{folder.id}:1:two", folder.path, signal.SIGKILL)
            child.wait()
        assert json.loads(folder.exit.read_text())["outcome"] == "finished"
        assert ask_db(folder, "SELECT step FROM checkpoint ORDER BY step") == [(2,), (4,), (6,)]


# Fills the disk as soon as a checkpoint is begun, and makes room some seconds later.
# Most of the disk is taken once the run has begun, so that the rest is gone at once when it matters.
SPOIL = """
import contextlib, os, sys, time
from pathlib import Path
from groupwise.storage.home import disk
from tests.support.small_disk import fill
place, record, trigger = (Path(word) for word in sys.argv[1:])
while not record.exists():
    time.sleep(0.01)
early = fill(place, leave=48 * disk.MEGABYTE)
while not trigger.exists():
    time.sleep(0.0005)
last = place / "last"
with last.open("wb", buffering=0) as file, contextlib.suppress(OSError):
    while True:
        os.posix_fallocate(file.fileno(), file.tell(), max(disk.free_bytes(place), 4096))
        file.seek(0, os.SEEK_END)
print("full", flush=True)
time.sleep(4)
early.unlink()
last.unlink()
"""


@pytest.mark.parametrize("when", ["", "trainer_state.json"], ids=["as it begins", "before it is sealed"])
def test_a_disk_that_fills_up_while_a_checkpoint_is_saved_leaves_no_half_of_it(
    start_worker: StartWorker, own_home: Path, start: Start, when: str
) -> None:
    folder = queue(make_spec(training={**LONG, "max_steps": 16, "save_steps": 12}))
    spoiler = start("-c", SPOIL, str(own_home), str(folder.db), str(folder.checkpoints / "checkpoint-12" / when))
    start_worker()
    assert spoiler.stdout is not None and spoiler.stdout.readline() == "full\n"
    wait_state(folder.id, states.FINISHED)
    everything_is_recorded(folder, 16)
    whole = [path for path in folder.checkpoints.iterdir() if checkpoint_files.problem(path) is None]
    assert sorted(path.name for path in whole) == ["checkpoint-12", "checkpoint-16"], events(folder, "warning")


def test_a_stop_while_it_waits_ends_it_without_a_checkpoint(start_worker: StartWorker, own_home: Path) -> None:
    folder = queue(make_spec(training={**LONG, "max_steps": 3000}))
    start_worker()
    wait_for("a checkpoint", lambda: trains(folder) and ask_db(folder, "SELECT step FROM checkpoint"))
    filler = fill(own_home, leave=disk.MEGABYTE)  # whoever asks needs some
    wait_for("the page to say so", lambda: "The disk is full" in note_of(folder))
    commands.ask_of_run(folder.id, commands.STOP)
    run = wait_state(folder.id, states.STOPPED)
    filler.unlink()
    assert "as asked. Resume continues from step" in run.sentence


def test_a_run_that_is_killed_on_a_full_disk_says_so_afterwards(start_worker: StartWorker, own_home: Path) -> None:
    """The registry takes nothing meanwhile; how the process ended is known to whoever started it."""
    folder = queue(make_spec(training=LONG))
    start_worker()
    wait_step(folder, 3)
    filler = fill(own_home)
    time.sleep(1.0)
    os.kill(pid_of(folder), signal.SIGKILL)
    time.sleep(3.0)
    assert registry.list_runs()[0].state == states.RUNNING
    filler.unlink()
    assert "(SIGKILL), which Groupwise did not send" in wait_state(folder.id, states.KILLED).sentence


def test_a_run_that_fails_on_a_full_disk_has_its_reason(own_home: Path, start: Start) -> None:
    with small_disk(own_home, SIZE):
        paths.prepare()
        registry.open_registry()
        models.install_starter()
        folder = queue(make_spec(training={"per_device_train_batch_size": 16}, data={"limit": 2}))
        registry.set_state(folder.id, states.STARTING, "")
        filling = start("-c", FILL_ONCE_RECORDED, str(own_home), str(folder.path))
        training = start("-m", "groupwise.worker.training.train", folder.id, stderr=subprocess.STDOUT)
        out, _ = training.communicate(timeout=120)
        assert filling.wait(timeout=10) == 0 and disk.free_bytes(own_home) < disk.MEGABYTE
        record = json.loads(folder.exit.read_text())
    assert training.returncode == 1
    assert "there are 2 rows to train on" in record["reason"], out
    assert "CannotRun" in out, "the traceback is printed after it"


FILL_ONCE_RECORDED = """
import sys, time
from pathlib import Path
from tests.support.small_disk import fill
while not (Path(sys.argv[2]) / "run.db").exists():
    time.sleep(0.01)
fill(Path(sys.argv[1]))
"""


@contextlib.contextmanager
def full_log(folder: RunFolder, kilobytes: int) -> Iterator[Path]:
    """The run's log on a disk of its own, of which all is taken but so much."""
    with small_disk(folder.path.parents[2] / "logs", kilobytes / 1024) as place:
        log = place / "log.txt"
        log.touch()
        folder.log.touch()
        subprocess.run(["mount", "--bind", str(log), str(folder.log)], check=True)
        try:
            yield log
        finally:
            subprocess.run(["umount", "--lazy", str(folder.log)], check=True)


def test_a_full_log_ends_nothing(registry_home: Path) -> None:
    """As it was found: 64 KB are full after some dozen steps."""
    folder = queue(make_spec(training={**LONG, "max_steps": 150, "save_strategy": "no"}))
    with full_log(folder, 64) as log, supervisors(registry_home) as begin:
        begin()
        run = wait_state(folder.id, states.FINISHED)
        assert run.step == 150
        everything_is_recorded(folder, 150)
        assert log.stat().st_size > 60_000


PRINTS = """
import os, sys, time, warnings
from groupwise.storage.home import process_log
process_log.keep_secrets()
os.dup2(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND), 1)
filler = sys.argv[2]
print("first")
with open(filler, "wb") as file:
    try:
        file.write(b"x" * 10**7)
    except OSError:
        pass
for _ in range(100):
    print("é" * 1000, flush=True)
os.unlink(filler)
print("last \\ud800")
sys.stdout.flush()
"""


def test_what_a_full_disk_took_from_the_log_is_counted_in_it(tmp_path: Path, start: Start) -> None:
    with small_disk(tmp_path / "disk", 0.0625) as place:
        printing = start("-c", PRINTS, str(place / "log.txt"), str(place / "filler"))
        _, errors = printing.communicate(timeout=60)
        written = (place / "log.txt").read_text()
    assert printing.returncode == 0, errors
    first, *_, note, last = written.splitlines()
    assert (first, last) == ("first", "last \\ud800")
    assert note.startswith("… ") and note.endswith(" bytes could not be written here …")


def test_a_run_is_not_begun_where_its_disk_is_nearly_full(start_worker: StartWorker, own_home: Path) -> None:
    folder = queue(make_spec())
    fill(own_home, leave=disk.TO_BEGIN // 2)
    start_worker()
    sentence = wait_state(folder.id, states.FAILED).sentence
    assert "less than 256 MB of disk is free" in sentence and "Free some space" in sentence


def test_what_is_set_aside_for_the_last_word_is_written_on_a_full_disk(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from groupwise.storage.home.files import Reserved; from tests.support.small_disk import fill\n"
        "place = Path(sys.argv[1]); last = Reserved(place / 'exit.json', 100_000); fill(place)\n"
        "last.write_json({'reason': chr(0xd800) + 'x' * 90_000})"
    )
    with small_disk(tmp_path / "disk", 1) as place:
        subprocess.run([sys.executable, "-c", script, str(place)], check=True, timeout=30)
        assert json.loads((place / "exit.json").read_text())["reason"][-1] == "x"
        assert {path.name for path in place.iterdir()} == {"exit.json", "filler"}
