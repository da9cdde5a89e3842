"""Which sandbox this machine can make: tried, not guessed."""

from __future__ import annotations

import functools
from dataclasses import asdict, dataclass

from worker.sandbox import landlock, launch, seccomp
from worker.sandbox.limits import Limits
from worker.sandbox.process import Broken, Process

INSTALL = "Install bubblewrap (Debian and Ubuntu: apt-get install bubblewrap) and start Groupwise again."

# Tried inside a sandbox before it is trusted with anything: everything here must be refused.
_ATTEMPTS = """
import os
import socket
def attempts(completions, **kwargs):
    def worked(attempt):
        try:
            attempt()
        except OSError:
            return 0
        return 1
    return [sum(map(worked, [
        lambda: open("/etc/passwd").read(),
        lambda: open("/etc/groupwise-was-here", "w"),
        lambda: socket.socket(),
        lambda: os.fork() or os._exit(0),
        lambda: os.memfd_create("x"),
    ]))]
"""


@dataclass(frozen=True)
class Tier:
    """name: "bubblewrap", "landlock" or "none". label: a few words. sentence: what it means, and for "none" why and
    what to do."""

    name: str
    label: str
    sentence: str


class NoSandbox(Exception):
    """Reward code that someone wrote cannot run here; the message says why and what to install."""


@functools.cache
def probe() -> Tier:
    """The best sandbox that works here. Starts one of each kind until one does; remembered by this process."""
    without = _problem(launch.BUBBLEWRAP)
    if without is None:
        return Tier(
            launch.BUBBLEWRAP, "sandbox: bubblewrap",
            "Reward code runs in a sandbox (bubblewrap): no network, no GPU, no secrets, a read-only view, and hard "
            "limits on time and memory.",
        )  # fmt: skip
    neither = _problem(launch.LANDLOCK)
    if neither is None:
        return Tier(
            launch.LANDLOCK, "sandbox: Landlock",
            "Reward code runs in a sandbox (Landlock and seccomp): no network, no GPU, no secrets, nothing it can "
            "write, and hard limits on time and memory. It can tell which files exist, but not read them. "
            f"bubblewrap, which hides those too, does not work here: {without}",
        )  # fmt: skip
    return Tier(
        "none", "no sandbox",
        f"Reward code that you or others wrote cannot run here, as no sandbox can be made. bubblewrap: {without} "
        f"Landlock: {neither} {INSTALL} The built-in functions run all the same.",
    )  # fmt: skip


def describe() -> dict[str, str]:
    """What is published under "sandbox": {"name", "label", "sentence"}."""
    return asdict(probe())


def chosen() -> str:
    """The tier's name. Raises NoSandbox."""
    tier = probe()
    if tier.name == "none":
        raise NoSandbox(tier.sentence)
    return tier.name


def _problem(name: str) -> str | None:
    """Why a sandbox of this kind is none; None when it holds."""
    if name == launch.LANDLOCK and not landlock.abi():
        return "this Linux has none, or it is switched off."
    try:
        process = Process(name, Limits())
    except (launch.CannotStart, seccomp.NoFilter, OSError) as error:
        return f"{str(error).rstrip('.')}."
    try:
        return _leak(process)
    except Broken as broken:
        return str(broken)
    finally:
        process.end()


def _leak(process: Process) -> str | None:
    process.ask({"name": "attempts", "code": _ATTEMPTS, "parameters": {}}, launch.START_WITHIN)
    question = {"name": "attempts", "batch": {"completions": [""]}, "rows": 1, "seconds": 10.0, "withheld": {}}
    reply = process.ask(question, launch.START_WITHIN)
    return None if reply.get("values") == [0.0] else "it starts, but does not hold what it should."
