"""Which sandbox this machine can make: tried, not guessed."""

import functools
import os
from dataclasses import dataclass
from typing import Any

from groupwise.worker.sandbox import landlock, launch, syscall_filter
from groupwise.worker.sandbox.limits import Limits
from groupwise.worker.sandbox.process import Broken, Process

INSTALL = "Install bubblewrap (Debian and Ubuntu: apt-get install bubblewrap) and start Groupwise again."

# Tried inside a sandbox before it is trusted with anything: everything here must be refused. Files below /proc are
# opened and not written to.
_ATTEMPTS = """
import os
import socket
def attempts(completions, log_extra, *, below_proc):
    tried = {
        "read /etc/passwd": lambda: open("/etc/passwd").read(),
        "write to /etc": lambda: open("/etc/groupwise-was-here", "w"),
        "make a socket": lambda: socket.socket(),
        "start a process": lambda: os.fork() or os._exit(0),
        "hold memory that is no address space": lambda: os.memfd_create("x"),
    }
    seen = [os.path.join(top, name) for top, _, names in os.walk("/proc") for name in names]
    own = [os.path.join(top, name) for top, _, names in os.walk("/proc/self") for name in names]
    for path in [*below_proc, *seen, *own]:
        if not os.path.islink(path):
            tried[f"open {path} for writing"] = lambda path=path: os.close(
                os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            )
    def worked(attempt):
        try:
            attempt()
        except OSError:
            return False
        return True
    can = [what for what, attempt in tried.items() if worked(attempt)]
    log_extra("can", [can[0] if can else ""])
    return [len(can)]
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
            "write, and hard limits on time and memory. It can find out which files exist, but not read them. "
            f"bubblewrap, which hides those too, does not work here: {without}",
        )  # fmt: skip
    return Tier(
        "none", "no sandbox",
        f"Reward code that you or others wrote cannot run here, as no sandbox can be made. bubblewrap: {without} "
        f"Landlock: {neither} {INSTALL} The built-in functions run all the same, but for code_tests.",
    )  # fmt: skip


def choose_tier() -> str:
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
    except (launch.CannotStart, syscall_filter.NoFilter, OSError) as error:
        return f"{str(error).rstrip('.')}."
    try:
        return leak(process, _ATTEMPTS, {"below_proc": _below_proc()})
    except Broken as broken:
        return str(broken)
    finally:
        process.end()


def leak(process: Process, code: str, parameters: dict[str, Any]) -> str | None:
    """What of the attempts() in `code` a sandbox does not hold, tried from within; None when it holds everything.
    Raises process.Broken."""
    process.ask({"name": "attempts", "code": code, "parameters": parameters}, launch.START_WITHIN)
    question = {"name": "attempts", "batch": {"completions": [""]}, "rows": 1, "seconds": 10.0, "withheld": {}}
    reply = process.ask(question, launch.START_WITHIN)
    if reply.get("values") == [0.0]:
        return None
    return f"it starts, but does not block what it should{_what_worked(reply)}."


def _what_worked(reply: dict[str, Any]) -> str:
    """What worked first of what must not, as the end of a sentence; nothing where the reply does not tell."""
    try:
        return f": a function can {str(reply['extras']['can'][0])[:200]}"
    except (LookupError, TypeError):
        return ""


def _below_proc() -> list[str]:
    """The files below /proc but for those of processes: in a sandbox that sees this machine's, most folders there
    cannot be listed."""
    tops = [entry.path for entry in os.scandir("/proc") if not entry.name.isdigit() and not entry.is_symlink()]
    walked = [os.path.join(top, name) for each in tops for top, _, names in os.walk(each) for name in names]
    return [path for path in [*tops, *walked] if not os.path.isdir(path)]
