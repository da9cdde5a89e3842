"""A sandbox for one program, gone when it ends: for code that a model wrote, each completion in its own."""

import contextlib
import socket
import threading
import time
from dataclasses import dataclass

from groupwise.worker.sandbox import launch, syscall_filter, tiers
from groupwise.worker.sandbox.limits import Limits
from groupwise.worker.sandbox.process import Broken, Process
from groupwise.worker.sandbox.tiers import NoSandbox


@dataclass(frozen=True)
class Ran:
    """status: the exit status, negative for a signal, None where it was ended; a program chooses its own, so 0 alone
    proves nothing. out, err: what it printed, each capped. problem: why it was ended ("timeout" or words), or None."""

    status: int | None
    out: str
    err: str
    problem: str | None
    seconds: float


def run_fresh(
    code: str,
    stdin: str = "",
    limits: Limits | None = None,
    timeout: float = 10.0,
    *,
    line: socket.socket | None = None,
    stopped: threading.Event | None = None,
) -> Ran:
    """Run a Python program as __main__ with `stdin` as its input, in a sandbox of its own without network; it may not
    start processes. It is killed within a second after `timeout` (seconds of its own run: the sandbox's start comes
    before), and soon after `stopped` is set. Several threads may call this at once.

    `line`, whose other end another program has, is handed to the program under its number here, and closed here.

    Raises NoSandbox when this machine can make none.
    """
    try:
        with line or contextlib.nullcontext():
            process = Process(
                tiers.choose_tier(), limits or Limits(), script=code, line=line.fileno() if line else None
            )
    except (launch.CannotStart, syscall_filter.NoFilter, OSError) as error:
        raise NoSandbox(f"The sandbox could not be started: {error}") from error
    began, status, problem = time.monotonic(), None, None
    try:
        status = process.finish(stdin.encode("utf-8", "replace"), timeout, stopped)
    except Broken as broken:
        problem = "timeout" if broken.status == "timeout" else str(broken)
    try:
        out, err = (capture.text() for capture in process.outputs.values())
        return Ran(status, out, err, problem, time.monotonic() - began)
    finally:
        process.end()
