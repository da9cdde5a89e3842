"""How long a login lasts: over restarts, for its days, and not a moment after one has logged out."""

from __future__ import annotations

import resource
import signal
import time
from pathlib import Path

import httpx
import pytest
from starlette.requests import HTTPConnection as Connection

from groupwise.app.server.sessions import Sessions
from groupwise.storage.home import paths
from tests.conftest import Start
from tests.support.servers import Server, begin

TOKEN = "correct-horse-battery-staple"


def log_in(client: httpx.Client, server: Server) -> int:
    return client.post(f"{server.url}/login", data={"token": TOKEN}).status_code


def asking(session: str, cookie: str = "c") -> Connection:
    return Connection({"type": "http", "headers": [(b"cookie", f"{cookie}={session}".encode())]})


def test_a_session_outlives_a_restart_and_ends_with_its_time_and_its_token(
    registry_home: Path, monkeypatch: pytest.MonkeyPatch
):
    kept = paths.logged_out()
    sessions = Sessions(TOKEN, "c", kept)
    request = asking(sessions.new())
    assert Sessions(TOKEN, "c", kept).is_logged_in(request)
    assert not Sessions(TOKEN + "2", "c", kept).is_logged_in(request)
    later = time.time() + 15 * 24 * 3600
    monkeypatch.setattr("groupwise.app.server.sessions.time.time", lambda: later)
    assert not sessions.is_logged_in(request)


def test_logging_out_ends_the_session_wherever_its_cookie_is_and_after_a_restart(
    start: Start, registry_home: Path, no_worker: None
):
    server = begin(start, registry_home, GROUPWISE_TOKEN=TOKEN)
    with httpx.Client(base_url=server.url) as thief, httpx.Client(base_url=server.url) as other:
        with httpx.Client(base_url=server.url) as person:
            assert log_in(person, server) == log_in(other, server) == 303
            thief.cookies.update(person.cookies)
            assert thief.get("/config").status_code == 200
            for method, headers in (("GET", {}), ("HEAD", {}), ("POST", {"Origin": "https://evil.example"})):
                assert person.request(method, "/logout", headers=headers).headers.get("location") != "/login"
            assert person.get("/config").status_code == 200, "only one's own page logs one out"
            reply = person.post("/logout")
            assert (reply.status_code, reply.headers["location"]) == (303, "/login")
            assert person.get("/config").status_code == 401
        assert thief.get("/config").status_code == 401
        assert other.get("/config").status_code == 200, "nobody else was logged out"
        server.process.send_signal(signal.SIGINT)
        server.process.communicate(timeout=20)
        again = begin(start, registry_home, GROUPWISE_TOKEN=TOKEN)
        assert httpx.get(f"{again.url}/config", cookies=_renamed(thief, again)).status_code == 401
        assert httpx.get(f"{again.url}/config", cookies=_renamed(other, again)).status_code == 200


def _renamed(client: httpx.Client, server: Server) -> dict[str, str]:
    """A session's cookie, under the name it has at another port."""
    [value] = client.cookies.values()
    return {f"groupwise_session_{server.port}": value}


def test_a_second_dashboard_of_the_home_knows_who_logged_out(registry_home: Path):
    first, second = (Sessions(TOKEN, "c", paths.logged_out()) for _ in range(2))
    sessions = [first.new() for _ in range(50)]
    assert all(second.is_logged_in(asking(session)) for session in sessions)
    for number, session in enumerate(sessions):
        (first, second)[number % 2].end(asking(session))
        assert not first.is_logged_in(asking(session)) and not second.is_logged_in(asking(session))
    assert not any(Sessions(TOKEN, "c", paths.logged_out()).is_logged_in(asking(session)) for session in sessions)


def test_those_that_have_ended_by_themselves_are_kept_no_longer(registry_home: Path, monkeypatch: pytest.MonkeyPatch):
    sessions = Sessions(TOKEN, "c", paths.logged_out())
    for _ in range(20):
        sessions.end(asking(sessions.new()))
    assert paths.logged_out().stat().st_mode & 0o077 == 0 or paths.home().stat().st_mode & 0o077 == 0
    assert len(paths.logged_out().read_text().splitlines()) == 20
    later = time.time() + 15 * 24 * 3600
    monkeypatch.setattr("groupwise.app.server.sessions.time.time", lambda: later)
    Sessions(TOKEN, "c", paths.logged_out())
    assert paths.logged_out().read_text() == ""


def test_a_damaged_list_of_them_costs_its_own_lines_alone(registry_home: Path):
    sessions = Sessions(TOKEN, "c", paths.logged_out())
    ended = asking(sessions.new())
    sessions.end(ended)
    with paths.logged_out().open("ab") as file:
        file.write(b"\xff\xfe\x00 half a line\nx -1\n\n" + b"y " + b"9" * 5000 + b"\n")
    again = Sessions(TOKEN, "c", paths.logged_out())
    assert not again.is_logged_in(ended) and again.is_logged_in(asking(again.new()))


def test_on_a_full_disk_one_is_logged_out_and_told_what_is_left(start: Start, registry_home: Path, no_worker: None):
    server = begin(start, registry_home, GROUPWISE_TOKEN=TOKEN)
    with httpx.Client(base_url=server.url) as person:
        assert log_in(person, server) == 303
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (0, 0))  # not a byte more can be written
        reply = person.post("/logout")
        assert reply.status_code == 507 and "File too large" in reply.text
        assert person.get("/config").status_code == 401
