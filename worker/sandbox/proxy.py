"""The only way out of a sandbox with network: an HTTP proxy that reaches no port of this machine but those one opened.

A process of its own beside each such sandbox, in which nobody's code runs. It looks names up itself and connects to the
very address that it has judged: a name that means another one a moment later gains nothing. Standard library only, and
little of it: each sandbox waits for these imports.
"""

import contextlib
import hmac
import json
import os
import resource
import socket
import threading
from pathlib import Path
from typing import Any

from groupwise.storage.home import locks
from groupwise.worker.sandbox import addresses, proxy_request, seccomp, upstream
from groupwise.worker.sandbox.proxy_request import Refused, Request

MOST = 64  # connections at once
HEAD_WITHIN = 30.0  # seconds in which a request's first lines have to come
CONNECT_WITHIN = 30.0  # seconds for one address
PORTS = "GROUPWISE_JUDGE_PORTS"
_CHUNK = 64 << 10
_UNREAD = 256  # chunks of a refused request that are read, so that its sender gets to reading why

Places = list[tuple[int, Any]]  # (family, address as connect takes it)


def main(control: int) -> None:
    """Serve one sandbox. The first message on this socket holds the settings as JSON, and the listener; its end is the
    end of this process.

    Settings: "secret", which whoever asks has to give; "ports" of this machine that are open; "dashboards", a file with
    a lock at the port of each; "variables" of the environment that name this machine's own proxy.
    """
    seccomp.die_with_parent()
    for kind, most in ((resource.RLIMIT_AS, 1 << 30), (resource.RLIMIT_NOFILE, 256), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(kind, (most, most))
    threading.stack_size(256 << 10)
    with socket.socket(fileno=control) as line:
        said, descriptors, _, _ = socket.recv_fds(line, 1 << 20, 1)
        if descriptors:
            proxy = Proxy(socket.socket(fileno=descriptors[0]), json.loads(said))
            threading.Thread(target=proxy.serve, daemon=True).start()
            line.recv(1)
    os._exit(0)  # with whatever connections are left


class Proxy:
    """See `main`."""

    def __init__(self, listener: socket.socket, settings: dict[str, Any]) -> None:
        self._listener = listener
        self._secret = settings["secret"].encode()
        self._ports: list[int] = settings["ports"]
        self._dashboards = Path(settings["dashboards"])
        self._variables: dict[str, str] = settings["variables"]
        self._slots = threading.Semaphore(MOST)

    def serve(self) -> None:
        """Take connections for ever, each in a thread."""
        while True:
            client, _ = self._listener.accept()
            self._slots.acquire()
            threading.Thread(target=self._handle, args=[client], daemon=True).start()

    def _handle(self, client: socket.socket) -> None:
        try:
            with client, contextlib.suppress(OSError):  # whoever asked has gone
                client.settimeout(HEAD_WITHIN)
                try:
                    request = proxy_request.read_request(client)
                    server, first = self._open_connection(request)
                except Refused as refused:
                    _say_no(client, refused)
                    return
                with server:
                    if request.is_tunnel:
                        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                    server.sendall(first)
                    _relay(client, server)
        finally:
            self._slots.release()

    def _open_connection(self, request: Request) -> tuple[socket.socket, bytes]:
        """A connection for a request, and what is to be sent there. Raises Refused."""
        if not hmac.compare_digest(request.secret, self._secret):
            raise Refused(407, "This proxy serves one sandbox, and needs its password.")
        found = _look_up(request.host, request.port)
        allowed, own = self._permitted_places(found, request)
        through = None if own else self._upstream(request)
        if through is not None:
            return _open_through(through, request, found, allowed)
        if not found:
            raise Refused(502, f"There is no address for {request.host}: the name is unknown here.")
        server = _connect(allowed, f"{request.host}:{request.port}")
        return server, request.rest if request.is_tunnel else request.to(request.path)

    def _permitted_places(self, found: Places, request: Request) -> tuple[Places, bool]:
        """Those of some addresses that may be spoken to, and whether they are this machine's own. Raises Refused where
        there are some, and none may be."""
        allowed, own, why = [], False, ""
        for family, place in found:
            try:
                reason, here = self._refusal(place[0], request)
            except OSError as error:
                reason, here = f"It is unknown whose address {place[0]} is: {error}", False
            why = why or reason
            own = own or (here and not reason)
            if not reason:
                allowed.append((family, place))
        if found and not allowed:
            raise Refused(403, why)
        return allowed, own

    def _refusal(self, address: str, request: Request) -> tuple[str, bool]:
        """Why an address may not be spoken to (nothing: it may), and whether it is this machine's own."""
        for meaning in addresses.meanings(address):
            if addresses.is_own(meaning):
                return self._why_closed(request.port), True
            if addresses.is_closed(meaning):
                return f"{address} is closed to reward functions: it is not a server's address.", False
        return "", False

    def _why_closed(self, port: int) -> str:
        """Why a port of this machine is closed; nothing where it was opened."""
        if port not in self._ports:
            opened = ",".join(map(str, sorted({*self._ports, port})))
            return (
                f"Port {port} of this machine is closed to reward functions. If what listens there is for them, start "
                f"Groupwise with {PORTS}={opened}"
            )
        if locks.is_held(self._dashboards, at=port):
            return f"Port {port} is the dashboard's own: it stays closed to reward functions."
        return ""

    def _upstream(self, request: Request) -> upstream.Upstream | None:
        scheme = "https" if request.is_tunnel else "http"
        try:
            return upstream.find_upstream(self._variables, scheme, request.host)
        except ValueError as error:
            raise Refused(502, f"This machine's own proxy ({scheme}_proxy) cannot be used: {error}.") from None


def _open_through(
    through: upstream.Upstream, request: Request, found: Places, allowed: Places
) -> tuple[socket.socket, bytes]:
    """The same by way of this machine's own proxy. It is given the name, and looks it up anew: that is its affair, as
    long as it is another machine. One that runs here could be led to what is closed, and is given the address that was
    judged. Raises Refused."""
    if len(allowed) < len(found):
        raise Refused(403, f"{request.host} resolves to addresses that are closed to reward functions, among others.")
    places, name = _look_up(through.host, through.port), request.host
    if any(addresses.is_own(meaning) for _, place in places for meaning in addresses.meanings(place[0])):
        if not allowed:
            raise Refused(
                502,
                f"There is no address for {request.host} here, and this machine's own proxy runs on it: it is given "
                "addresses only, since it could be led to ports that are closed.",
            )
        name = allowed[0][1][0]
    place = f"[{name}]:{request.port}" if ":" in name else f"{name}:{request.port}"
    more = [b"Proxy-Authorization: " + through.authorization] if through.authorization else []
    server = _connect(places, f"This machine's own proxy ({through.host}:{through.port})")
    if request.is_tunnel:
        _tunnel(server, place, more)
        return server, request.rest
    return server, request.to(f"http://{place}{request.path}", *more)


def _tunnel(server: socket.socket, place: str, more: list[bytes]) -> None:
    """Have another proxy connect to a place. Raises Refused, and then the connection is closed."""
    try:
        server.sendall(b"\r\n".join([f"CONNECT {place} HTTP/1.1\r\nHost: {place}".encode(), *more, b"", b""]))
        answer, rest = proxy_request.read_head(server)
        if rest or answer.split(b" ")[1:2] != [b"200"]:
            line = answer.split(b"\r\n")[0].decode("ascii", "replace")[:200]
            raise Refused(502, f"This machine's own proxy answered: {line}")
    except (OSError, Refused) as error:
        server.close()
        if isinstance(error, Refused):
            raise
        raise Refused(502, f"This machine's own proxy does not answer: {error}") from None


def _look_up(host: str, port: int) -> Places:
    """The addresses of a host; none where it is unknown."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, ValueError):  # the latter for a name that no look-up takes
        return []
    return [(family, place) for family, _, _, _, place in found]


def _connect(places: Places, whom: str) -> socket.socket:
    """A connection to the first of these addresses that answers. Raises Refused with a sentence about `whom`."""
    problem: OSError | None = None
    for family, place in places:
        server = socket.socket(family, socket.SOCK_STREAM)
        try:
            server.settimeout(CONNECT_WITHIN)
            server.connect(place)
            server.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            return server
        except OSError as error:
            problem = error
            server.close()
    reason = (problem.strerror if problem else None) or "it does not answer"
    raise Refused(502, f"{whom} cannot be reached: {reason}")


def _say_no(client: socket.socket, refused: Refused) -> None:
    """Answer with the reason, also where most libraries show it: in the first line. What the client still sends is read
    to some extent, or it would be told of a broken connection instead."""
    reason = "".join(letter if letter.isascii() and letter.isprintable() else "?" for letter in str(refused))
    head = f"HTTP/1.1 {refused.status} {reason}\r\nContent-Type: text/plain\r\nContent-Length: {len(reason) + 1}\r\n"
    client.sendall(f"{head}Proxy-Agent: Groupwise\r\nConnection: close\r\n\r\n{reason}\n".encode("ascii"))
    client.shutdown(socket.SHUT_WR)
    client.settimeout(2)
    for _ in range(_UNREAD):
        if not client.recv(_CHUNK):
            return


def _relay(client: socket.socket, server: socket.socket) -> None:
    """Carry bytes both ways until both sides have ended."""
    for each in (client, server):
        each.settimeout(None)
        each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # what comes is handed on at once
    back = threading.Thread(target=_pump, args=[server, client], daemon=True)
    back.start()
    _pump(client, server)
    back.join()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while chunk := source.recv(_CHUNK):
            sink.sendall(chunk)
        sink.shutdown(socket.SHUT_WR)
    except OSError:  # one of them is gone: nothing more is to be said to the other
        for each in (source, sink):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
