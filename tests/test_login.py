"""The login of a dashboard that is open to a network: nothing is answered without it, and it is hard to guess."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from app import guard
from app.login import Gate, own_place
from tests.conftest import Start, ending, playing_supervisor
from tests.servers import Server, begin

TOKEN = "correct-horse-battery-staple"
OPEN_PATHS = {"/login", "/healthz"}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """With a token, as it would be on a network."""
    place = tmp_path_factory.mktemp("guarded")
    with ending() as start, playing_supervisor(place):
        yield begin(start, place, GROUPWISE_TOKEN=TOKEN)


def client_from(address: str) -> httpx.Client:
    """Another client of the same machine: 127.0.0.2, .3 and so on."""
    return httpx.Client(transport=httpx.HTTPTransport(local_address=address))


def routes(server: Server) -> set[tuple[str, str]]:
    """Every (method, path) that the application answers, its parameters filled in, read from the application itself."""
    script = """
import json
from app.server import Settings, create_app
def walk(routes, prefix=""):
    for route in routes:
        path = prefix + getattr(route, "path", "")
        inner = getattr(route, "routes", None) or getattr(getattr(route, "app", None), "routes", None)
        if inner: yield from walk(inner, path)
        elif hasattr(route, "original_router"): yield from walk(route.original_router.routes, prefix)
        else: yield from ((method, path) for method in sorted(getattr(route, "methods", None) or {"GET"}))
print(json.dumps(sorted(set(walk(create_app(Settings(token="x" * 20)).routes)))))
"""
    with ending() as start:
        process = start("-c", script, env={**os.environ, "GROUPWISE_HOME": str(server.home)})
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return {(method, re.sub(r"\{[^}]*\}", "x", path)) for method, path in json.loads(out)}


def test_without_a_login_nothing_is_answered_but_the_login_and_the_health_check(guarded: Server):
    found = routes(guarded)
    assert len(found) > 60 and ("POST", "/gradio_api/queue/join") in found and ("GET", "/run") in found
    with httpx.Client(base_url=guarded.url) as client:
        for method, path in sorted(found | {("GET", "/any/thing"), ("POST", "/"), ("OPTIONS", "/")}):
            for accept in ("*/*", "text/html"):
                reply = client.request(method, path, headers={"Accept": accept})
                if path in OPEN_PATHS:
                    continue
                page = method == "GET" and accept == "text/html"
                assert reply.status_code == (303 if page else 401), (method, path)
                assert not page or reply.headers["location"].startswith("/login?next=")


def test_its_refusals_and_its_page_have_the_security_headers(guarded: Server):
    for path in ("/login", "/config", "/"):
        reply = httpx.get(guarded.url + path)
        assert {name: reply.headers[name] for name in guard.HEADERS} == guard.HEADERS


def test_a_websocket_is_not_opened_without_a_login(guarded: Server):
    with socket.create_connection(("127.0.0.1", guarded.port), timeout=10) as connection:
        connection.sendall(
            b"GET /gradio_api/queue/join HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        assert b" 101 " not in connection.recv(200).split(b"\r\n")[0]


def test_the_right_token_opens_and_the_cookie_is_no_token(guarded: Server):
    with client_from("127.0.0.2") as client:
        reply = client.post(f"{guarded.url}/login", data={"token": TOKEN, "next": "/run?id=a"})
        assert (reply.status_code, reply.headers["location"]) == (303, "/run?id=a")
        cookie = reply.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=strict" in cookie and TOKEN not in cookie
        assert client.get(guarded.url).status_code == 200
        assert client.get(f"{guarded.url}/config").status_code == 200
        name, value = next(iter(client.cookies.items()))
    for forged in (value[:-1] + ("0" if value[-1] != "0" else "1"), f"9{value}", TOKEN, "..", "", "é"):
        headers = {"Cookie": f"{name}={forged}".encode()}
        assert httpx.get(f"{guarded.url}/config", headers=headers).status_code == 401, forged


def test_after_five_wrong_tokens_a_client_waits_and_others_do_not(guarded: Server):
    with client_from("127.0.0.3") as client:
        tries = [client.post(f"{guarded.url}/login", data={"token": f"guess{n}"}).status_code for n in range(7)]
        assert tries == [403] * 5 + [429] * 2
        reply = client.post(f"{guarded.url}/login", data={"token": TOKEN})
        assert reply.status_code == 429 and reply.headers["retry-after"] == "60" and "set-cookie" not in reply.headers
    with client_from("127.0.0.4") as other:
        assert other.post(f"{guarded.url}/login", data={"token": TOKEN}).status_code == 303


def test_the_login_page_takes_odd_forms_and_says_nothing_back(guarded: Server):
    with client_from("127.0.0.5") as client:
        for body in (b"", b"token=%ff%00", b"x" * 20_000, b"token=" + "é".encode()):
            assert client.post(f"{guarded.url}/login", content=body).status_code == 403
        page = client.get(f"{guarded.url}/login", params={"next": '/"><script>alert(1)</script>'}).text
        assert "<script>alert" not in page


@pytest.mark.parametrize("place", ["https://evil.example", "//evil.example", "/\\evil.example", "evil", "", "/a\nb"])
def test_after_the_login_no_one_is_sent_to_another_site(place: str):
    assert own_place(place) == "/"
    assert own_place("/run?id=x") == "/run?id=x"


def test_a_session_outlives_a_restart_and_ends_with_its_time_and_its_token(monkeypatch: pytest.MonkeyPatch):
    from starlette.requests import HTTPConnection as Connection

    gate = Gate(TOKEN, "c")
    session = gate.new_session()
    asking = Connection({"type": "http", "headers": [(b"cookie", f"c={session}".encode())]})
    assert Gate(TOKEN, "c").knows(asking)
    assert not Gate(TOKEN + "2", "c").knows(asking)
    later = time.time() + 15 * 24 * 3600
    monkeypatch.setattr("app.login.time.time", lambda: later)
    assert not gate.knows(asking)


def test_a_token_of_its_own_is_long_and_printed_once_as_a_link(start: Start, registry_home: Path, no_worker: None):
    server = begin(start, registry_home, "--token", "auto")
    token = server.said.strip().rpartition("/login#")[2]
    assert len(token) * 6 >= 128
    assert httpx.get(f"{server.url}/config").status_code == 401
    assert httpx.post(f"{server.url}/login", data={"token": token}).status_code == 303
    server.process.send_signal(signal.SIGINT)
    out, err = server.process.communicate(timeout=10)
    assert token not in out + err
    assert not [file for file in registry_home.rglob("*") if file.is_file() and token.encode() in file.read_bytes()]


# --- listening beyond this machine


@pytest.mark.parametrize(
    ("options", "fix"),
    [
        (["--host", "0.0.0.0"], "--token auto"),
        (["--host", "::"], "--allow-host NAME"),
        (["--host", "0.0.0.0", "--token", "auto"], "--allow-host NAME"),
        (["--host", "0.0.0.0", "--allow-host", "box"], "--token auto"),
        (["--host", "0.0.0.0", "--token", "auto", "--allow-host", "*"], "one exact name"),
        (["--host", "0.0.0.0", "--token", "short", "--allow-host", "box"], "needs 16"),
    ],
)
def test_a_bind_beyond_this_machine_is_refused_with_the_fix(start: Start, options: list[str], fix: str):
    process = start("-m", "app", "serve", *options)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 2 and fix in err and "Traceback" not in err and out == ""


def test_beyond_this_machine_it_answers_to_the_allowed_name_and_asks_for_the_token(
    start: Start, registry_home: Path, no_worker: None
):
    server = begin(start, registry_home, "--host", "0.0.0.0", "--allow-host", "box", GROUPWISE_TOKEN=TOKEN)
    assert server.said.strip() == f"Groupwise is at http://box:{server.port}"
    assert server.process.stdout is not None and server.process.stdout.readline() == "Log in with your token.\n"
    assert httpx.get(f"{server.url}/config", headers={"Host": "box"}).status_code == 401
    assert httpx.get(f"{server.url}/config", headers={"Host": "other"}).status_code == 400


@pytest.mark.parametrize("option", [["--token", TOKEN], ["--token", "auto"], []])
def test_a_token_that_was_given_is_printed_nowhere(
    start: Start, registry_home: Path, no_worker: None, option: list[str]
):
    environment = {} if TOKEN in option else {"GROUPWISE_TOKEN": TOKEN}
    server = begin(start, registry_home, *option, **environment)
    assert server.process.stdout is not None and server.process.stdout.readline() == "Log in with your token.\n"
    server.process.send_signal(signal.SIGINT)
    out, err = server.process.communicate(timeout=10)
    assert TOKEN not in server.said + out + err
