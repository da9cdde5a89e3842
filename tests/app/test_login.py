"""The login of a dashboard that is open to a network: nothing is answered without it, and it is hard to guess."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from groupwise.app.server import brake, guard
from groupwise.app.server.login import own_place
from tests.conftest import Start, ending, playing_supervisor
from tests.support.servers import Server, begin, changed, routes

TOKEN = "correct-horse-battery-staple"
EACH, LONGEST_WAIT = 0.4, 2.0
QUICK = {"brake.EACH": EACH, "brake.LONGEST_WAIT": LONGEST_WAIT, "login.LONGEST_WAIT": LONGEST_WAIT}
OPEN_PATHS = {"/login", "/healthz"}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """With a token, as it would be on a network, and a brake whose seconds are tenths."""
    place = tmp_path_factory.mktemp("guarded")
    with ending() as start, playing_supervisor(place):
        yield begin(changed(start, **QUICK), place, GROUPWISE_TOKEN=TOKEN)


def client_from(address: str) -> httpx.Client:
    """Another client of the same machine: 127.0.0.2, .3 and so on."""
    return httpx.Client(transport=httpx.HTTPTransport(local_address=address))


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


def guesses(server: Server, address: str, count: int, at_once: int = 20, **options: Any) -> list[int]:
    """Wrong tokens from one address, many at a time; the replies' statuses."""
    with client_from(address) as client, ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(lambda n: _guess(client, server, f"guess{n}", **options), range(count)))


def _guess(client: httpx.Client, server: Server, token: str, **options: Any) -> int:
    return client.post(f"{server.url}/login", data={"token": token}, timeout=60, **options).status_code


def test_wrong_tokens_are_slowed_and_others_are_not(guarded: Server):
    began = time.monotonic()
    codes = guesses(guarded, "127.0.0.3", 60)
    looked_at, seconds = codes.count(403), time.monotonic() - began
    assert set(codes) == {403, 429} and looked_at <= brake.FREE + seconds / EACH + 1
    assert seconds < 2 * LONGEST_WAIT + 5
    with client_from("127.0.0.4") as other:
        began = time.monotonic()
        assert _guess(other, guarded, TOKEN) == 303 and time.monotonic() - began < 1


def test_no_header_makes_one_guesser_many(guarded: Server):
    """300 wrong tokens, 919 a second, were looked at where each came "from" another address."""
    names = ("X-Forwarded-For", "Forwarded", "X-Real-IP", "X-Client-IP", "True-Client-IP", "CF-Connecting-IP")
    headers = {name: "for=10.1.2.3" if name == "Forwarded" else "10.1.2.3" for name in names}
    with client_from("127.0.0.1") as client, ThreadPoolExecutor(20) as pool:  # whom uvicorn believes by default
        began = time.monotonic()

        def guess(n: int) -> int:
            return _guess(
                client, guarded, f"g{n}", headers={name: said.replace("3", str(n)) for name, said in headers.items()}
            )

        codes = list(pool.map(guess, range(60)))
    assert codes.count(403) <= brake.FREE + (time.monotonic() - began) / EACH + 1


def test_someone_who_guesses_locks_nobody_out_behind_the_same_address(guarded: Server):
    with client_from("127.0.0.7") as person, client_from("127.0.0.7") as newcomer, ThreadPoolExecutor(1) as pool:
        assert _guess(person, guarded, TOKEN) == 303
        attack = pool.submit(guesses, guarded, "127.0.0.7", 25, at_once=1)  # one after the other, as fast as they go
        time.sleep(1)
        for _ in range(5):
            assert person.get(f"{guarded.url}/config").status_code == 200, "a session never meets the brake"
        began = time.monotonic()
        assert _guess(person, guarded, TOKEN) == 303 and time.monotonic() - began < 1, (
            "nor a browser that was in before"
        )
        began = time.monotonic()
        assert _guess(newcomer, guarded, TOKEN) == 303
        assert time.monotonic() - began < LONGEST_WAIT + 2, "and any other waits for its turn, no longer"
        attack.cancel()


def test_where_too_many_wait_one_is_told_to_come_back_in_some_seconds(guarded: Server):
    assert 429 in guesses(guarded, "127.0.0.8", 40, at_once=30)
    reply = httpx.Client(transport=httpx.HTTPTransport(local_address="127.0.0.8"))
    with reply as client, ThreadPoolExecutor(20) as pool:
        replies = list(
            pool.map(lambda n: client.post(f"{guarded.url}/login", data={"token": "x"}, timeout=60), range(20))
        )
    refused = next(each for each in replies if each.status_code == 429)
    assert refused.headers["retry-after"] == "2" and "few seconds" in refused.text


def test_a_token_that_groupwise_made_is_taken_at_once_whoever_guesses(
    start: Start, registry_home: Path, no_worker: None
):
    server = begin(changed(start, **QUICK), registry_home, "--token", "auto")
    token = server.said.strip().rpartition("/login#")[2]
    with ThreadPoolExecutor(1) as pool, httpx.Client() as newcomer:
        attack = pool.submit(guesses, server, "127.0.0.1", 60, at_once=30)
        time.sleep(0.5)
        began = time.monotonic()
        assert _guess(newcomer, server, token) == 303 and time.monotonic() - began < 1
        assert 429 in attack.result()


def test_in_a_storm_each_address_has_one_guess_and_a_right_token_none_to_wait_for():
    now = [0.0]
    counting = brake.Brake(clock=lambda: now[0])
    for n in range(brake.STORM + 2):
        assert counting.take(f"10.0.{n}") == 0.0
        counting.was_wrong()
    assert counting.take("guesser") == 0.0
    assert counting.take("guesser") == brake.EACH, "the second waits already"
    assert counting.take("a person") == 0.0
    now[0] += 1000
    assert [counting.take("guesser") for _ in range(brake.FREE)] == [0.0] * brake.FREE, "over, and forgotten"


def test_the_brake_forgets_those_who_have_waited_long_enough():
    now = [0.0]
    counting = brake.Brake(clock=lambda: now[0])
    for n in range(10 * brake.FORGET_AT):
        now[0] += 0.01
        counting.take(f"{n}")
    assert len(counting._until) <= brake.FORGET_AT


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
        (["--proxy", "10.0.0.1"], "--token auto"),
        (["--proxy", "10.0.0.1", "--token", "auto"], "--allow-host NAME"),
        (["--proxy", "*", "--token", "auto", "--allow-host", "box"], "exact address"),
        (["--proxy", "0.0.0.0/0", "--token", "auto", "--allow-host", "box"], "every address"),
        (["--proxy", "10.0.0.1/8", "--token", "auto", "--allow-host", "box"], "host bits"),
        (["--proxy", "proxy.example", "--token", "auto", "--allow-host", "box"], "exact address"),
    ],
)
def test_a_bind_beyond_this_machine_is_refused_with_the_fix(start: Start, options: list[str], fix: str):
    process = start("-m", "groupwise.app", "serve", *options)
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
