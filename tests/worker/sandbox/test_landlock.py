"""What Landlock's sandbox holds on older kernels too: each version knows less, and the filter of system calls makes up
for that."""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groupwise.worker.sandbox import file_view, landlock, tiers
from tests.support.sandboxes import NOBODY, Way, ways

# Linux 5.13, 6.2, 6.7, 6.10, and this machine's: before 3 it does not know of truncating, before 4 of TCP, before 6 of
# signals and abstract Unix sockets.
VERSIONS = [version for version in (1, 3, 4, 5) if version < landlock.abi()] + [landlock.abi()]
FLAGS = 0x80086601  # FS_IOC_GETFLAGS


def landlocks() -> list[Any]:
    found = []
    for each in ways():
        tier, nobody = each.values[0]
        if tier == "landlock":
            user = "another-user" if nobody else "this-user"
            found += [pytest.param((nobody, version), id=f"{version}-{user}") for version in VERSIONS]
    return found


@pytest.fixture(params=landlocks())
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Way:
    nobody, version = request.param
    return Way("landlock", nobody, monkeypatch, landlock_abi=version)


@pytest.fixture
def package(way: Way) -> Iterator[Path]:
    """A file of the user's own that the sandbox may read: part of an installed package."""
    top = Path(tempfile.mkdtemp(prefix="sandbox-package-"))
    folder = top / "site-packages"
    folder.mkdir()
    file = folder / "module.py"
    file.write_text("here = 1")
    for path in (top, folder, file):
        os.chmod(path, 0o755)
        if way.nobody:
            os.chown(path, NOBODY, NOBODY)
    way.environment["PYTHONPATH"] = str(folder)
    way.monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    file_view.view.cache_clear()
    yield file
    file_view.view.cache_clear()
    shutil.rmtree(top)


def test_it_cannot_signal_or_slow_another_process(way: Way):
    numbers = {"x86_64": (72, 234, 200, 129), "aarch64": (25, 131, 130, 138)}[os.uname().machine]
    with subprocess.Popen(["sleep", "60"], user=NOBODY if way.nobody else None) as victim:
        pid = victim.pid
        prepare = f"""
import ctypes, fcntl, os, resource, signal, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
def call(*values):
    if libc.syscall(*map(ctypes.c_long, values)) < 0:
        raise OSError(ctypes.get_errno(), "refused")
a, b = socket.socketpair()
def kick():
    fcntl.fcntl(a, fcntl.F_SETFL, os.O_ASYNC)
    b.send(b"x")
pid = {pid}
"""
        calls = (
            "fcntl.fcntl(a, fcntl.F_SETSIG, signal.SIGKILL)",
            "fcntl.fcntl(a, fcntl.F_SETOWN, pid); kick()",
            "fcntl.fcntl(a, 15, struct.pack('ii', 1, pid)); kick()",
            f"call({numbers[0]}, a.fileno(), 8 | 1 << 32, pid); kick()",
            f"call({numbers[0]}, a.fileno(), 10 | 1 << 32, signal.SIGKILL)",
            "fcntl.ioctl(a, 0x8901, struct.pack('i', pid)); kick()",
            "fcntl.ioctl(a, 0x8902, struct.pack('i', pid)); kick()",
            "os.kill(pid, 9)",
            f"call({numbers[1]}, pid, pid, 9)",
            f"call({numbers[2]}, pid, 9)",
            f"call({numbers[3]}, pid, 9, 0)",
            "os.setpriority(os.PRIO_PROCESS, pid, 19)",
            "os.sched_setaffinity(pid, {0})",
            "resource.prlimit(pid, resource.RLIMIT_CPU, (1, 1))",
        )
        worked = way.worked(*(prepare + each for each in calls))
        assert ([each.removeprefix(prepare) for each in worked], victim.poll()) == ([], None)
        victim.kill()


def test_it_cannot_change_or_hold_up_a_file_that_it_may_read(way: Way, package: Path):
    before = flags(package)
    prepare = f"import fcntl, os, struct\nname = {str(package)!r}\nfile = open(name)\n"
    calls = (
        "os.open(name, os.O_RDONLY | os.O_TRUNC)",
        "os.open(name, 3 | os.O_TRUNC)",
        "os.open(name, os.O_WRONLY)",
        "os.truncate(name, 0)",
        "open(name, 'w')",
        "fcntl.ioctl(file, 0x40086602, struct.pack('l', 0x80))",
        "fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)",
        "fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)",
        "os.setxattr(name, 'user.x', b'x')",
        "os.utime(name)",
    )
    assert way.worked(prepare) == [prepare]  # it can be read
    worked = way.worked(*(prepare + each for each in calls))
    assert [each.removeprefix(prepare) for each in worked] == []
    assert package.read_text() == "here = 1" and flags(package) == before


def test_what_it_prints_to_nowhere_may_still_be_opened(way: Way):
    """A file opened for writing, and cut, is still one: the device that all may write to."""
    nowhere = ("open('/dev/null', 'w').write('x')", "open('/dev/null', 'rb').read()")
    assert way.worked(*nowhere) == list(nowhere)


def test_it_reaches_no_programs_door(way: Way, package: Path):
    """Unix sockets, by a path and by an abstract name, to which a pair of its own would send."""
    path, name = f"{package.parent}/door", f"\0sandbox-test-{os.getpid()}"
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as first,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as second,
    ):
        for door, address in ((first, path), (second, name)):
            door.bind(address)
            door.settimeout(0.2)
        os.chmod(path, 0o777)
        calls = [
            f"import socket\na, b = socket.socketpair(socket.AF_UNIX, socket.{kind})\na.{way_in}"
            for kind in ("SOCK_DGRAM", "SOCK_SEQPACKET", "SOCK_STREAM")
            for address in (path, name)
            for way_in in (f"sendto(b'x', {address!r})", f"connect({address!r}); a.send(b'x')")
        ]
        worked = way.worked(*calls)
        for door in (first, second):
            with pytest.raises(TimeoutError):
                door.recv(1)
        assert [each for each in worked if "SOCK_STREAM" not in each] == []


def test_a_function_with_network_reaches_the_proxy_only_or_is_refused(way: Way):
    """Before its version 4 Landlock knows nothing of TCP: it is refused, with what to install."""
    assert way.landlock_abi
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = f"('127.0.0.1', {server.getsockname()[1]})"
        attempts = [
            f"import socket\n{each}"
            for each in (
                f"socket.create_connection({place}, 2)",
                f"socket.socket().sendto(b'x', socket.MSG_FASTOPEN, {place})",
                f"socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).connect({place})",
                "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
                "socket.socket().bind(('127.0.0.1', 0))",
                "socket.socket().listen()",
            )
        ]
        asked = (
            "import os, socket\nhost, _, port = os.environ['http_proxy'].rpartition('@')[2].partition(':')\n"
            "socket.create_connection((host, int(port)), 2)"
        )
        if way.landlock_abi < landlock.TCP:
            with pytest.raises((tiers.NoSandbox, AssertionError), match=r"\(6.7 and later can\). bubblewrap can"):
                way.worked(asked, network=True)
        else:
            assert way.worked(*attempts, asked, network=True) == [asked]
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()


def flags(file: Path) -> int | None:
    """A file's flags, such as “immutable”; None where this file system has none."""
    with file.open() as opened:
        try:
            return int(struct.unpack("l", fcntl.ioctl(opened, FLAGS, bytes(8)))[0])
        except OSError:
            return None
