"""The ports of this machine that whoever starts the dashboard opens to reward functions, and the dashboard's own, which
stays closed: with a real dashboard, a real judge and a real sandbox."""

from __future__ import annotations

import http.server
import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupwise.storage.home import locks, paths
from groupwise.storage.registry import judge_ports
from groupwise.worker.sandbox.client import Code, Host, Result
from tests.conftest import Groupwise, Start
from tests.support.judges import Answers
from tests.support.servers import begin, free_port

ASK = """
import urllib.request
def score(completions, *, url, **kwargs):
    return [float(urllib.request.urlopen(url, timeout=10).status)]
"""


@pytest.fixture
def judge() -> Iterator[int]:
    """The port of a server on this machine."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, args=[0.02])
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def asked(url: str, ports: list[int]) -> Result:
    """What a function with leave to use the network is answered there."""
    with Host([Code("score", ASK, {"url": url})], network=True, ports=ports) as host:
        return host.score("score", {"completions": ["a"]}, 20.0)


def test_a_function_reaches_the_judge_whose_port_was_opened_and_not_the_dashboard(
    own_home: Path, start: Start, judge: int
):
    server = begin(start, own_home, GROUPWISE_JUDGE_PORTS=f" {judge},")
    opened = judge_ports.open_ports()
    assert opened == [judge]
    assert asked(f"http://127.0.0.1:{judge}/v1", opened).values == [200.0]
    closed = asked(f"{server.url}/healthz", opened)
    assert f"Port {server.port} of this machine is closed" in closed.failures[0].message
    own = asked(f"{server.url}/healthz", [*opened, server.port])  # as if it had been opened
    assert f"Port {server.port} is the dashboard's own" in own.failures[0].message


def test_a_library_that_asks_judges_finds_the_proxy_by_itself(judge: int):
    """httpx, on which the openai package stands; urllib is used elsewhere here."""
    code = "import httpx\ndef score(completions, *, url):\n    return [float(httpx.get(url).status_code)]\n"
    for ports, status in (([judge], 200.0), ([], 403.0)):
        with Host([Code("score", code, {"url": f"http://localhost:{judge}/"})], network=True, ports=ports) as host:
            assert host.score("score", {"completions": ["a"]}, 20.0).values == [status]


def test_the_ports_are_closed_again_when_the_dashboard_starts_without_them(own_home: Path, start: Start, judge: int):
    first = begin(start, own_home, GROUPWISE_JUDGE_PORTS=str(judge))
    first.process.kill()
    first.process.wait()
    assert judge_ports.open_ports() == [judge]
    assert not locks.is_held(paths.dashboards_lock(), at=first.port)  # gone with its dashboard
    second = begin(start, own_home)
    assert judge_ports.open_ports() == [] and locks.is_held(paths.dashboards_lock(), at=second.port)
    assert asked(f"http://127.0.0.1:{judge}/", judge_ports.open_ports()).statuses == ["error"]


def test_a_dashboard_does_not_start_on_a_port_that_is_opened_to_functions(groupwise: Groupwise):
    port = free_port()
    told = groupwise("serve", "--no-open", "--port", str(port), env={**os.environ, judge_ports.VARIABLE: str(port)})
    assert told.returncode == 2
    assert f"GROUPWISE_JUDGE_PORTS opens port {port} to reward functions" in told.stderr


@pytest.mark.parametrize("given", ["http", "0", "65536", "8000;8001", "-1", "8000-8010", "²", "9" * 5000])
def test_what_is_no_port_is_refused_at_the_start(given: str, groupwise: Groupwise):
    told = groupwise("serve", "--no-open", env={**os.environ, judge_ports.VARIABLE: given})
    assert told.returncode == 2 and "GROUPWISE_JUDGE_PORTS takes ports from 1 to 65535" in told.stderr


@pytest.mark.parametrize(("given", "ports"), [("", []), (" 80 , 8000,80,", [80, 8000]), ("00080", [80])])
def test_what_the_environment_names(given: str, ports: list[int], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(judge_ports.VARIABLE, given)
    assert judge_ports.ports_from_environment() == ports


def test_no_port_is_open_in_a_home_that_nobody_served(registry_home: Path):
    assert judge_ports.open_ports() == []


def test_one_byte_of_a_file_is_locked_beside_others(registry_home: Path, start: Start):
    code = "for at in (5, 7): print(locks.hold(paths.dashboards_lock(), at=at), flush=True)"
    child = start(
        "-c",
        f"import sys; from groupwise.storage.home import paths, locks\n{code}\nsys.stdin.read()",
        stdin=subprocess.PIPE,
    )
    assert child.stdout and int(child.stdout.readline()) > 0 and int(child.stdout.readline()) > 0
    held = [at for at in range(4, 9) if locks.is_held(paths.dashboards_lock(), at=at)]
    assert held == [5, 7] and locks.is_held(paths.dashboards_lock())
    assert locks.hold(paths.dashboards_lock(), at=5) is None
