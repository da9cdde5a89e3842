"""Who a process is: a reused pid is never taken for the run, and no foreign process is ever signalled."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from groupwise.storage.home import locks, process
from tests.conftest import REPOSITORY, Start

SLEEP = "import time; time.sleep(60)"
FORKS = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        time.sleep(60)
    time.sleep(60)
print(os.getpid(), flush=True)
time.sleep(60)
"""


def tagged_environment(tag: str) -> dict[str, str]:
    return {**os.environ, process.TAG: tag}


def settle(child: subprocess.Popen[str], tag: str) -> None:
    """Wait until the child has become the tagged program."""
    deadline = time.monotonic() + 60
    while not process.carries(child.pid, tag):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_process_is_itself_until_it_ends(start: Start):
    child = start("-c", SLEEP)
    identity = process.identity_of(child.pid)
    assert identity is not None and process.is_alive(identity)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not process.is_alive(identity)  # a zombie has ended
    child.wait()
    assert not process.is_alive(identity) and process.identity_of(child.pid) is None


@pytest.mark.parametrize("change", [{"boot": "another"}, {"started": 1}], ids=str)
def test_the_same_pid_of_another_time_is_another_process(change: dict[str, str | int]):
    identity = process.identity_of(os.getpid())
    assert identity is not None
    assert not process.is_alive(replace(identity, **change))


def test_a_name_with_spaces_and_brackets_does_not_confuse(start: Start):
    child = start(
        "-c", "import ctypes, time; ctypes.CDLL(None).prctl(15, b'a) Z (b 1 2'); print(1, flush=True); time.sleep(60)"
    )
    assert child.stdout is not None and child.stdout.readline()
    identity = process.identity_of(child.pid)
    assert identity is not None and identity.started > 1000 and process.is_alive(identity)


def test_only_processes_with_exactly_this_tag_are_signalled(start: Start):
    mine = start("-c", SLEEP, env=tagged_environment("run:1:abc"))
    near = start("-c", SLEEP, env=tagged_environment("run:1:abcd"))
    foreign = start("-c", SLEEP)
    settle(mine, "run:1:abc")
    settle(near, "run:1:abcd")
    assert process.tagged_pids("run:1:abc", REPOSITORY) == [mine.pid]
    assert process.signal_tagged("run:1:abc", REPOSITORY, signal.SIGTERM) == 1
    assert mine.wait(timeout=10) == -signal.SIGTERM
    time.sleep(0.1)
    assert near.poll() is None and foreign.poll() is None
    assert process.signal_tagged("run:1:abc", REPOSITORY, signal.SIGTERM) == 0


def test_children_in_other_sessions_are_found(start: Start):
    parent = start("-c", FORKS, env=tagged_environment("run:1:fork"))
    assert parent.stdout is not None
    for _ in range(2):
        parent.stdout.readline()
    pids = process.tagged_pids("run:1:fork", REPOSITORY)
    assert len(pids) == 3 and len({os.getsid(pid) for pid in pids}) == 2
    assert process.signal_tagged("run:1:fork", REPOSITORY, signal.SIGKILL) == 3
    parent.wait(timeout=10)
    deadline = time.monotonic() + 60
    while process.tagged_pids("run:1:fork", REPOSITORY):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_pid_that_was_reused_between_look_and_signal_is_spared(start: Start, monkeypatch: pytest.MonkeyPatch):
    foreign = start("-c", SLEEP)
    monkeypatch.setattr(process, "tagged_pids", lambda *_: [foreign.pid])  # the look found it; then it became another
    assert process.signal_tagged("run:1:abc", REPOSITORY, signal.SIGKILL) == 0
    time.sleep(0.1)
    assert foreign.poll() is None


def test_a_child_inherits_what_training_needs_and_no_secret_of_the_dashboard(monkeypatch: pytest.MonkeyPatch):
    given = {"CUDA_VISIBLE_DEVICES": "0", "HF_HOME": "/x", "LC_ALL": "C", "GROUPWISE_HOME": "/h", "CC": "gcc-14"}
    given |= {"TRITON_CACHE_DIR": "/t", "TORCHINDUCTOR_CACHE_DIR": "/i"}  # what compiles kernels for a GPU
    secret = {"GROUPWISE_TOKEN": "t", "AWS_SECRET_ACCESS_KEY": "k", "GITHUB_TOKEN": "g", "SSH_AUTH_SOCK": "s"}
    for name, value in {**given, **secret}.items():
        monkeypatch.setenv(name, value)
    environment = process.child_environment()
    assert given.items() <= environment.items() and not secret.keys() & environment.keys()


def test_a_child_tells_nobody_unless_the_person_says_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("DO_NOT_TRACK", raising=False)
    assert process.child_environment()["DO_NOT_TRACK"] == "1"
    monkeypatch.setenv("DO_NOT_TRACK", "0")
    assert process.child_environment()["DO_NOT_TRACK"] == "0"


# --- locks


HOLD = "import sys, time; from pathlib import Path; from groupwise.storage.home import locks; \
print(locks.hold(Path(sys.argv[1]), shared=len(sys.argv) > 2) is not None, flush=True); time.sleep(60)"


def test_a_lock_is_one_process_s_and_goes_with_it_however_it_ends(start: Start, tmp_path: Path):
    path = tmp_path / "lock"
    assert not locks.is_held(path) and not path.exists()
    first = start("-c", HOLD, str(path))
    assert first.stdout is not None and first.stdout.readline() == "True\n"
    assert locks.is_held(path) and locks.is_held(path)
    second = start("-c", HOLD, str(path))
    assert second.stdout is not None and second.stdout.readline() == "False\n"
    first.kill()
    first.wait()
    assert not locks.is_held(path)


def test_a_shared_lock_is_held_until_the_last_goes(start: Start, tmp_path: Path):
    path = tmp_path / "lock"
    holders = [start("-c", HOLD, str(path), "shared") for _ in range(2)]
    assert [holder.stdout and holder.stdout.readline() for holder in holders] == ["True\n"] * 2
    for holder in holders:
        assert locks.is_held(path)
        holder.kill()
        holder.wait()
    assert not locks.is_held(path)
