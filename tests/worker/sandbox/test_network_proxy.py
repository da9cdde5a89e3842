"""The proxy between a sandbox and the network, spoken to over real sockets: names that change what they mean, requests
that are none, and the proxy that this machine itself may need."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from groupwise.worker.sandbox import addresses, proxy, upstream
from tests.support.neighbours import Neighbour, neighbour

SECRET = "Basic c2VjcmV0"
Ask = Callable[..., str]


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    """Sends a request's first line to a proxy, and gives its whole answer."""
    listeners = []

    def begun(line: str, *headers: str, ports: tuple[int, ...] = (), secret: str = SECRET, **variables: str) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)
        settings: dict[str, Any] = {
            "secret": SECRET,
            "ports": list(ports),
            "dashboards": str(tmp_path / "none"),
            "variables": variables,
        }
        threading.Thread(target=serve, args=[proxy.Proxy(listener, settings)], daemon=True).start()
        with socket.create_connection(listener.getsockname(), 10) as client:
            lines = [line, f"Proxy-Authorization: {secret}", *headers, "", ""]
            client.sendall("\r\n".join(lines).encode("latin-1"))
            answer = client.recv(65536)
            if line.startswith("CONNECT") and b" 200 " in answer:
                client.sendall(b"hello")
            client.shutdown(socket.SHUT_WR)
            while more := client.recv(65536):
                answer += more
        return answer.decode("latin-1")

    yield begun
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def serve(made: proxy.Proxy) -> None:
    try:
        made.serve()
    except OSError:  # the listener was closed: the test is over
        return


@pytest.fixture(scope="module")
def other() -> Iterator[Neighbour]:
    if os.geteuid() != 0:
        pytest.skip("another machine can be made by root only")
    with neighbour() as made:
        yield made


class Recorder:
    """A server on this machine that keeps what it is told and gives one answer."""

    def __init__(self, answer: bytes) -> None:
        self.heard: list[bytes] = []
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                line, _ = self._listener.accept()
            except OSError:
                return
            with line:
                self.heard.append(line.recv(65536))
                line.sendall(self._answer)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@pytest.fixture
def here() -> Iterator[Recorder]:
    with closing(Recorder(b"HTTP/1.1 200 OK\r\n\r\n")) as made:
        yield made


def name_that_means(monkeypatch: pytest.MonkeyPatch, name: str, *answers: list[str]) -> list[str]:
    """Have look-ups of a name give these addresses, one list after the other; what was looked up is noted."""
    real, asked, left = socket.getaddrinfo, [], list(answers)

    def look_up(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        if host != name:
            return real(host, port, *rest, **more)
        asked.append(host)
        return [found for address in left.pop(0) for found in real(address, port, *rest, **more)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked


def test_a_name_that_means_another_address_a_moment_later_gains_nothing(
    ask: Ask, here: Recorder, other: Neighbour, monkeypatch: pytest.MonkeyPatch
):
    asked = name_that_means(monkeypatch, "changes.test", [other.address], [other.address], ["127.0.0.1"])
    assert ask(f"CONNECT changes.test:{other.port} HTTP/1.1").endswith("hello")
    assert " 502 changes.test" in ask(f"GET http://changes.test:{here.port}/ HTTP/1.1")  # nothing listens there
    assert (asked, here.heard) == (["changes.test"] * 2, [])


def test_of_several_addresses_only_those_that_are_open_are_tried(
    ask: Ask, other: Neighbour, monkeypatch: pytest.MonkeyPatch
):
    with closing(Recorder(b"HTTP/1.1 200 OK\r\n\r\n")) as here:
        name_that_means(monkeypatch, "both.test", ["127.0.0.1", other.address], ["127.0.0.1", "169.254.169.254"])
        assert " 502 both.test" in ask(f"GET http://both.test:{here.port}/ HTTP/1.1")  # refused by the neighbour
        assert " 403 Port" in ask(f"GET http://both.test:{here.port}/ HTTP/1.1") and here.heard == []


def test_a_request_is_carried_as_it_was_meant_without_what_is_for_the_proxy(ask: Ask, here: Recorder):
    line = f"POST http://127.0.0.1:{here.port}?q=1 HTTP/1.1"
    headers = ("Host: judge", "Proxy-Connection: keep-alive", "Connection: keep-alive", "X-Own: 1")
    assert ask(line, *headers, ports=(here.port,)).startswith("HTTP/1.1 200")
    assert here.heard == [b"POST /?q=1 HTTP/1.1\r\nHost: judge\r\nX-Own: 1\r\nConnection: close\r\n\r\n"]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "GET",
        "GET / HTTP/1.1",
        "GET https://127.0.0.1/ HTTP/1.1",
        "CONNECT 127.0.0.1 HTTP/1.1",
        "CONNECT :80 HTTP/1.1",
        "CONNECT 127.0.0.1:0 HTTP/1.1",
        "CONNECT 127.0.0.1:65536 HTTP/1.1",
        "CONNECT 127.0.0.1:8x HTTP/1.1",
        "CONNECT [::1 HTTP/1.1",
        "GET http:// HTTP/1.1",
        "GET http://127.0.0.1\x00.test/ HTTP/1.1",
        "GET http://a\nHost:b/ HTTP/1.1",
        "CONNECT a@b:80 HTTP/1.1",
        "GET http://a@127.0.0.1/ HTTP/1.1",
        "CONNECT \xe9:80 HTTP/1.1",
        "GET " + "x" * (200 << 10),
    ],
)
def test_what_is_no_request_is_answered_and_leads_nowhere(line: str, ask: Ask):
    assert ask(line).startswith(("HTTP/1.1 400 ", "HTTP/1.1 431 "))


@pytest.mark.parametrize("name", ["127.1", "0x7f.1", "2130706433", "017700000001", "127.0.0.1.", "LOCALHOST", "0"])
def test_this_machine_written_in_another_way_is_closed(name: str, ask: Ask, here: Recorder):
    answer = ask(f"CONNECT {name}:{here.port} HTTP/1.1")
    assert answer.startswith(("HTTP/1.1 403 Port", "HTTP/1.1 502 There is no address")) and here.heard == []


def test_who_does_not_know_the_password_is_refused(ask: Ask, here: Recorder):
    for secret in ("", "Basic ", "Basic c2VjcmVx", "Bearer c2VjcmV0"):
        answer = ask(f"GET http://127.0.0.1:{here.port}/ HTTP/1.1", ports=(here.port,), secret=secret)
        assert answer.startswith("HTTP/1.1 407 ") and here.heard == []


def test_a_server_that_is_not_there_is_named(ask: Ask):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    assert ask(f"CONNECT 127.0.0.1:{port} HTTP/1.1", ports=(port,)).startswith(
        f"HTTP/1.1 502 127.0.0.1:{port} cannot be reached: Connection refused"
    )
    assert ask("CONNECT nowhere.invalid:80 HTTP/1.1").startswith(
        "HTTP/1.1 502 There is no address for nowhere.invalid: the name is unknown here."
    )


def test_this_machines_own_proxy_is_gone_through_and_given_the_address_that_was_judged(
    ask: Ask, here: Recorder, monkeypatch: pytest.MonkeyPatch
):
    name_that_means(monkeypatch, "judge.test", *[["198.51.100.7"]] * 3)
    through = {"https_proxy": f"http://me:p%40ss@127.0.0.1:{here.port}", "HTTP_PROXY": f"127.0.0.1:{here.port}"}
    assert ask("CONNECT judge.test:443 HTTP/1.1", **through).startswith("HTTP/1.1 200 ")
    assert ask("GET http://judge.test/a HTTP/1.1", "Host: judge.test", **through).startswith("HTTP/1.1 200 ")
    tunnel, plain = (heard.split(b"\r\n") for heard in here.heard)
    assert tunnel[:3] == [
        b"CONNECT 198.51.100.7:443 HTTP/1.1",
        b"Host: 198.51.100.7:443",
        b"Proxy-Authorization: Basic bWU6cEBzcw==",
    ]
    assert plain[:2] == [b"GET http://198.51.100.7:80/a HTTP/1.1", b"Host: judge.test"]


def test_by_way_of_this_machines_own_proxy_nothing_is_reached_that_is_closed(
    ask: Ask, here: Recorder, monkeypatch: pytest.MonkeyPatch
):
    name_that_means(monkeypatch, "both.test", ["198.51.100.7", "127.0.0.1"])
    through = {"http_proxy": f"http://127.0.0.1:{here.port}", "https_proxy": f"http://127.0.0.1:{here.port}"}
    assert " 403 Port 80 " in ask("CONNECT localhost:80 HTTP/1.1", **through)
    assert " 403 " in ask("CONNECT 169.254.169.254:80 HTTP/1.1", **through)
    assert " 403 both.test resolves to addresses" in ask("CONNECT both.test:80 HTTP/1.1", **through)
    assert "it is given addresses only" in ask("CONNECT unknown.invalid:443 HTTP/1.1", **through)
    assert here.heard == []


def test_a_proxy_on_another_machine_looks_names_up_itself(ask: Ask, other: Neighbour):
    """What it is asked shows in its answer: it is the echo of that."""
    through = {"https_proxy": f"http://{other.address}:{other.port}"}
    answer = ask("CONNECT unknown.invalid:443 HTTP/1.1", **through)
    assert answer.startswith("HTTP/1.1 502 This machine's own proxy answered: CONNECT unknown.invalid:443 HTTP/1.1")


def test_a_judge_on_this_machine_is_asked_without_its_proxy(ask: Ask, here: Recorder):
    with closing(Recorder(b"")) as between:
        through = {"http_proxy": f"http://127.0.0.1:{between.port}"}
        assert ask(f"GET http://localhost:{here.port}/ HTTP/1.1", ports=(here.port,), **through).startswith(
            "HTTP/1.1 2"
        )
        assert between.heard == [] and len(here.heard) == 1


@pytest.mark.parametrize(
    ("address", "means", "whose"),
    [
        ("8.8.8.8", ["8.8.8.8"], "anyone's"),
        ("2001:4860:4860::8888", ["2001:4860:4860::8888"], "anyone's"),
        ("10.1.2.3", ["10.1.2.3"], "anyone's"),
        ("fd12::1", ["fd12::1"], "anyone's"),
        ("100.64.1.1", ["100.64.1.1"], "anyone's"),
        ("64:ff9b::808:808", ["8.8.8.8"], "anyone's"),
        ("::ffff:8.8.8.8", ["8.8.8.8"], "anyone's"),
        ("127.3.2.1", ["127.3.2.1"], "own"),
        ("::1", ["::1"], "own"),
        ("0.1.2.3", ["0.1.2.3"], "own"),
        ("64:ff9b::7f00:1", ["127.0.0.1"], "own"),
        ("2002:7f00:1::", ["2002:7f00:1::", "127.0.0.1"], "own"),
        ("fe80::1%1", ["fe80::1%1"], "closed"),
        ("168.63.129.16", ["168.63.129.16"], "closed"),
        ("192.0.0.192", ["192.0.0.192"], "closed"),
        ("fd20:ce::254", ["fd20:ce::254"], "closed"),
        ("ff02::1", ["ff02::1"], "closed"),
        ("2002:a9fe:a9fe::", ["2002:a9fe:a9fe::", "169.254.169.254"], "closed"),
    ],
)
def test_whose_an_address_is(address: str, means: list[str], whose: str):
    meanings = list(addresses.meanings(address))
    assert list(map(str, meanings)) == means
    own, closed = any(map(addresses.is_own, meanings)), any(map(addresses.is_closed, meanings))
    assert ("own" if own else "closed" if closed else "anyone's") == whose


@pytest.mark.parametrize(
    ("variables", "host", "found"),
    [
        ({"https_proxy": "http://p:3128"}, "a.test", ("p", 3128)),
        ({"HTTPS_PROXY": "p:3128/"}, "a.test", ("p", 3128)),
        ({"https_proxy": "http://[::2]:1", "no_proxy": "b.test"}, "a.test", ("::2", 1)),
        ({"https_proxy": "http://p"}, "a.test", ("p", 80)),
        ({"http_proxy": "http://p:1"}, "a.test", None),
        ({}, "a.test", None),
        ({"https_proxy": " "}, "a.test", None),
        ({"https_proxy": "http://p:1", "no_proxy": "x, .Test"}, "a.test", None),
        ({"https_proxy": "http://p:1", "NO_PROXY": "*"}, "a.test", None),
        ({"https_proxy": "http://p:1", "no_proxy": "test"}, "attest", ("p", 1)),
    ],
)
def test_which_proxy_the_environment_names(variables: dict[str, str], host: str, found: tuple[str, int] | None):
    named = upstream.find_upstream(variables, "https", host)
    assert (named and (named.host, named.port)) == found


def test_a_proxy_of_a_kind_that_is_not_spoken_is_named(ask: Ask):
    for address in ("socks5://127.0.0.1:1", "https://p:1", "http://p:x", "http://:3"):
        assert "This machine's own proxy (https_proxy) cannot be used" in ask(
            "CONNECT 198.51.100.7:80 HTTP/1.1", https_proxy=address
        )
