"""What every test stands on: a data home of its own, and processes that are ended when the test is."""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from groupwise.storage.home import paths, process
from groupwise.storage.registry import registry
from tests.support.lengths import FIRST, LONG, SLOW

REPOSITORY = Path(__file__).parents[1]

Start = Callable[..., "subprocess.Popen[str]"]
Groupwise = Callable[..., "subprocess.CompletedProcess[str]"]


def pytest_configure() -> None:
    """One thread a training: two trainings at a time, of two threads each, wait for one another on two processors."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    # Where this was set, each of a thousand processes would compile all of our code anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    # How long one example takes is the machine's load: speed is measured by ratios, in bench/.
    hypothesis.settings.register_profile("any load", deadline=None)
    hypothesis.settings.load_profile("any load")


def pytest_sessionstart() -> None:
    """Thousands of tests and all they import: until they are collected, no search for garbage would find any."""
    gc.disable()


def pytest_collection_finish() -> None:
    """And none of the later ones looks through them again."""
    gc.freeze()
    gc.enable()


def name_of(path: Path) -> str:
    """A test file as tests.support.lengths names it."""
    return str(path.relative_to(REPOSITORY / "tests").with_suffix(""))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="only what takes milliseconds: `make test-quick`")
    parser.addoption("--without-long", action="store_true", help="without tests.support.lengths.LONG: `make test`")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """True where an option leaves a file out, before it is imported; None leaves it to others."""
    if collection_path.suffix != ".py":
        return None
    name = name_of(collection_path)
    if config.getoption("--quick"):
        slow = name in (*FIRST, *LONG, *SLOW) or name.startswith(("browser/", "worker/sandbox/test_"))
        return True if slow else None
    return True if name in LONG and config.getoption("--without-long") else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those first, then the other browser tests, which start a dashboard each, then the rest as it comes."""

    def place(item: pytest.Item) -> int:
        name = name_of(item.path)
        return FIRST.index(name) if name in FIRST else len(FIRST) + (not name.startswith("browser/"))

    items.sort(key=place)
    # A page beside two other processes is at times slower than its test allows for: it gets one more try, as browser
    # tests commonly do, and is listed as rerun, with its traceback: what failed once is looked at all the same.
    for item in items:
        if name_of(item.path).startswith("browser/"):
            item.add_marker(pytest.mark.flaky(reruns=1))


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
