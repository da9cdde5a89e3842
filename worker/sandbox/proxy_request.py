"""What is asked of an HTTP proxy: a tunnel (CONNECT), or one request of plain HTTP. Standard library only."""

import re
import socket
from typing import NamedTuple

_HOST = re.compile(r"[A-Za-z0-9._:%-]{1,255}")
LONGEST_HEAD = 64 << 10  # bytes of a request's first lines
# Headers that are meant for the proxy, or for one connection only. Each request is made to have one of its own, so that
# what comes after it on the same connection can reach nobody else.
_OWN = (b"connection", b"keep-alive", b"proxy-connection", b"proxy-authorization", b"upgrade")


class Refused(Exception):
    """A request that is not carried out: an HTTP status, and the sentence that says why."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Request(NamedTuple):
    """method: "CONNECT" for a tunnel. path: as the server is asked for it. headers: without those for the proxy.
    secret: the value of the one that is. rest: what came behind the head."""

    method: str
    host: str
    port: int
    path: str
    version: str
    headers: list[bytes]
    secret: bytes
    rest: bytes

    @property
    def is_tunnel(self) -> bool:
        """Tell whether it asks for a tunnel."""
        return self.method == "CONNECT"

    def to(self, place: str, *more: bytes) -> bytes:
        """This request with another target and some more headers, and what came behind it."""
        line = f"{self.method} {place} {self.version}".encode("latin-1")
        return b"\r\n".join([line, *self.headers, b"Connection: close", *more, b"", b""]) + self.rest


def read_request(client: socket.socket) -> Request:
    """The request that a client makes. Raises Refused for none, and OSError where it goes away or takes too long."""
    head, rest = read_head(client)
    lines = head.split(b"\r\n")
    if any(mark in line for line in lines for mark in (b"\r", b"\n", b"\0")):
        raise Refused(400, "A line of the request holds the end of another.")
    try:
        method, target, version = lines[0].decode("latin-1").split(" ")
    except ValueError:
        raise Refused(400, "That is no request to a proxy.") from None
    named = [(line.partition(b":")[0].strip().lower(), line) for line in lines[1:]]
    secret = next((line.partition(b":")[2].strip() for name, line in named if name == b"proxy-authorization"), b"")
    kept = [line for name, line in named if name not in _OWN]
    if method == "CONNECT":
        return Request(method, *_host_and_port(target, None), "", version, [], secret, rest)
    scheme, _, place = target.partition("://")
    if scheme.lower() != "http":
        raise Refused(400, "A proxy is asked for http://..., or to CONNECT.")
    end = min((at for at in map(place.find, "/?#") if at >= 0), default=len(place))
    path = place[end:] if place[end:].startswith("/") else f"/{place[end:]}"
    return Request(method, *_host_and_port(place[:end], 80), path, version, kept, secret, rest)


def read_head(connection: socket.socket) -> tuple[bytes, bytes]:
    """The lines up to the empty one, and what came behind it. Raises Refused and OSError."""
    received = b""
    while b"\r\n\r\n" not in received:
        if len(received) > LONGEST_HEAD:
            raise Refused(431, "The request's first lines are too long.")
        chunk = connection.recv(LONGEST_HEAD)
        if not chunk:
            raise Refused(400, "The request ends in its first lines.")
        received += chunk
    head, _, rest = received.partition(b"\r\n\r\n")
    return head, rest


def _host_and_port(text: str, default: int | None) -> tuple[str, int]:
    """What "host:port" means; an IPv6 address stands in brackets. Raises Refused."""
    if text.startswith("["):
        host, _, end = text[1:].partition("]")
        port = end.removeprefix(":")
    else:
        host, _, port = text.partition(":")
    number = int(port) if port.isascii() and port.isdigit() and len(port) <= 5 else default if not port else None
    if not _HOST.fullmatch(host) or number is None or not 0 < number <= 65535:
        raise Refused(400, "The address is not a host and a port.")
    return host, number
