"""What every test stands on: a data home of its own, and processes that are ended when the test is."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.home import paths, process
from groupwise.storage.registry import registry

REPOSITORY = Path(__file__).parents[1]

Start = Callable[..., "subprocess.Popen[str]"]
Groupwise = Callable[..., "subprocess.CompletedProcess[str]"]


def pytest_configure() -> None:
    """One thread a training: two trainings at a time, of two threads each, wait for one another on two processors."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")


# Files that take longest, longest first. A file is one worker's (`--dist loadfile`), so one that begins last is waited
# for alone.
LONGEST = (
    "worker/test_supervisor", "browser/test_quickstart_in_browser", "worker/test_full_disk",
    "browser/test_bad_records_in_browser", "worker/test_stop_phases", "worker/test_supervisor_starts",
    "browser/test_launch_page", "browser/test_workbench", "browser/test_planted_secrets", "browser/test_charts",
    "storage/test_script_run", "storage/test_other_versions", "worker/test_scoring", "browser/test_compare",
    "worker/test_stages", "browser/test_spec_problems", "browser/test_following",
    "browser/test_compare_late", "browser/test_rewards_page", "worker/test_warm_start",
    "worker/sandbox/test_threats", "app/test_connections", "worker/test_locked_files",
    "storage/test_hostile_folders", "worker/test_judge_ports", "worker/sandbox/test_network",
    "worker/test_dry_run", "worker/test_parquet", "app/test_calls", "app/test_login", "app/test_command",
)  # fmt: skip


# Others that take more than a few seconds, or that import torch: what `--quick` leaves out beside those above, the
# browser's and the sandbox's.
SLOW = (
    "app/test_any_text", "app/test_bad_records", "app/test_comments_stay", "app/test_launch", "app/test_proxy",
    "app/test_server", "app/test_three_views", "app/test_uploads", "app/test_worker_process",
    "app/test_answer_cache", "app/test_work_once", "project/test_bench_gpu", "project/test_wheel",
    "storage/test_check_model", "storage/test_presets", "storage/test_record_faults", "storage/test_script",
    "storage/test_script_data", "storage/test_slow_patterns", "worker/rewards/test_code_tests",
    "worker/rewards/test_code_tests_alone", "worker/rewards/test_code_tests_tricks", "worker/rewards/test_judge",
    "worker/rewards/test_like_trl", "worker/rewards/test_reward_model", "worker/rewards/test_rewards",
    "worker/test_build",
    "worker/test_build_rewards", "worker/test_capture", "worker/test_catalogue", "worker/test_checkpoints",
    "worker/test_copied_home", "worker/test_data", "worker/test_describe_model", "worker/test_endings",
    "worker/test_gym", "worker/test_models", "worker/test_preview", "worker/test_question_server",
    "worker/test_rewards_in_training", "worker/test_starter", "worker/test_table",
    "worker/test_workbench_bad_input", "worker/test_workbench_completions", "worker/test_workbench_process",
    "worker/test_workbench_rescore", "worker/test_workbench_score",
)  # fmt: skip


def name_of(path: Path) -> str:
    """A test file as the lists above name it."""
    return str(path.relative_to(REPOSITORY / "tests").with_suffix(""))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="only what takes milliseconds: `make test-quick`")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """True where `--quick` leaves a file out, before it is imported; None leaves it to others."""
    if not config.getoption("--quick") or collection_path.suffix != ".py":
        return None
    name = name_of(collection_path)
    return True if name in (*LONGEST, *SLOW) or name.startswith(("browser/", "worker/sandbox/test_")) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those first, then the other browser tests, which start a dashboard each, then the rest as it comes."""

    def place(item: pytest.Item) -> int:
        name = name_of(item.path)
        return LONGEST.index(name) if name in LONGEST else len(LONGEST) + (not name.startswith("browser/"))

    items.sort(key=place)


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data home that exists for this test only, and that nothing has made yet."""
    place = tmp_path / "home"
    monkeypatch.setenv("GROUPWISE_HOME", str(place))
    monkeypatch.delenv("GROUPWISE_TOKEN", raising=False)
    return place


@pytest.fixture
def registry_home(own_home: Path) -> Path:
    """The same home, prepared, with an open registry."""
    paths.prepare()
    registry.open_registry()
    return own_home


@pytest.fixture
def living(warm: tuple[Path, subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch) -> subprocess.Popen[bytes]:
    """The question server of a file's own fixture `warm` (see tests.support.asking), its home being this test's; it
    must have outlived the tests before."""
    monkeypatch.setenv("GROUPWISE_HOME", str(warm[0]))
    assert warm[1].poll() is None
    return warm[1]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts `python ARGUMENTS` in the repository, with its output in pipes, and ends it (only it) after the test."""
    with ending() as begin:
        yield begin


@contextlib.contextmanager
def ending() -> Iterator[Start]:
    """The same for fixtures that live longer than one test."""
    begun: list[subprocess.Popen[str]] = []

    def begin(*arguments: str, **options: Any) -> subprocess.Popen[str]:
        settings: dict[str, Any] = {
            "cwd": REPOSITORY, "text": True, "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": dict(os.environ),
        }  # fmt: skip
        begun.append(subprocess.Popen([sys.executable, *arguments], **settings | options))
        return begun[-1]

    try:
        yield begin
    finally:
        for child in begun:
            if child.poll() is None:
                child.kill()
            child.communicate(timeout=10)


@pytest.fixture
def groupwise(start: Start) -> Groupwise:
    """Runs `groupwise ARGUMENTS` to its end. No traceback is ever shown, whatever happens."""

    def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        process = start("-m", "groupwise.app", *arguments, **options)
        out, err = process.communicate(timeout=60)
        assert "Traceback" not in out + err, err
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    return run


@pytest.fixture
def keep_signal_handler() -> Iterator[None]:
    """A training takes SIGTERM and SIGINT; here it runs inside pytest."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def no_worker(registry_home: Path) -> Iterator[None]:
    """This test stands in for the worker: the home has a supervisor, which does nothing."""
    with playing_supervisor(registry_home):
        yield


# Holds a lock until its input ends. A process of its own: a POSIX lock is gone as soon as its process closes any
# descriptor of the file, and whoever asks in the same process whether it is held opens and closes one.
HOLD = """
import fcntl, os, sys
fcntl.lockf(os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600), fcntl.LOCK_EX | fcntl.LOCK_NB)
print("held", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def playing_supervisor(place: Path) -> Iterator[None]:
    with holding(place / "supervisor.lock"):
        yield


@contextlib.contextmanager
def holding(lock: Path) -> Iterator[None]:
    """While another process holds this lock."""
    with ending() as begin:
        holder = begin("-S", "-c", HOLD, str(lock), stdin=subprocess.PIPE)
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        yield


def holder_of(lock: Path) -> int | None:
    """The pid of the process that holds this lock."""
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        question = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, pid = struct.unpack("hhqqi4x", fcntl.fcntl(descriptor, fcntl.F_GETLK, question))
    finally:
        os.close(descriptor)
    return None if kind == fcntl.F_UNLCK else pid


@pytest.fixture
def worker_home(registry_home: Path) -> Iterator[Path]:
    """A home in which the app may start a real worker; it, and what it started, is ended after the test.

    Ask for it before `start`: an app that still watched would start another worker.
    """
    yield registry_home
    pid = holder_of(paths.supervisor_lock())
    if pid is not None:
        os.kill(pid, signal.SIGKILL)  # the lock is in this test's own home: no other supervisor can hold it
    for run in registry.list_runs():
        if run.tag:
            process.signal_tagged(run.tag, run.folder.path, signal.SIGKILL)
