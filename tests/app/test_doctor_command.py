"""`groupwise doctor`: of real homes on disk, whole and broken; it says what is wrong and what to do, and changes
nothing."""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from groupwise.app.cli.doctor import examine, home, hub, machine, packages, processes, runs
from groupwise.app.cli.doctor.finding import MARKS, NOTE, OK, PROBLEM, Finding
from groupwise.app.core.terminal import UNSAFE
from groupwise.storage.home import db, file_system, migrations, paths
from groupwise.storage.record import states
from groupwise.storage.registry import registry, registry_check
from groupwise.storage.registry.messages.facts import Sandbox, TrustRewardCode, Worker
from tests.conftest import Groupwise, ending
from tests.support.made_runs import made_run, running
from tests.support.sandboxes import NOBODY, setpriv
from tests.support.small_disk import needs_root, small_disk

HOSTILE = "x\x1b[31m\x9b2J\u202e\x07\n"
CANARY = "hf_QwErTyUiOpAsDfGhJkLzXcVbNm123456"


def told(found: list[Finding], name: str) -> Finding:
    """The only finding of this name."""
    (one,) = [each for each in found if each.name == name]
    return one


def of_registry() -> Finding:
    return told(runs.look_at_runs(registry_check.look_at_registry()), "Registry")


def of_runs() -> list[Finding]:
    return runs.look_at_runs(registry_check.look_at_registry())


def everything_below(place: Path) -> dict[str, tuple[int, int, int]]:
    """Each file and folder with what a change of it would change."""
    found = [place, *place.rglob("*")]
    return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_size, path.lstat().st_ino) for path in found}


# --- the whole command


def test_a_fresh_home_can_train_and_is_not_made(groupwise: Groupwise, own_home: Path) -> None:
    result = groupwise("doctor", "--json", env={**os.environ, "HF_TOKEN": CANARY})
    found = json.loads(result.stdout)
    assert (result.returncode, result.stderr, own_home.exists()) == (0, "", False)
    assert all(list(one) == ["name", "state", "says", "do"] and one["state"] in MARKS for one in found)
    assert all(one["says"].endswith(".") and (one["do"] or one["state"] == OK) for one in found)
    says = {one["name"]: one["says"] for one in found}
    assert f"{own_home} (from GROUPWISE_HOME) does not exist yet" in says["Data home"]
    assert says["torch"].startswith(packages.installed_version("torch")) and "trl 1." in says["Libraries"]
    assert "HF_TOKEN" in says["Hub login"] and CANARY not in result.stdout


def test_a_home_full_of_runs_is_told_in_lines_and_stays_as_it_is(groupwise: Groupwise, registry_home: Path) -> None:
    for state in (states.FINISHED, states.FINISHED, states.KILLED):
        made_run(state, 3, state=state)
    odd = paths.runs_folder() / HOSTILE
    odd.mkdir()
    (registry_home / "registry.damaged-20260101-000000.db").write_bytes(b"x" * 5000)
    for path in (odd, paths.runs_folder()):
        os.utime(path, (1e9, 1e9))
    before = everything_below(registry_home)
    result = groupwise("doctor")
    assert result.returncode == 0 and everything_below(registry_home) == before
    lines = result.stdout.splitlines()
    assert not UNSAFE.search(result.stdout) and lines[-1].startswith("Runs can be trained here.")
    (counts,) = [line for line in lines if "3 runs: 2 finished, 1 killed." in line]
    assert counts.startswith("✓ ok")
    stray = lines.index(next(line for line in lines if "is not a run" in line))
    assert lines[stray].startswith("▲ note") and "→ Copy the folder of a run again" in lines[stray + 1]
    assert any(line.startswith("▲ note") and "1 damaged registry" in line for line in lines)


def test_a_run_whose_process_is_gone_is_counted_as_the_list_has_it(groupwise: Groupwise, registry_home: Path) -> None:
    """The list said “interrupted”, the doctor “1 running”, and that it waits for a worker."""
    running(registry.create_run("name: gone", name="gone", model="starter", data="task:arithmetic"))
    says = {one["name"]: one["says"] for one in json.loads(groupwise("doctor", "--json").stdout)}
    assert says["Runs"] == "1 run: 1 interrupted."
    assert says["Worker"] == "None runs; the first launch, or the dashboard, starts it."
    assert [run.state for run in registry.list_runs()] == [states.RUNNING], "it only looks"


def test_a_damaged_registry_keeps_runs_from_training(groupwise: Groupwise, registry_home: Path) -> None:
    paths.registry_path().write_bytes(b"this was a database once " * 400)
    before = everything_below(registry_home)
    result = groupwise("doctor", "--json")
    one = next(one for one in json.loads(result.stdout) if one["name"] == "Registry")
    assert result.returncode == 1 and everything_below(registry_home) == before
    assert one["state"] == PROBLEM and "is damaged" in one["says"] and "`groupwise repair`" in one["do"]


def test_a_home_that_is_a_file_is_a_finding(groupwise: Groupwise, own_home: Path) -> None:
    own_home.write_text("I am a file")
    result = groupwise("doctor")
    assert result.returncode == 1 and own_home.read_text() == "I am a file"
    assert "✗ problem  Data home" in result.stdout and "→ Choose another folder with GROUPWISE_HOME" in result.stdout


@needs_root
def test_a_home_that_this_user_may_not_write_is_a_finding(registry_home: Path) -> None:
    """As another user, who may read everything (the interpreter may lie in root's home) and write nothing."""
    made_run("kept", 3)
    before = everything_below(registry_home)
    cap = "+dac_read_search"
    user = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps", cap, "--ambient-caps", cap]
    asked = [setpriv(), *user, sys.executable, "-m", "groupwise.app", "doctor", "--json"]
    result = subprocess.run(asked, capture_output=True, text=True, timeout=60)
    found = {one["name"]: one for one in json.loads(result.stdout)}
    assert (result.returncode, result.stderr, everything_below(registry_home)) == (1, "", before)
    assert found["Data home"]["state"] == PROBLEM and f"id {NOBODY}" in found["Data home"]["do"]
    assert found["Runs"]["says"] == "1 run: 1 finished." and found["Registry"]["state"] == OK


def test_what_cannot_be_looked_at_is_a_finding(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HOME", f"{tmp_path}/{'n' * 300}")  # longer than a name may be
    assert examine._safely("Hub", hub.look_at_hub)
    for name, state in (("Hub", NOTE), ("Registry", PROBLEM)):
        (one,) = examine._safely(name, lambda: [Finding(str(1 / 0), OK, "")])
        assert one.state == state and "ZeroDivisionError" in one.says and one.do


# --- the home and its disk


@needs_root
def test_a_small_disk_in_memory_is_told(own_home: Path) -> None:
    with small_disk(own_home, 8):
        found = home.look_at_home()
    assert told(found, "Disk").state == PROBLEM and "No run begins with less than 256 MB" in told(found, "Disk").says
    assert told(found, "File system").state == NOTE and "tmpfs" in told(found, "File system").says


def test_the_kind_of_file_system_is_that_of_the_nearest_mount(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a b" / "c").mkdir(parents=True)
    place = str(tmp_path.resolve()).replace(" ", r"\040")
    lines = [
        "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw",
        f"23 22 0:40 / {place}/a\\040b rw,relatime shared:1 - nfs4 server:/x rw",
        f"24 22 0:41 / {place}/a rw - tmpfs none rw",
        "odd",
    ]
    mounts = tmp_path / "mountinfo"
    mounts.write_text("\n".join(lines))
    monkeypatch.setattr(file_system, "MOUNTS", mounts)
    assert file_system.kind_of_file_system(tmp_path / "a b" / "c") == "nfs4"
    assert file_system.kind_of_file_system(tmp_path) == "ext4"
    monkeypatch.setenv("GROUPWISE_HOME", str(tmp_path / "a b" / "home"))
    one = told(home.look_at_home(), "File system")
    assert one.state == NOTE and "nfs4" in one.says and "GROUPWISE_HOME" in one.do


def test_what_lies_in_a_folder_is_added_up_once(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "file").write_bytes(b"x" * 100_000)
    os.link(tmp_path / "in" / "file", tmp_path / "again")
    (tmp_path / "out").symlink_to("/usr")
    size, whole = file_system.bytes_below(tmp_path, time.monotonic() + 60)
    assert whole and 100_000 <= size < 200_000
    assert file_system.bytes_below(tmp_path, time.monotonic() - 1) == (0, False)


# --- the registry and the runs


def test_a_newer_registry_is_read_and_keeps_runs_from_training(registry_home: Path) -> None:
    made_run("kept", 3)
    with contextlib.closing(db.open_writer(paths.registry_path(), journal="delete")) as file:
        row = (migrations.registry.name, "r999_of_a_newer_version", "2030-01-01")
        file.execute("INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES (?, ?, ?)", row)
    found = of_runs()
    assert told(found, "Registry").state == PROBLEM and told(found, "Registry").do.startswith("Update Groupwise, or")
    assert told(found, "Runs").says == "1 run: 1 finished."


def test_an_older_registry_is_brought_up_to_date_by_the_next_start(own_home: Path) -> None:
    paths.prepare()
    last = migrations.names(migrations.registry)[-1]
    with contextlib.closing(db.open_writer(paths.registry_path(), journal="delete")) as file:
        migrations.registry.apply(file, stop_before=last)
    assert of_registry().state == OK and "older version" in of_registry().says


def test_a_held_registry_is_told(registry_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry_check, "PATIENCE", 0.1)
    other = db.open_writer(paths.registry_path(), journal="delete")
    other.execute("BEGIN EXCLUSIVE")
    one = of_registry()
    other.close()
    assert one.state == PROBLEM and "locked" in one.says and one.do


def test_a_write_that_was_cut_short_is_told_and_not_taken_back(registry_home: Path, tmp_path: Path) -> None:
    made_run("kept", 3)
    place = paths.registry_path()
    writer = sqlite3.connect(place, isolation_level=None)
    writer.execute("PRAGMA cache_size=1")
    writer.execute("BEGIN IMMEDIATE")
    writer.executemany("INSERT INTO published VALUES (?, ?, 0)", [(str(n), "x" * 2000) for n in range(200)])
    for name in (place.name, f"{place.name}-journal"):
        shutil.copy(registry_home / name, tmp_path / name)
    writer.execute("ROLLBACK")
    writer.close()
    for name in (place.name, f"{place.name}-journal"):
        shutil.copy(tmp_path / name, registry_home / name)
    before = everything_below(registry_home)
    assert of_registry().state == NOTE and "killed as it wrote" in of_registry().says
    assert everything_below(registry_home) == before


def test_records_that_cannot_be_read_are_named_and_keep_nothing_from_training(registry_home: Path) -> None:
    ids = {what: made_run(what, 3) for what in ("whole", "damaged", "lost", "gone", "newer")}
    folders = {what: paths.run_folder(run_id) for what, run_id in ids.items()}
    folders["damaged"].db.write_bytes(b"no database " * 1000)
    folders["lost"].db.unlink()
    shutil.rmtree(folders["gone"].path)
    with contextlib.closing(db.open_writer(folders["newer"].db, journal="delete")) as file:
        row = (migrations.record.name, "d999_of_a_newer_version", "2030-01-01")
        file.execute("INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES (?, ?, ?)", row)
    before = everything_below(registry_home)
    found = of_runs()
    broken, newer = [one for one in found if one.name == "Records"]
    assert ids["damaged"] in broken.says and f"{ids['lost']} (run.db is missing)" in broken.says
    assert "2 cannot be read" in broken.says and ids["newer"] in newer.says and "Update Groupwise" in newer.do
    assert ids["gone"] in told(found, "Run folders").says
    assert {one.state for one in found} == {OK, NOTE} and everything_below(registry_home) == before


def test_folders_that_the_registry_does_not_know_are_named(registry_home: Path) -> None:
    shutil.copytree(paths.run_folder(made_run("kept", 3)).path, paths.runs_folder() / "a-copy")
    one = told(of_runs(), "Run folders")
    assert one.state == NOTE and "a-copy" in one.says and "`groupwise repair`" in one.do


def test_what_killed_processes_left_is_named_once_it_is_old(registry_home: Path) -> None:
    draft = paths.runs_folder() / ".draft-0123456789abcdef"
    draft.mkdir()
    assert not [one for one in of_runs() if one.name == "Leftovers"]
    os.utime(draft, (1e9, 1e9))
    assert str(draft) in told(of_runs(), "Leftovers").says


# --- the libraries


@pytest.mark.parametrize(
    ("there", "state"), [(None, PROBLEM), ("1.15.0", PROBLEM), ("1.16.0", None), ("1.16.3", None), ("1.17.0", NOTE)]
)
def test_a_library_is_held_against_the_range_that_is_asked_for(there: str | None, state: str | None) -> None:
    one = packages.judge_library(Requirement("trl<1.17,>=1.16"), there)
    assert (one and one.state) == state
    assert one is None or "pip install 'trl" in one.do


def test_the_optional_packages_are_those_that_the_extras_name() -> None:
    one = told(packages.look_at_libraries(), "Optional packages")
    assert all(name in one.says for name in ("vllm", "bitsandbytes", "wandb", "trackio", "tensorboard", "mlflow"))
    assert "pytest" not in one.says


# --- the worker and the dashboards


@contextlib.contextmanager
def dashboard_at(port: int) -> Iterator[None]:
    """While another process holds the lock of a dashboard at this port."""
    code = (
        "import fcntl, os, sys\n"
        "file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)\n"
        "fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, int(sys.argv[2]))\n"
        "print('held', flush=True)\n"
        "sys.stdin.read()"
    )
    with ending() as begin:
        holder = begin("-S", "-c", code, str(paths.dashboards_lock()), str(port), stdin=subprocess.PIPE)
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        yield


def test_dashboards_are_told_by_their_ports(registry_home: Path) -> None:
    assert told(processes.look_at_processes(True), "Dashboard").says.startswith("None runs")
    with dashboard_at(7861), dashboard_at(8000):
        assert "7861 and 8000" in told(processes.look_at_processes(True), "Dashboard").says


def test_runs_that_wait_with_no_worker_are_told(registry_home: Path) -> None:
    assert told(processes.look_at_processes(True), "Worker").state == OK
    registry.create_run("name: x\n", name="x", model="starter", data="task:arithmetic")
    one = told(processes.look_at_processes(True), "Worker")
    assert one.state == NOTE and "1 run is queued or training" in one.says and "groupwise" in one.do


@pytest.mark.usefixtures("no_worker")
def test_a_worker_of_another_version_is_told() -> None:
    def said(**facts: Any) -> Finding:
        own = {"version": packages.installed_version("groupwise"), "environment": sys.prefix}
        registry.publish_fact(Worker(**{**own, **facts}))
        return told(processes.look_at_processes(True), "Worker")

    assert "older" in told(processes.look_at_processes(True), "Worker").says
    assert said().state == OK
    assert said(version="0.0.9").state == NOTE and "0.0.9" in said(version="0.0.9").says
    assert "/other/venv" in said(environment="/other/venv").says
    assert told(processes.look_at_processes(False), "Worker").says == "One runs."


def test_the_last_error_of_the_worker_s_log_is_told(registry_home: Path) -> None:
    def said(lines: str) -> Finding:
        paths.worker_log().write_text(lines)
        return told(processes.look_at_processes(True), "Worker log")

    now, old = time.strftime("%Y-%m-%d %H:%M:%S"), "2020-01-01 00:00:00"
    trace = 'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\nValueError: too \x1b[31m large\n'
    assert said(f"{now},123 started x as process 1\n").state == OK
    one = said(f"{now},123 x could not be prepared\n{trace}{now},200 started y as process 2\n")
    assert one.state == NOTE and f"{now}: ValueError: too" in one.says
    assert "x could not be prepared" in said(f"{now},123 x could not be prepared\n").says
    ended = "the spare training process ended with code"
    assert [said(f"{now},123 {ended} {code}\n").state for code in (0, 1, -9)] == [OK, NOTE, NOTE]
    assert said(f"{old},123 x could not be prepared\n").state == OK
    assert said(trace).state == NOTE and said("2026-99-99 00:00:00,1 it failed\n").state == NOTE


# --- the sandbox, the hardware, the hub


def test_the_sandbox_is_told_as_it_was_published(registry_home: Path) -> None:
    def said(**facts: Any) -> Finding:
        registry.publish_fact(Sandbox(**{"name": "bubblewrap", "label": "x", "sentence": "It holds.", **facts}))
        return machine.look_at_sandbox(True)[0]

    assert "It holds." in said().says
    assert said(name="landlock").state == NOTE and said(name="none", sentence="None can be made.").state == NOTE
    said(name="landlock", network="The proxy is closed.")
    assert "The proxy is closed." in told(machine.look_at_sandbox(True), "Sandbox network").says
    registry.publish_fact(TrustRewardCode(trusted=True))
    assert "--trust-reward-code" in said().says


@pytest.mark.parametrize(
    ("torch", "state", "words"),
    [("raise ImportError('libcudart.so.13: not found')", PROBLEM, "libcudart.so.13"),
     ("import time; time.sleep(60)", NOTE, "more than")],
)  # fmt: skip
def test_a_torch_that_cannot_be_imported_is_a_finding(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch: str, state: str, words: str
) -> None:
    (tmp_path / "torch.py").write_text(torch)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(machine, "LONGEST", 5.0)
    with machine.asking() as asked:
        found = machine.look_at_hardware(asked, readable=False)
    one = told(found, "torch")
    assert one.state == state and words in one.says and one.do and told(found, "Memory")


def test_gpus_that_torch_cannot_use_are_told(own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the real torch, and an nvidia-smi that says what one with a device says."""
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho '0, GPU-1, NVIDIA Test 9000, 16000, 15000, 9.0'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    with machine.asking() as asked:
        found = machine.look_at_hardware(asked, readable=False)
    assert "NVIDIA Test 9000 (15.7 GB of 16.8 GB free); CUDA_VISIBLE_DEVICES is 0." in told(found, "GPU").says
    if (packages.installed_version("torch") or "").endswith("+cpu"):
        assert told(found, "torch").state == NOTE and "uses none of the GPUs" in told(found, "torch").says


def test_an_offline_hub_is_a_note(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert told(hub.look_at_hub(), "Hub").state == NOTE and str(tmp_path) in told(hub.look_at_hub(), "Hub cache").says
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as answering:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{answering.server_port}")
        threading.Thread(target=answering.handle_request, daemon=True).start()  # 501: it answers
        assert told(hub.look_at_hub(), "Hub").state == OK
    found = told(hub.look_at_hub(), "Hub")  # it has ended
    assert found.state == NOTE and found.says.startswith("The hub cannot be reached (") and "refused" in found.says
