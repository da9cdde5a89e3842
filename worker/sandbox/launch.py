"""Starts a sandboxed process: its command, its environment, the descriptors it gets, and what it is told to give up."""

import contextlib
import json
import os
import select
import socket
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from groupwise.worker.sandbox import bubblewrap, file_view, landlock, spawn, syscall_filter
from groupwise.worker.sandbox.limits import Limits

BUBBLEWRAP, LANDLOCK = "bubblewrap", "landlock"
START_WITHIN = 30.0  # seconds; 0.1 are usual

# -I and -S: no environment variable, user folder or .pth file has a say in what Python does in there.


class CannotStart(Exception):
    """No sandboxed process could be made; the message says why."""


@dataclass
class Started:
    """A sandboxed process: what was started, which process that became, our ends of its descriptors."""

    popen: subprocess.Popen[bytes]
    pidfd: int
    pid: int
    channel: socket.socket
    stdin: int | None
    outputs: list[int]


def start_host(
    tier: str, limits: Limits, network: dict[str, str] | None, script: bool, line: int | None = None
) -> Started:
    """A host that waits for its setup. `network`: the variables of one that has it, None for one without. One output
    carries both streams; a script has two. Raises CannotStart."""
    with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:
        channel, other = socket.socketpair()
        ours.callback(channel.close)
        theirs.callback(other.close)
        outputs = [_pipe(ours, theirs) for _ in range(2 if script else 1)]
        stdin = _pipe(theirs, ours) if script else None  # (its end, ours)
        information = _lasting_pipe(ours, theirs)
        passed = [other.fileno(), information[1], *([] if line is None else [line])]
        argv = _command(tier, limits, network is not None, script, information[1], other.fileno())
        try:
            popen = spawn.start_process(
                argv, stdin=stdin[0] if stdin else subprocess.DEVNULL, stdout=outputs[0][1], stderr=outputs[-1][1],
                env=host_environment(network or {}), pass_fds=passed, cwd="/", start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise CannotStart(f"{argv[0]} cannot be started: {error.strerror}.") from error
        theirs.close()
        pid = _read_pid(information[0]) if tier == BUBBLEWRAP else popen.pid
        pidfd = _open_pidfd(pid, popen, outputs[0][0])
        os.close(information[0])
        ours.pop_all()
    for descriptor in [channel.fileno(), *(read for read, _ in outputs), *(stdin[1:] if stdin else ())]:
        os.set_blocking(descriptor, False)
    return Started(popen, pidfd, pid, channel, stdin[1] if stdin else None, [read for read, _ in outputs])


def _pipe(reader: contextlib.ExitStack, writer: contextlib.ExitStack) -> tuple[int, int]:
    """(where to read, where to write), each closed by its stack."""
    read, write = os.pipe()
    reader.callback(os.close, read)
    writer.callback(os.close, write)
    return read, write


def _lasting_pipe(reader: contextlib.ExitStack, writer: contextlib.ExitStack) -> tuple[int, int]:
    """A pipe that can be written to without a reader, as whoever writes could read it. Where this process was killed
    meanwhile, bubblewrap would die of writing which process it made, and that one wait for its word for ever."""
    with contextlib.ExitStack() as until_opened_anew:
        read, write = _pipe(reader, until_opened_anew)
        both = os.open(f"/proc/self/fd/{write}", os.O_RDWR | os.O_CLOEXEC)
    writer.callback(os.close, both)
    return read, both


def _command(tier: str, limits: Limits, network: bool, script: bool, information: int, channel: int) -> list[str]:
    confined: list[str] = []
    if tier == BUBBLEWRAP:
        bwrap = bubblewrap.binary()
        if bwrap is None:
            raise CannotStart("bubblewrap is not installed.")
        confined = bubblewrap.bubblewrap_command(bwrap, limits, network, script, information)
    return [*confined, file_view.view().python, *spawn.main_of("host", code_folder(tier), channel)]


def code_folder(tier: str) -> str:
    """Locate the folder from which a sandboxed process imports Groupwise's own files."""
    return bubblewrap.CODE if tier == BUBBLEWRAP else str(file_view.REPOSITORY)


def host_environment(network: dict[str, str]) -> dict[str, str]:
    """The whole environment of a host. One thread per library: each would reserve memory for every processor. A judge's
    key, in `network`, goes here rather than in arguments, which everyone on the machine can read."""
    fixed = {
        "PATH": "/usr/bin", "HOME": "/tmp", "LANG": "C.UTF-8", "LOGNAME": "reward", "MALLOC_ARENA_MAX": "2",
        "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
    }  # fmt: skip
    return fixed | network


def setup(tier: str, limits: Limits, door: dict[str, str] | None, script: str | None) -> dict[str, Any]:
    """The first message to a host. `door` is how its proxy is asked; without one it has no network. Raises
    syscall_filter.NoFilter, and CannotStart where a network cannot be confined."""
    network = door is not None
    if network and tier == LANDLOCK and landlock.abi() < landlock.TCP:
        raise CannotStart(
            "Landlock of this Linux cannot keep a function that may use the network from this machine's own ports "
            "(6.7 and later can). bubblewrap can: install it (Debian and Ubuntu: apt-get install bubblewrap)."
        )
    return {
        "filter": syscall_filter.program(network, tier == BUBBLEWRAP).hex(), "limits": asdict(limits), "network": door,
        "paths": list(file_view.view().paths), "script": script,
        "landlock": None if tier == BUBBLEWRAP else _rules(network, script is not None),
    }  # fmt: skip


def _rules(network: bool, script: bool) -> dict[str, Any]:
    """What Landlock leaves: /proc/self, read by the process itself, is its own folder there; a script reads the modules
    for scripts and nothing of /proc. Nothing can be capped that is written to a disk, so nothing can be written."""
    system = ["/usr", *file_view.LIBRARY_LINKS, *file_view.SYSTEM_FILES, *(file_view.NETWORK_FILES if network else ())]
    devices = ["/dev/zero", "/dev/random", "/dev/urandom"]
    more = [str(bubblewrap.CODE_TESTS)] if script else ["/proc/self", "/proc/cpuinfo", "/proc/meminfo"]
    readable = [*system, *file_view.view().folders, *devices, *more]
    return {"abi": landlock.abi(), "readable": readable, "writable": ["/dev/null"]}


def first_to_go(pid: int) -> None:
    """Have the kernel take this process before any other when memory runs out: from outside, as it may not write to
    /proc itself, and before anyone's code runs in it. Raises OSError."""
    Path(f"/proc/{pid}/oom_score_adj").write_text("1000", encoding="ascii")


def _read_pid(information: int) -> int:
    """The process that bubblewrap made, as it says on its own descriptor; 0 when it ended without one."""
    deadline, said = time.monotonic() + START_WITHIN, b""
    while b"}" not in said:  # it comes in pieces
        ready, _, _ = select.select([information], [], [], max(0.0, deadline - time.monotonic()))
        piece = os.read(information, 4096) if ready else b""
        if not piece:
            break
        said += piece
    try:
        return int(json.loads(said)["child-pid"])
    except (ValueError, KeyError):
        return 0


def _open_pidfd(pid: int, popen: subprocess.Popen[bytes], output: int) -> int:
    """A handle on the process that stays right when its number is given to another. Raises CannotStart."""
    with contextlib.suppress(OSError):
        if pid:
            return os.pidfd_open(pid)
    popen.kill()
    popen.wait()
    ready, _, _ = select.select([output], [], [], 1.0)
    said = os.read(output, 4096).decode("utf-8", "replace").strip().splitlines() if ready else []
    raise CannotStart(said[-1][:300] if said else "The process ended at once.")
