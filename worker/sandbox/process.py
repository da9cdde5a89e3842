"""One sandboxed process as Groupwise holds it: asked, watched, stopped between questions, killed.

Nothing here waits without a deadline or keeps more than a capped number of bytes, whatever the process does.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groupwise.worker.sandbox import launch, wire
from groupwise.worker.sandbox.limits import Limits

if TYPE_CHECKING:  # what runs a model's code is carried by plain scripts, and has no network
    from groupwise.worker.sandbox.proxy_process import ProxyProcess

WATCH_EVERY = 0.05  # seconds between looks at how many threads it has
LAST_WORD = 0.5  # seconds at least for a host that has answered to say that it has nothing more to say
_CHUNK = 1 << 18  # bytes
_DRAINS = 64  # chunks read after a reply: a pipe holds a fraction of that
JUNK = (
    "It wrote to Groupwise's own channel, or changed what Python itself has (such as builtins.len), so its answer "
    "could not be read. Remove what writes to a file that it did not open, or what assigns to Python's built-ins."
)


class Broken(Exception):
    """The process is of no more use; `status` ("timeout" or "error") and the message say what became of the call."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status


class Capture:
    """The first bytes of a stream, and how many more there were."""

    def __init__(self, most: int) -> None:
        self.most, self.kept, self.left_out = most, bytearray(), 0

    def take(self, chunk: bytes) -> None:
        """Keep what there is room for of a chunk, and count the rest."""
        room = self.most - len(self.kept)
        self.kept += chunk[:room]
        self.left_out += max(0, len(chunk) - room)

    def text(self) -> str:
        """What was kept, with how much was left out."""
        text = self.kept.decode("utf-8", "replace")
        return f"{text}\n… and {self.left_out:,} more bytes, left out." if self.left_out else text


class Process:
    """A ready host. `tier` is a name of launch's; with `script`, a program is run to its end instead (see `finish`).
    With a `proxy`, which ends with it, it has the network that the proxy lets it reach. `line`: a descriptor that it is
    handed, with the number that it has here.

    Raises launch.CannotStart and syscall_filter.NoFilter.
    """

    def __init__(
        self,
        tier: str,
        limits: Limits,
        *,
        proxy: ProxyProcess | None = None,
        script: str | None = None,
        line: int | None = None,
    ) -> None:
        self._limits, self._proxy = limits, proxy
        self._watched = 0.0
        self._awaits_listener, self._listener = proxy is not None, -1
        with contextlib.ExitStack() as unless_started:
            if proxy is not None:
                unless_started.callback(proxy.end)
            setup = launch.setup(tier, limits, proxy.door() if proxy else None, script)
            self._started = launch.start_host(
                tier, limits, proxy.variables() if proxy else None, script is not None, line
            )
            unless_started.pop_all()
        self._poll = select.poll()
        self.outputs = {descriptor: Capture(limits.output) for descriptor in self._started.outputs}
        for descriptor in (self._started.channel.fileno(), self._started.pidfd, *self.outputs):
            self._poll.register(descriptor, select.POLLIN)
        try:
            self._make_ready(setup, script is not None)
        except (Broken, OSError) as error:
            said = self.take_printed().strip().splitlines()
            self.end()
            raise launch.CannotStart(said[-1][:300] if said else str(error)) from error

    def _make_ready(self, setup: dict[str, Any], is_script: bool) -> None:
        """Have it give up what it does not need; nobody's code has run in it before. Raises Broken and OSError."""
        self._exchange(setup, launch.START_WITHIN, launch.START_WITHIN)
        launch.first_to_go(self._started.pid)
        self._awaits_listener = False
        if self._proxy is not None:
            self._proxy.serve(self._listener)
        if is_script:
            self._started.channel.send(wire.pack({}))  # now it may begin

    def ask(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The reply to a message. Between questions the process is stopped: what a function left running takes no
        processor time then, and does nothing unwatched. Raises Broken, and what `wire.pack` raises."""
        question = {**message, "call": os.urandom(8).hex()}
        for capture in self.outputs.values():
            capture.kept.clear()
            capture.left_out = 0
        self._signal(signal.SIGCONT)
        deadline = time.monotonic() + seconds
        reply = self._ask_once(question, seconds)
        # A function that wrote this reply itself is still at it: its host's own reply would come in this one's place.
        self._ask_once({"call": os.urandom(8).hex()}, max(deadline - time.monotonic(), LAST_WORD), said=seconds)
        self._signal(signal.SIGSTOP)
        self._drain()
        return reply

    def _ask_once(self, question: dict[str, Any], seconds: float, *, said: float | None = None) -> dict[str, Any]:
        """`said`: the limit as whoever waits knows it, where it is another than these seconds."""
        reply = self._exchange(question, seconds, seconds if said is None else said)
        if reply.get("call") != question["call"]:
            raise Broken("error", JUNK)
        return reply

    @property
    def has_overflowed(self) -> bool:
        """Whether that was more than is kept."""
        return any(capture.left_out for capture in self.outputs.values())

    def take_printed(self) -> str:
        """What it wrote to its output since the last question was asked."""
        return "\n".join(capture.text() for capture in self.outputs.values())

    def has_ended(self) -> bool:
        """Whether it is gone, asked between questions: it is stopped then, and cannot have ended by itself. So it is
        without its proxy."""
        return _has_ended(self._started.pidfd, 0.0) or (self._proxy is not None and self._proxy.has_ended())

    def end(self) -> None:
        """Kill it, and all there is of it: it is the first process of a namespace, or may not start another."""
        if self._proxy is not None:
            self._proxy.end()
        self._signal(signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._started.popen.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):  # the kernel is still taking down its memory
            self._started.popen.wait(5)
        self._started.channel.close()
        for descriptor in (*self.outputs, self._started.pidfd, self._started.stdin):
            if descriptor is not None:
                os.close(descriptor)
        self.outputs = {}
        self._started.stdin = None

    def finish(self, stdin: bytes, seconds: float, stopped: threading.Event | None = None) -> int:
        """Give a script its input and wait for its end: its exit status, negative for a signal. Raises Broken, also
        where `stopped` is set before that."""
        deadline, left, to = time.monotonic() + seconds, memoryview(stdin), self._started.stdin
        self._poll.unregister(self._started.channel.fileno())
        if to is not None:
            self._poll.register(to, select.POLLOUT)
        while True:
            ready = self._wait(deadline, seconds)
            if to in ready:
                left = self._feed(left)
            if self._started.pidfd in ready:
                self._drain()
                return self._status()
            if stopped is not None and stopped.is_set():
                raise Broken("error", "It was no longer needed, and was ended.")

    def _feed(self, left: memoryview) -> memoryview:
        """Write some of the input; close it when all is written, or nobody reads on."""
        to = self._started.stdin
        assert to is not None
        try:
            left = left[os.write(to, left[:_CHUNK]) :] if left else left
        except BrokenPipeError:
            left = left[:0]
        if not left:
            self._poll.unregister(to)
            os.close(to)
            self._started.stdin = None
        return left

    def _exchange(self, message: dict[str, Any], seconds: float, said: float) -> dict[str, Any]:
        outgoing, incoming = memoryview(wire.pack(message)), bytearray()
        deadline, channel = time.monotonic() + seconds, self._started.channel
        if self._receive() is not None:
            raise Broken("error", JUNK)
        while True:
            self._poll.modify(channel.fileno(), select.POLLIN | (select.POLLOUT if outgoing else 0))
            ready = self._wait(deadline, said)
            happened = ready.get(channel.fileno(), 0)
            if happened & select.POLLOUT:
                with contextlib.suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
                    outgoing = outgoing[channel.send(outgoing[:_CHUNK]) :]
            if happened & ~select.POLLOUT:
                received = self._receive()
                if received == b"":
                    raise self._why_gone()
                incoming += received or b""
                reply = _whole_reply(incoming)
                if reply is not None:
                    return reply
            elif self._started.pidfd in ready:
                raise self._why_gone()

    def _receive(self) -> bytes | None:
        """Some bytes; none when the other end is closed; None when there are none yet. A descriptor among them is the
        listener, as long as that is to come; later ones are dropped by the kernel."""
        try:
            if not self._awaits_listener:
                return self._started.channel.recv(_CHUNK)
            received, descriptors, _, _ = socket.recv_fds(self._started.channel, _CHUNK, 1)
            self._listener = descriptors[0] if descriptors else self._listener
            return received
        except BlockingIOError:
            return None
        except ConnectionResetError:
            return b""

    def _wait(self, deadline: float, limit: float) -> dict[int, int]:
        """What is ready: descriptor → events; what it prints is taken meanwhile. Raises Broken when the time is up (it
        had `limit` seconds), or it has too many threads."""
        now = time.monotonic()
        if now > deadline:
            raise Broken("timeout", f"It took longer than {limit:g} s, and was ended.")
        if now - self._watched > WATCH_EVERY:
            self._watched = now
            if _threads(self._started.pid) > self._limits.threads:
                raise Broken("error", f"It had more than {self._limits.threads} threads at once, and was ended.")
        ready = dict(self._poll.poll(min(deadline - now, WATCH_EVERY) * 1000))
        for descriptor in self.outputs.keys() & ready.keys():
            self._take(descriptor)
        return ready

    def _take(self, descriptor: int) -> bool:
        """Some of what it printed; whether there may be more."""
        try:
            chunk = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return False
        self.outputs[descriptor].take(chunk)
        if not chunk:  # closed by the process: it would be ready for ever
            self._poll.unregister(descriptor)
        return bool(chunk)

    def _drain(self) -> None:
        for descriptor in self.outputs:
            for _ in range(_DRAINS):
                try:
                    if not self._take(descriptor):
                        break
                except KeyError:  # closed long ago
                    break

    def _why_gone(self) -> Broken:
        """Why nothing more comes: it ended, or closed what it was to answer on."""
        if not _has_ended(self._started.pidfd, 0.5):
            return Broken("error", "It closed Groupwise's own channel.")
        self._drain()
        return Broken("error", _how_it_ended(self._status()))

    def _status(self) -> int:
        """The exit status of a process that has ended, negative for a signal: bubblewrap says 128 and more for it."""
        try:
            code = self._started.popen.wait(2)
        except subprocess.TimeoutExpired:
            return -signal.SIGKILL
        return 128 - code if self._started.popen.pid != self._started.pid and code > 128 else code

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._started.pidfd, number)


def _has_ended(pidfd: int, seconds: float) -> bool:
    """Whether a process ends within this time. Polled: select knows no descriptors from 1024 on."""
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _whole_reply(incoming: bytearray) -> dict[str, Any] | None:
    """The reply, once all of it is there. Raises Broken for anything else."""
    if len(incoming) < wire.HEADER:
        return None
    try:
        end = wire.HEADER + wire.body_length(bytes(incoming[: wire.HEADER]), wire.LARGEST_REPLY)
        if len(incoming) < end:
            return None
        if len(incoming) > end:
            raise wire.NotAFrame("more than one reply")
        return wire.unpack_body(bytes(incoming[wire.HEADER :]))
    except wire.NotAFrame as error:
        raise Broken("error", JUNK) from error


def _threads(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[17])
    except (OSError, IndexError):  # it has just ended
        return 0


def _how_it_ended(status: int) -> str:
    if status >= 0:
        return f"It ended the process it runs in (exit status {status})."
    if -status == signal.SIGKILL:
        return "Its process was killed: probably out of memory."
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"Its process crashed ({name})."
