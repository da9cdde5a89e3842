"""How long a connection may keep the server waiting, and how many there may be: the HTTP server itself has no limit on
a head that does not come, a body that trickles, or a reader that does not read.

A page that is answered, however long that takes (Gradio's heartbeat lasts as long as the page), is never cut off.
"""

from __future__ import annotations

import asyncio
import resource
import time
from ipaddress import IPv6Address, ip_network
from typing import TYPE_CHECKING, cast

from groupwise.app.server.guard import MAX_HEAD
from groupwise.app.server.proxy import Proxies, address_of

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol as HttpProtocol
else:  # whichever of uvicorn's two is installed stands behind it: see `protocol`
    from asyncio import Protocol as HttpProtocol

MOST = 512  # connections
HEAD_SECONDS = 15.0  # from connecting, or from the last answer, to the end of the next head
BODY_SECONDS, BODY_BYTES = 20.0, 16 * 1024  # within so many seconds at least so many bytes of a body, or its end
WRITE_SECONDS = 60.0  # without a byte of an answer taken
DESCRIPTORS = 4096  # asked of the system, where it gives as many
BACKLOG = 100  # connections that may be accepted at once, before any of them can be counted


def _refusal(status: str, sentence: str) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(sentence)}\r\nConnection: close"
    return f"{head}\r\n\r\n{sentence}".encode()


HEAD_TOO_LARGE = _refusal("431 Request Header Fields Too Large", "The headers of this request are too large.\n")
TOO_MANY = _refusal("503 Service Unavailable", "Too many connections just now.\n")


def most_connections() -> int:
    """How many connections there may be, which leaves at least half of the descriptors to everything else."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < DESCRIPTORS:
        soft = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return MOST if soft == resource.RLIM_INFINITY else min(MOST, max(16, soft // 2))


def network_of(host: str) -> str:
    """Whom an address belongs to: of IPv6, one customer has all of a /64."""
    found = address_of(host)
    return str(ip_network((found, 64), strict=False)) if isinstance(found, IPv6Address) else str(found or host)


class Crowd:
    """All the connections of one server."""

    def __init__(self, most: int, proxies: Proxies) -> None:
        """Half of `most` may come from one address, unless it is a proxy's, which stands for many people."""
        self.most, self.proxies = most, proxies
        self.members: set[Connection] = set()

    def admit(self, newcomer: Connection) -> bool:
        """Make room for one more, if need be by ending the one that has kept us waiting longest; whether there is."""
        beside = [member for member in self.members if member.network == newcomer.network]
        crowded = len(beside) >= self.most // 2 and newcomer.host not in self.proxies
        if crowded or len(self.members) >= self.most:
            idle = [member for member in (beside if crowded else self.members) if member.keeps_us_waiting()]
            if not idle:
                return False
            min(idle, key=lambda member: (member.has_request(), member.since)).cut_off()
        self.members.add(newcomer)
        return True

    def sweep(self) -> None:
        """End those that kept us waiting too long. Called about every second."""
        now = time.monotonic()
        for member in list(self.members):
            if member.is_overdue(now):
                member.cut_off()


class Connection(HttpProtocol):
    """What is added to uvicorn's protocol."""

    crowd: Crowd

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection among the others, or refuse it where there is no room (503)."""
        super().connection_made(cast(asyncio.Transport, transport))
        self.host = self.client[0] if self.client else ""
        self.network = network_of(self.host)
        self.since = time.monotonic()  # that we wait: for a head, or for the next part of a body
        self.came = 0  # bytes since then
        self.unread_since: float | None = None
        if not self.crowd.admit(self):
            self.transport.write(TOO_MANY)
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Count it no more."""
        self.crowd.members.discard(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what came; a head that is too large ends the connection (431)."""
        self.came += len(data)
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._wait_anew()
        elif not self.has_request() and self.came > MAX_HEAD and not self.transport.is_closing():
            self.transport.write(HEAD_TOO_LARGE)
            self.transport.close()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        self._wait_anew()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Note since when nobody reads the answer."""
        self.unread_since = time.monotonic()
        super().pause_writing()

    def resume_writing(self) -> None:
        """Note that it is read again."""
        self.unread_since = None
        super().resume_writing()

    def has_request(self) -> bool:
        """Whether a request is here that is not answered yet, be it that its body is still to come."""
        return self.cycle is not None and not self.cycle.response_complete

    def keeps_us_waiting(self) -> bool:
        """Whether it is the client that something is awaited from: a request, or the rest of a body."""
        return not self.has_request() or self._awaits_body()

    def is_overdue(self, now: float) -> bool:
        """Whether the client has let us wait too long."""
        if self.unread_since is not None and now - self.unread_since > WRITE_SECONDS:
            return True
        if not self.has_request():
            return now - self.since > HEAD_SECONDS
        if not self._awaits_body() or now - self.since <= BODY_SECONDS:
            return False
        slow = self.came < BODY_BYTES
        self._wait_anew()
        return slow

    def _awaits_body(self) -> bool:
        """Whether the client is to send more, and not we who have stopped to read."""
        return self.has_request() and self.cycle.more_body and not self.flow.read_paused

    def cut_off(self) -> None:
        """End it. What is left of an answer that nobody reads, or of a body that does not come, is dropped."""
        self.crowd.members.discard(self)
        if self.has_request() or self.unread_since is not None:
            self.transport.abort()
        else:
            self.transport.close()

    def _wait_anew(self) -> None:
        self.since, self.came = time.monotonic(), 0


def protocol(crowd: Crowd, base: type[asyncio.Protocol] | None = None) -> type[asyncio.Protocol]:
    """The class of which uvicorn makes one for each connection, on `base` (that of uvicorn's which is installed)."""
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    return type("LimitedProtocol", (Connection, base or AutoHTTPProtocol), {"crowd": crowd})
