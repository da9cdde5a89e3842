"""The sandboxed process itself: gives up everything it does not need, then serves reward functions or runs a program.

Only the standard library, and little of it: each start waits for these imports.
"""

from __future__ import annotations

import os
import resource
import sys
import types
from typing import TYPE_CHECKING

from groupwise.worker.sandbox import landlock, seccomp, wire
from groupwise.worker.sandbox.wire import Message

if TYPE_CHECKING:
    from groupwise.worker.sandbox.door import Door


def main(channel: int) -> None:
    """Serve on a socket's descriptor until it is closed. The first message says what to give up."""
    seccomp.die_with_parent()
    setup = wire.receive(channel)
    if setup is None:
        return
    if setup["script"] is None:
        _serve(channel, setup)
        return
    _give_up(setup, None)
    wire.send(channel, {"ready": True})
    wire.receive(channel)  # the word to begin
    os.close(channel)
    _run_script(setup["script"])


def _serve(channel: int, setup: Message) -> None:
    from groupwise.worker.sandbox import functions  # here: a program waits for none of its imports

    door = _door(setup)
    _give_up(setup, door)
    if door is None:
        wire.send(channel, {"ready": True})
    else:
        door.hand_over(channel)
    functions.serve_functions(channel, network=door is not None)


def _door(setup: Message) -> Door | None:
    """Where functions with leave for the network find their proxy; None for those without."""
    if setup["network"] is None:
        return None
    from groupwise.worker.sandbox.door import Door  # here: it is slow to import, and most functions have no network

    return Door(**setup["network"])


def _give_up(setup: Message, door: Door | None) -> None:
    """Limits first, then files, then system calls: each step would be refused after the next."""
    limits = setup["limits"]
    for kind, most in (
        (resource.RLIMIT_AS, limits["memory"]), (resource.RLIMIT_FSIZE, limits["file"]),
        (resource.RLIMIT_NOFILE, 256), (resource.RLIMIT_CORE, 0),
    ):  # fmt: skip
        resource.setrlimit(kind, (most, most))
    rules = setup["landlock"]
    if rules is None:  # in a namespace of one's own this counts only what is in there
        resource.setrlimit(resource.RLIMIT_NPROC, (limits["threads"], limits["threads"]))
    else:
        landlock.drop_capabilities()
        seccomp.no_new_privileges()
        landlock.restrict(rules["abi"], rules["readable"], rules["writable"], door.port if door else None)
    seccomp.install(bytes.fromhex(setup["filter"]))
    sys.path += setup["paths"]


def _run_script(code: str) -> None:
    """Run a program as Python would, with this process's own standard streams, and exit as it does."""
    sys.argv[:] = ["main.py"]
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    try:
        exec(compile(code, "main.py", "exec", dont_inherit=True), module.__dict__)  # noqa: S102 — what this process is for
    except Exception as error:
        import linecache
        import traceback

        linecache.cache["main.py"] = (len(code), None, code.splitlines(keepends=True), "main.py")
        own = error.__traceback__.tb_next if error.__traceback__ else None  # without how it came to be run
        traceback.print_exception(error.with_traceback(own))
        raise SystemExit(1) from None
