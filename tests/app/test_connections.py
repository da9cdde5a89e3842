"""Connections that keep the server waiting, too many of them, and heads too large; beside a page that is left open."""

from __future__ import annotations

import asyncio
import resource
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import uvicorn
from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.protocols.http.h11_impl import H11Protocol

from groupwise.app.server import connections, guard
from groupwise.app.server.proxy import Proxies
from tests.conftest import ending, playing_supervisor
from tests.support.servers import Server, begin, free_port

GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """With the 1,024 descriptors that most systems give, and no more."""
    place = tmp_path_factory.mktemp("open")
    with ending() as start, playing_supervisor(place):
        yield begin(lambda *words, **options: start(*words, preexec_fn=_few_descriptors, **options), place)


def _few_descriptors() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))


@pytest.fixture
def many_descriptors() -> Iterator[None]:
    """For whoever attacks: an ordinary user begins with as few as the dashboard."""
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (before, most))


def connect(port: int, sent: bytes = b"") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=30)
    connection.sendall(sent)
    return connection


def ended(connection: socket.socket, seconds: float = 30.0) -> bool:
    """Whether the server ends this connection within the time."""
    connection.settimeout(seconds)
    try:
        while connection.recv(65536):
            pass
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return True


@pytest.mark.usefixtures("many_descriptors")
def test_thirteen_hundred_idle_connections_leave_it_working(dashboard: Server) -> None:
    page = httpx.stream("GET", f"{dashboard.url}/gradio_api/heartbeat/open", timeout=60)
    with page as reply:
        arrives = reply.iter_bytes()
        assert next(arrives).startswith(b"data: ALIVE")
        held = [connect(dashboard.port, (b"", b"GET / HTTP/1.1\r\nHost:")[number % 2]) for number in range(1300)]
        for _ in range(20):
            assert httpx.get(f"{dashboard.url}/healthz", timeout=10).text == "ok\n"
        assert httpx.get(dashboard.url, timeout=20).status_code == 200
        assert dashboard.descriptors() < 400
        assert next(arrives).startswith(b"data: ALIVE"), "the page that was open goes on"
    for connection in held:
        connection.close()
    assert dashboard.process.poll() is None


@pytest.mark.parametrize("count", [101, 1000, 10_000])
def test_more_headers_than_any_browser_sends_are_refused(dashboard: Server, count: int) -> None:
    with connect(dashboard.port, GET + b"".join(b"X-%d: a\r\n" % n for n in range(count)) + b"\r\n") as connection:
        assert connection.recv(100).startswith((b"HTTP/1.1 431 ", b"HTTP/1.1 400 "))
    assert httpx.get(f"{dashboard.url}/healthz").text == "ok\n"


@pytest.mark.parametrize("part", [b"X: " + b"a" * 1000 + b"\r\n", b"a" * 1000], ids=["headers", "one header"])
def test_a_head_without_end_is_refused_when_it_grows_too_large(dashboard: Server, part: bytes) -> None:
    with connect(dashboard.port, GET + b"X: ") as connection:
        sent = 0
        try:
            for _ in range(1000):
                connection.sendall(part)
                sent += len(part)
                time.sleep(0.001)
        except ConnectionError:
            pass
        assert sent < 8 * guard.MAX_HEAD


def test_a_long_address_or_header_is_refused_and_usual_ones_are_not(dashboard: Server) -> None:
    long = "a" * guard.MAX_HEAD
    assert httpx.get(f"{dashboard.url}/healthz?{long}").status_code in (400, 431)
    assert httpx.get(f"{dashboard.url}/healthz", headers={"X-Long": long}).status_code in (400, 431)
    cookies = "; ".join(f"of_another_port_{n}=" + "x" * 150 for n in range(50))
    assert httpx.get(f"{dashboard.url}/healthz", headers={"Cookie": cookies}).text == "ok\n"


# --- how long a connection may take: short limits, on each of uvicorn's protocols that is installed


@pytest.fixture(params=sorted({AutoHTTPProtocol, H11Protocol}, key=str))  # the other one only where it is installed
def quick(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of a server whose limits are tenths of the real ones: at most 8 connections, half of them from one
    address."""
    for name, seconds in {"HEAD_SECONDS": 1.5, "BODY_SECONDS": 1.0, "WRITE_SECONDS": 1.5}.items():
        monkeypatch.setattr(connections, name, seconds)
    crowd = connections.Crowd(8, Proxies.parse(["127.0.0.9"]))
    port, server = free_port(), None

    class Quick(uvicorn.Server):
        async def on_tick(self, counter: int) -> bool:
            crowd.sweep()
            return await super().on_tick(counter)

    config = uvicorn.Config(
        application,
        port=port,
        http=connections.protocol(crowd, request.param),
        ws="none",
        log_level="critical",
        lifespan="off",
        proxy_headers=False,
        timeout_keep_alive=30,
    )
    server = Quick(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield port
    server.should_exit = server.force_exit = True
    thread.join(10)
    assert not thread.is_alive()


async def application(scope: Any, receive: Any, send: Any) -> None:
    """/ reads the body and counts it; /long answers a line every second; /much answers more than anyone takes; /at-once
    answers without reading."""
    size, more = 0, scope["path"] != "/at-once"
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range({"/long": 4, "/much": 400}.get(scope["path"], 0)):
        await send(
            {
                "type": "http.response.body",
                "body": b"x" * (10 if scope["path"] == "/long" else 2**20),
                "more_body": True,
            }
        )
        await asyncio.sleep(1 if scope["path"] == "/long" else 0)
    await send({"type": "http.response.body", "body": b"%d" % size})


def client_from(address: str, port: int, sent: bytes = b"") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=30, source_address=(address, 0))
    connection.sendall(sent)
    return connection


def post(path: bytes, length: int) -> bytes:
    return b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (path, length)


HEAD = b"GET / HTTP/1.1\r\nHost: x\r\n"


@pytest.mark.parametrize("sent", [b"", b"G", HEAD, HEAD + b"\r\nGET"])
def test_a_head_that_does_not_come_ends_the_connection(quick: int, sent: bytes) -> None:
    with connect(quick, sent) as connection:
        began = time.monotonic()
        assert ended(connection, 8) and 1.0 < time.monotonic() - began < 6


def test_a_head_that_trickles_does_not_last_longer(quick: int) -> None:
    with connect(quick, b"GET / HTTP/1.1\r\nHost: x\r\n") as connection, pytest.raises(ConnectionError):
        for _ in range(40):
            connection.sendall(b"X: y\r\n")
            time.sleep(0.2)


def test_a_body_that_trickles_ends_the_connection_and_one_that_comes_does_not(quick: int) -> None:
    with connect(quick, post(b"/", 10_000_000)) as connection, pytest.raises(ConnectionError):
        for _ in range(60):
            connection.sendall(b"x")
            time.sleep(0.1)
    with connect(quick, post(b"/", 400_000)) as connection:
        for _ in range(40):  # for longer than any limit here, at 100 KB a second
            connection.sendall(b"x" * 10_000)
            time.sleep(0.1)
        connection.settimeout(10)
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")


def test_what_is_left_of_a_body_after_the_answer_does_not_hold_the_connection(quick: int) -> None:
    with connect(quick, post(b"/at-once", 10_000_000)) as connection, pytest.raises(ConnectionError):
        for _ in range(60):
            connection.sendall(b"x")
            time.sleep(0.1)


def test_an_answer_that_takes_long_is_no_idle_connection(quick: int) -> None:
    with httpx.stream("GET", f"http://127.0.0.1:{quick}/long", timeout=20) as reply:
        assert reply.read() == b"x" * 40 + b"0"


def test_who_reads_nothing_of_an_answer_is_cut_off(quick: int) -> None:
    with connect(quick, b"GET /much HTTP/1.1\r\nHost: x\r\n\r\n") as connection:
        time.sleep(4)
        assert ended(connection, 10)
        assert httpx.get(f"http://127.0.0.1:{quick}/").status_code == 200


def test_the_longest_idle_makes_room_and_one_address_leaves_room_for_others(quick: int) -> None:
    busy = client_from("127.0.0.2", quick, b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n")
    assert busy.recv(100).startswith(b"HTTP/1.1 200")
    idle = [client_from("127.0.0.2", quick) for _ in range(3)]
    time.sleep(0.2)
    newest = client_from("127.0.0.2", quick, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert newest.recv(100).startswith(b"HTTP/1.1 200")
    assert ended(idle[0], 0.5) and not ended(idle[1], 0.2), "the oldest idle one has gone"
    others = [client_from(f"127.0.0.{n}", quick) for n in (3, 4, 5, 6)]
    time.sleep(0.2)
    assert not ended(others[0], 0.1)
    assert b"xxx" in busy.recv(1000), "what is being answered goes on"
    for connection in (busy, *idle, newest, *others):
        connection.close()


def test_where_all_are_being_answered_one_more_is_told_so(quick: int) -> None:
    long = b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n"
    busy = [client_from("127.0.0.2", quick, long) for _ in range(4)]
    assert all(connection.recv(100).startswith(b"HTTP/1.1 200") for connection in busy)
    with client_from("127.0.0.2", quick, long) as one_more:
        assert one_more.recv(100).startswith(b"HTTP/1.1 503")
    behind_a_proxy = [client_from("127.0.0.9", quick, long) for _ in range(4)]
    assert all(connection.recv(100).startswith(b"HTTP/1.1 200") for connection in behind_a_proxy[:3])
    for connection in (*busy, *behind_a_proxy):
        connection.close()


def test_half_of_the_descriptors_are_for_everything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    for soft, hard, most in ((1024, 1024, 512), (256, 256, 128), (256, 100_000, 512), (20, 20, 16)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, found=(soft, hard): found)
        monkeypatch.setattr(resource, "setrlimit", lambda _, wanted: None)
        assert connections.most_connections() == most


def test_of_ipv6_a_whole_network_is_one_customer() -> None:
    assert connections.network_of("2001:db8::1") == connections.network_of("2001:db8::ffff:2")
    assert connections.network_of("2001:db8::1") != connections.network_of("2001:db8:0:1::1")
    assert connections.network_of("::ffff:10.0.0.1") == connections.network_of("10.0.0.1") == "10.0.0.1"
