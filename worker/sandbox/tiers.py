"""Which sandbox this machine can make: tried, not guessed."""

from __future__ import annotations

import functools
import os
import socket
from dataclasses import asdict, dataclass
from typing import Any

from groupwise.worker.sandbox import landlock, launch, seccomp
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


# The same, inside a sandbox with network: what must go by way of the proxy, and what can't.
_NETWORK_ATTEMPTS = """
import socket
def attempts(completions, log_extra, *, port):
    tried = {
        "connect to a port of this machine": lambda: socket.create_connection(("127.0.0.1", port), 2),
        "send datagrams": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
        "begin a connection with its first data":
            lambda: socket.socket().sendto(b"x", socket.MSG_FASTOPEN, ("127.0.0.1", port)),
    }
    can = []
    for what, attempt in tried.items():
        try:
            attempt()
            can.append(what)
        except OSError:
            continue
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
            "write, and hard limits on time and memory. It can tell which files exist, but not read them. "
            f"bubblewrap, which hides those too, does not work here: {without}",
        )  # fmt: skip
    return Tier(
        "none", "no sandbox",
        f"Reward code that you or others wrote cannot run here, as no sandbox can be made. bubblewrap: {without} "
        f"Landlock: {neither} {INSTALL} The built-in functions run all the same.",
    )  # fmt: skip


@functools.cache
def network_problem(tier: str) -> str | None:
    """Why functions with leave to use the network cannot run in a tier that holds otherwise; None where they can."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        try:
            process = Process(tier, Limits(), ports=[])
        except (launch.CannotStart, seccomp.NoFilter, OSError) as error:
            return f"{str(error).rstrip('.')}."
        try:
            found = _leak(process, _NETWORK_ATTEMPTS, {"port": server.getsockname()[1]})
            server.setblocking(False)
            return found or _was_reached(server)
        except Broken as broken:
            return str(broken)
        finally:
            process.end()


def _was_reached(server: socket.socket) -> str | None:
    try:
        server.accept()[0].close()
    except BlockingIOError:
        return None
    return "a function reaches the ports of this machine."


def describe() -> dict[str, str]:
    """What is published under "sandbox": {"name", "label", "sentence", "network": why functions with leave to use it
    cannot run, or nothing}."""
    tier = probe()
    return {**asdict(tier), "network": "" if tier.name == "none" else network_problem(tier.name) or ""}


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
        return _leak(process, _ATTEMPTS, {"below_proc": _below_proc()})
    except Broken as broken:
        return str(broken)
    finally:
        process.end()


def _leak(process: Process, code: str, parameters: dict[str, Any]) -> str | None:
    """What it does not hold, tried from within; None when it holds everything."""
    process.ask({"name": "attempts", "code": code, "parameters": parameters}, launch.START_WITHIN)
    question = {"name": "attempts", "batch": {"completions": [""]}, "rows": 1, "seconds": 10.0, "withheld": {}}
    reply = process.ask(question, launch.START_WITHIN)
    if reply.get("values") == [0.0]:
        return None
    return f"it starts, but does not hold what it should{_named(reply)}."


def _named(reply: dict[str, Any]) -> str:
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
