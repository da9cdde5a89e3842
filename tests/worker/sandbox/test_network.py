"""What a function with leave to use the network reaches: other machines, and no port of this one that nobody opened.

Each in both tiers, as this user and as an ordinary one, with real servers; another machine is a network namespace.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psutil
import pytest

from groupwise.storage.home import locks, paths
from groupwise.worker.sandbox.client import Code, Host
from tests.support.neighbours import Neighbour, neighbour
from tests.support.sandboxes import Way, command_of, ways
from tests.worker.sandbox.test_threats import GOOD, wait_until

HOST_OWN = (
    "127.0.0.1",
    "localhost",
    "127.9.8.7",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "0.0.0.0",
    "[::]",
    "[64:ff9b::7f00:1]",
)
NOBODYS = (
    "169.254.169.254",
    "[fe80::1]",
    "224.0.0.1",
    "255.255.255.255",
    "[fd00:ec2::254]",
    "100.100.100.200",
    "[::ffff:169.254.169.254]",
    "[64:ff9b::a9fe:a9fe]",
    "240.0.0.1",
)

# What a test's function says to its proxy, and what it was answered.
TALK = """
import base64, os, socket
def proxy():
    secret, _, place = os.environ["http_proxy"].removeprefix("http://").rpartition("@")
    host, _, port = place.partition(":")
    line = socket.create_connection((host, int(port)), 5)
    return line, base64.b64encode(secret.encode()).decode()
def talk(target, send=b"hello", method="CONNECT"):
    line, secret = proxy()
    with line:
        head = f"{method} {target} HTTP/1.1\\r\\nHost: x\\r\\nProxy-Authorization: Basic {secret}\\r\\n\\r\\n"
        line.sendall(head.encode())
        answer = line.recv(65536)
        if method == "CONNECT" and answer.startswith(b"HTTP/1.1 200"):
            line.sendall(send)
            answer += line.recv(65536)
        return answer.decode("latin-1")
"""


@pytest.fixture(params=ways())
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Way:
    tier, nobody = request.param
    return Way(tier, nobody, monkeypatch)


@pytest.fixture(scope="module")
def other() -> Iterator[Neighbour]:
    if os.geteuid() != 0:
        pytest.skip("another machine can be made by root only")
    with neighbour() as made:
        yield made


class Counting:
    """A server on every address of this machine's, and how many reached it."""

    def __init__(self) -> None:
        self.reached = 0
        self._listener = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self) -> None:
        while True:
            try:
                line, _ = self._listener.accept()
            except OSError:
                return
            self.reached += 1
            with line:
                line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@pytest.fixture
def server() -> Iterator[Counting]:
    with closing(Counting()) as made:
        yield made


def said(way: Way, expression: str, **more: Any) -> Any:
    """The value of an expression in a sandbox with network."""
    code = (
        f"{TALK}\nimport json\ndef score(completions, **rest):\n    print(json.dumps({expression}))\n    return [1.0]\n"
    )
    answer = way.scores(code, network=True, **more)[0]
    assert answer["statuses"] == ["ok"], answer["failures"]
    return json.loads(answer["out"])


def own_addresses() -> list[str]:
    """This machine's addresses beside its loopback's."""
    kinds = {socket.AF_INET: "{}", socket.AF_INET6: "[{}]"}
    found = [one for each in psutil.net_if_addrs().values() for one in each if one.family in kinds]
    return [kinds[one.family].format(one.address.partition("%")[0]) for one in found]


def test_it_reaches_no_port_of_this_machine_by_whatever_name(way: Way, server: Counting):
    names = [*HOST_OWN, *own_addresses(), socket.gethostname()]
    asked = [f"talk('{name}:{server.port}')" for name in names]
    asked += [f"talk('http://{name}:{server.port}/', method='GET')" for name in names]
    for name, answer in zip(names * 2, said(way, f"[{','.join(asked)}]"), strict=True):
        assert answer.startswith(("HTTP/1.1 403 ", "HTTP/1.1 502 There is no address")), (name, answer)
    assert server.reached == 0


def test_a_closed_port_is_explained_and_how_to_open_it(way: Way, server: Counting):
    code = f"""
        import urllib.request
        def score(completions, **rest):
            urllib.request.urlopen("http://localhost:{server.port}/v1", timeout=5)
    """
    failure = way.scores(code, network=True)[0]["failures"][0]
    assert f"Port {server.port} of this machine is closed to reward functions" in failure["message"]
    assert f"GROUPWISE_JUDGE_PORTS={server.port}" in failure["message"]


def test_it_cannot_go_past_the_proxy(way: Way, server: Counting):
    port, place = server.port, f"('127.0.0.1', {server.port})"
    attempts = (
        f"socket.create_connection({place}, 2)",
        f"socket.create_connection(('::1', {port}), 2)",
        f"socket.socket().sendto(b'x', socket.MSG_FASTOPEN, {place})",
        f"socket.socket().sendmsg([b'x'], [], socket.MSG_FASTOPEN, {place})",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
        "socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)",
        f"socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).connect({place})",
        "socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK, 132)",
        "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
        "socket.socket(socket.AF_UNIX)",
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
        "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
        "socket.socket(socket.AF_VSOCK)",
        "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.sendto(b'x', '/dev/log')",
        "socket.getaddrinfo('example.org', 80)",
    )
    assert way.worked(*(f"import socket\n{each}" for each in attempts), network=True) == []
    assert server.reached == 0


def test_a_connection_past_the_proxy_is_explained(way: Way, server: Counting):
    code = f"import socket\ndef score(completions):\n    socket.create_connection(('127.0.0.1', {server.port}), 2)\n"
    assert "through Groupwise's proxy only" in way.scores(code, network=True)[0]["failures"][0]["message"]


def test_addresses_that_are_nobodys_are_closed(way: Way):
    asked = ",".join(f"talk('{name}:80')" for name in NOBODYS)
    for name, answer in zip(NOBODYS, said(way, f"[{asked}]"), strict=True):
        assert answer.startswith("HTTP/1.1 403 ") and "is closed to reward functions" in answer, (name, answer)


def test_a_port_that_one_opened_is_reached_and_no_other(way: Way, server: Counting):
    with closing(Counting()) as second:
        places = [f"127.0.0.1:{server.port}", f"localhost:{server.port}", f"127.0.0.1:{second.port}"]
        asked = ",".join(f"talk('http://{place}/', method='GET'), talk('{place}')" for place in places)
        answers = said(way, f"[{asked}]", ports=[server.port])
        assert [answer.split()[1] for answer in answers] == ["200"] * 4 + ["403"] * 2
        assert (server.reached, second.reached) == (4, 0)


def test_it_knows_whom_to_trust_and_sees_no_private_key(way: Way):
    certificates = "len(__import__('ssl').create_default_context().get_ca_certs())"
    expected = len(ssl.create_default_context().get_ca_certs())
    assert said(way, certificates) == expected
    places = ("/etc/ssl/private", "/etc/ssl", "/etc/pki/tls/private", "/etc/hosts", "/etc/resolv.conf")
    listed = way.worked(*(f"import os\nprint(os.listdir({place!r}))" for place in places[:3]), network=True)
    assert all("'/etc/ssl'" in each for each in listed)  # in bubblewrap's, with what is shown of it
    assert way.worked(*(f"open({place!r})" for place in places[3:]), network=True) == []


def test_another_machine_is_reached(way: Way, other: Neighbour):
    place = f"{other.address}:{other.port}"
    tunnel, plain, closed = said(
        way,
        f"[talk('{place}'), talk('http://{place}/a?b', method='GET'), talk('http://{other.ours}:1/', method='GET')]",
    )
    assert tunnel.endswith("\r\n\r\nhello") and plain.endswith("\r\n\r\nGET /a?b HTTP/1.1|x")
    assert "Port 1 of this machine is closed" in closed


def test_the_dashboards_port_stays_closed_though_it_was_opened(way: Way, server: Counting):
    place = paths.prepare()
    way.environment["GROUPWISE_HOME"] = str(place)
    code = (
        "import fcntl, sys\nfile = open(sys.argv[1], 'w')\n"
        f"fcntl.lockf(file, fcntl.LOCK_EX, 1, {server.port})\nprint(1, flush=True)\nsys.stdin.read()\n"
    )
    command = [sys.executable, "-c", code, str(paths.dashboards_lock())]
    of_pytest = [each.name.startswith("pytest-of-") for each in place.parents].index(True)
    for folder in (place, *place.parents[: of_pytest + 1]):
        os.chmod(folder, 0o755)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as dashboard:
        assert dashboard.stdout and dashboard.stdout.readline() == b"1\n"
        os.chmod(paths.dashboards_lock(), 0o666)
        assert locks.is_held(paths.dashboards_lock(), at=server.port)
        [answer] = said(way, f"[talk('127.0.0.1:{server.port}')]", ports=[server.port])
        dashboard.communicate(b"")
    assert answer.startswith(f"HTTP/1.1 403 Port {server.port} is the dashboard's own") and server.reached == 0
    [answer] = said(way, f"[talk('127.0.0.1:{server.port}')]", ports=[server.port])
    assert answer.startswith("HTTP/1.1 200")


def test_a_long_request_that_is_refused_is_told_why_too(way: Way, server: Counting):
    code = f"""
        import urllib.request
        def score(completions, **rest):
            urllib.request.urlopen("http://localhost:{server.port}/v1", bytes(8 << 20), timeout=20)
    """
    assert "is closed to reward functions" in way.scores(code, network=True)[0]["failures"][0]["message"]


def test_many_connections_at_once_wait_for_their_turn(way: Way, server: Counting):
    code = f"""
        import concurrent.futures, urllib.request
        def ask(number):
            return float(len(urllib.request.urlopen("http://localhost:{server.port}/", timeout=20).read()))
        def score(completions, **rest):
            with concurrent.futures.ThreadPoolExecutor(50) as pool:
                return [sum(pool.map(ask, range(200)))]
    """
    assert way.scores(code, network=True, ports=[server.port])[0]["values"] == [1000.0]


def test_a_proxy_that_was_killed_between_calls_is_started_anew_with_its_sandbox():
    with Host([Code("score", GOOD)], network=True) as host:
        for _ in range(2):
            assert host.score("score", {"completions": ["a"]}).statuses == ["ok"]
            assert host._process and host._process._proxy
            host._process._proxy._popen.kill()
            host._process._proxy._popen.wait()
        before = host._process._started.pid
        assert host.score("score", {"completions": ["a"]}).statuses == ["ok"]
        assert host._process._started.pid != before


def test_the_proxy_ends_with_its_sandbox_and_with_us(way: Way):
    """The latter in the midst of a call, so that nobody closes anything."""
    code = "def score(completions):\n    while True: pass\n"
    calls = [{"code": code, "batch": {"completions": [""]}, "timeout": 60}]
    with subprocess.Popen(way.command(), stdin=subprocess.PIPE, env={**os.environ, **way.variables()}) as process:
        assert process.stdin
        process.stdin.write(json.dumps({"calls": calls, "network": True}).encode())
        process.stdin.close()
        wait_until(lambda: proxies_of(process.pid) != [])
        begun = proxies_of(process.pid)
        process.send_signal(signal.SIGKILL)
    wait_until(lambda: not any(lives(proxy) for proxy in begun))
    with Host([Code("score", GOOD)], network=True):
        begun = proxies_of(os.getpid())
        assert len(begun) == 1
    assert proxies_of(os.getpid()) == []


def lives(process: psutil.Process) -> bool:
    """Whether it runs; what nobody has waited for yet does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def proxies_of(pid: int) -> list[psutil.Process]:
    children = psutil.Process(pid).children()
    return [child for child in children if "groupwise.worker.sandbox.proxy" in command_of(child)]
