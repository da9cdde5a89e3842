"""Every server function and every route, called by hand with what no page would send: refused, and nothing changes.

What there is to call is read from the running dashboard, so a new function or route is covered by being there.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import REPOSITORY, ending, playing_supervisor
from tests.support.homes import fresh_home
from tests.support.made_runs import made_run
from tests.support.servers import Server, begin, routes

TOKEN = "correct-horse-battery-staple"
CALL = "/gradio_api/component_server/"
# What starts the quickstart takes no argument that could be wrong.
WITHOUT_ARGUMENTS = {"start_quickstart"}
NESTED: list[Any] = []
for _ in range(200):
    NESTED = [NESTED]
BAD: list[Any] = [
    None,
    True,
    -1,
    2**62,
    2**63 - 1,
    1e308,
    "",
    "0",
    "../../../etc/passwd",
    "/etc/passwd",
    "a\0b",
    "a\nb",
    "$(id); `id`",
    "x" * 20_000,
    "\u202e⟨𝕏<b>",
    "9" * 400,
    [],
    {},
    [1, "a", None],
    NESTED,
    ["../x"] * 50,
    {"run": {"run": 1}},
]
RAW = [
    b"",
    b"null",
    b"[]",
    b"7",
    b'"text"',
    b"{",
    b"\xff\xfe",
    b'{"\xed\xa0\x80": 1}',
    b"[" * 100_000,
    b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    b'{"component_id": 1e999}',
    b'{"component_id": NaN, "fn_name": "x"}',
    b'{"component_id": [1], "fn_name": {}}',
    b'{"component_id": true, "fn_name": "worker_status"}',
    b'{"component_id": -1}',
    b'{"component_id": 1' + b"0" * 5000 + b"}",
    b'{"component_id": 2, "fn_name": "__init__", "data": {}}',
    b'{"component_id": 2, "fn_name": "worker_status\\ud800"}',
    b'{"component_id": 2, "fn_name": "\\u0000"}',
]
DATA = [
    b'"\\ud800"',
    b'"\\udfff\\ud800"',
    b'{"run": "\\ud800"}',
    b'{"\\ud800": "run"}',
    b'{"text": "name: \\ud800"}',
    b"NaN",
    b'{"after": Infinity}',
    b'{"question": -Infinity}',
    b"1" + b"0" * 5000,
    b'{"step": 1' + b"0" * 400 + b"}",
    b"[" * 3000 + b"]" * 3000,
    b'{"a":' * 3000 + b"1" + b"}" * 3000,
    b'"\xed\xa0\x80"',
    b'"\xff"',
    b'"\\u0000"',
]


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """The home that the two dashboards below show; a test stands in for its worker."""
    with fresh_home() as made, playing_supervisor(made):
        yield made


@pytest.fixture(scope="module")
def run(place: Path) -> str:
    """The id of a whole run there."""
    return made_run("called", 6, groups=2)


@pytest.fixture(scope="module")
def dashboard(place: Path) -> Iterator[Server]:
    with ending() as start:
        yield begin(start, place)


@pytest.fixture(scope="module")
def guarded(place: Path) -> Iterator[Server]:
    with ending() as start:
        yield begin(start, place, GROUPWISE_TOKEN=TOKEN)


def functions(server: Server, cookies: Any = None) -> list[tuple[int, str]]:
    """Every server function that a page of the running dashboard is offered."""
    config = httpx.get(f"{server.url}/config", cookies=cookies).json()
    return [(part["id"], name) for part in config["components"] for name in part["props"].get("server_fns", [])]


def arguments() -> list[str]:
    """The name of every argument that a function of ours reads from what it is sent."""
    sources = [path.read_text(encoding="utf-8") for path in (REPOSITORY / "app").rglob("*.py")]
    return sorted(set(re.findall(r'payload(?:\.get\(|\[|, )"(\w+)"', "\n".join(sources))))


def everything_in(place: Path) -> dict[str, object]:
    """What is in a home: the rows of its registry, and the bytes of every other file but what reading makes."""
    found: dict[str, object] = {
        str(path.relative_to(place)): path.read_bytes()
        for path in sorted(place.rglob("*"))
        if path.is_file() and not re.search(r"registry\.db|-(wal|shm)$|worker\.log|supervisor\.lock", path.name)
    }
    with closing(sqlite3.connect(place / "registry.db")) as registry:
        return {**found, "registry": list(registry.iterdump())}


def difference(before: dict[str, object], after: dict[str, object]) -> list[str]:
    return [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]


def bodies(number: int, name: str, run: str) -> Iterator[bytes]:
    """Calls of one function: another run, every other argument wrong, and what is no JSON of ours."""
    names = arguments()
    assert {"run", "text", "step", "question"} <= set(names) and len(names) > 30
    call = {"session_hash": "x", "component_id": number, "fn_name": name}
    for bad in BAD:
        yield json.dumps({**call, "data": bad}).encode()
        yield json.dumps({**call, "data": {"run": bad}}).encode()
        yield json.dumps({**call, "data": {**dict.fromkeys(names, bad), "run": run}}).encode()
    head = json.dumps(call).encode().removesuffix(b"}")
    yield from (head + b', "data": ' + data + b"}" for data in DATA)


def test_no_wrong_argument_of_any_function_is_a_fault_or_changes_anything(dashboard: Server, run: str) -> None:
    found = functions(dashboard)
    assert len(found) > 50
    for number, name in found:
        before = everything_in(dashboard.home)
        with httpx.Client(base_url=dashboard.url, timeout=60) as client:
            for body in bodies(number, name, run):
                reply = client.post(CALL, content=body)
                assert reply.status_code in (200, 400), (name, reply.status_code, body[:300])
                if reply.status_code == 200:
                    assert not reply.json().get("fault"), (name, body[:300])
        if name not in WITHOUT_ARGUMENTS:
            assert difference(before, everything_in(dashboard.home)) == [], name


def test_what_is_no_call_is_refused(dashboard: Server) -> None:
    before = everything_in(dashboard.home)
    with httpx.Client(base_url=dashboard.url, timeout=30) as client:
        for path in (CALL, CALL.rstrip("/")):
            for body in RAW:
                reply = client.post(path, content=body)
                assert reply.status_code in (400, 404) or "half of a character" in reply.text, body[:100]
        form = {"component_id": "2", "fn_name": "worker_status", "session_hash": "x"}
        assert client.post(CALL, files={"data": ("x", b"x")}, data=form).status_code == 400
    assert difference(before, everything_in(dashboard.home)) == []


def test_text_that_no_file_can_hold_is_refused_in_a_sentence(dashboard: Server) -> None:
    [number, name] = next(found for found in functions(dashboard) if found[1] == "save_preset")
    call = {"component_id": number, "fn_name": name, "session_hash": "x"}
    for bad in ("\ud800", "a\udfffb", "\udc00\ud800"):
        body = json.dumps({**call, "data": {"name": bad, "text": "name: x"}}).encode()
        reply = httpx.post(dashboard.url + CALL, content=body)
        assert reply.status_code == 200 and "half of a character" in reply.json()["sentence"]
    whole = json.dumps({**call, "data": {"name": "\U0001f600" * 101, "text": "name: x"}}).encode()
    assert b"\\ud83d\\ude00" in whole and "half of" not in httpx.post(dashboard.url + CALL, content=whole).text


def test_without_a_login_no_function_is_called(guarded: Server, run: str) -> None:
    with httpx.Client(base_url=guarded.url) as client:
        client.post("/login", data={"token": TOKEN})
        found = functions(guarded, client.cookies)
    assert len(found) > 50
    before = everything_in(guarded.home)
    client = httpx.Client()
    for number, name in found:
        for data in ({}, {"run": run, "do": "stop"}, {"text": "name: x"}, "\0"):
            call = {"session_hash": "x", "component_id": number, "fn_name": name, "data": data}
            assert client.post(guarded.url + CALL, json=call).status_code == 401, name
    assert difference(before, everything_in(guarded.home)) == []


ODD = ["x", "%ED%A0%80", "%00", "..%2f..%2fetc%2fpasswd", "%F0%9F%98", "9" * 400, "%0d%0aX:1", "%E2%80%AE", "{}", "a b"]
QUERY = (
    "?id={0}&run={0}&ids={0}&session_hash={0}&next={0}&format={0}&step={0}&upload_id={0}&seen={0}&search={0}&{0}={0}"
    "&page={0}&deep_link={0}"
)


def test_no_route_makes_a_fault_of_an_odd_address_and_none_changes_anything(dashboard: Server) -> None:
    found = {(method, path) for method, path in routes(dashboard) if "heartbeat" not in path}
    assert len(found) > 60 and ("GET", "/export") in found
    before = everything_in(dashboard.home)
    with httpx.Client(base_url=dashboard.url, timeout=30) as client:
        for method, path in sorted(found):
            for odd in ODD:
                address = re.sub(r"(?<=[/=])x(?=/|$)", odd, path) + QUERY.format(odd)
                body = b'{"session_hash": "\\ud800", "data": ["\\ud800"], "fn_index": 0}' if method == "POST" else None
                reply = client.request(method, address, content=body, headers={"Content-Type": "application/json"})
                assert reply.status_code < 500, (method, address, reply.text[:300])
        for name in ("page", "%70age", "deep_link"):  # which Gradio's own route of “/” would read
            assert client.get(f"/?q=a&{name}=2").content == client.get("/?q=a").content
    assert difference(before, everything_in(dashboard.home)) == []


def test_no_function_waits_behind_gradio_s_own_ways_of_calling(dashboard: Server) -> None:
    """Gradio numbers a page's events and calls them by number and by name. There are none, and no way to call one."""
    config = httpx.get(f"{dashboard.url}/config").json()
    assert config["dependencies"] == []
    call = {"data": [], "fn_index": 0, "session_hash": "x", "event_id": "x"}
    for path in ("queue/join", "run/predict", "api/predict", "call/predict", "call/v2/predict", "cancel", "reset"):
        for body in (call, {**call, "fn_index": -1}, {**call, "fn_index": 2**70}, {**call, "data": "\0"}, [], 7):
            assert httpx.post(f"{dashboard.url}/gradio_api/{path}", json=body).status_code == 404, path
    for path in ("queue/data?session_hash=x", "queue/status", "call/predict/x", "info", "stream/x/1/2/playlist.m3u8"):
        assert httpx.get(f"{dashboard.url}/gradio_api/{path}").status_code == 404, path


def test_a_heartbeat_that_comes_and_goes_changes_nothing(dashboard: Server, guarded: Server) -> None:
    before = everything_in(dashboard.home)
    for name in ("x", "%ED%A0%80", "%E2%80%AE", "9" * 200):
        with httpx.stream("GET", f"{dashboard.url}/gradio_api/heartbeat/{name}", timeout=20) as page:
            assert page.status_code == 200
            assert next(page.iter_bytes()).startswith(b"data: ALIVE")
        assert httpx.get(f"{guarded.url}/gradio_api/heartbeat/{name}").status_code == 401
    assert httpx.get(f"{dashboard.url}/healthz").text == "ok\n"
    assert difference(before, everything_in(dashboard.home)) == []


def test_a_thousand_new_sessions_cost_nothing(dashboard: Server) -> None:
    """Gradio's own route kept 45 KB for each name that a request gave itself, up to 680 MB."""
    [number, name] = next(found for found in functions(dashboard) if found[1] == "worker_status")
    call = {"component_id": number, "fn_name": name, "data": {}}
    with httpx.Client(base_url=dashboard.url) as client:
        for session in range(200):  # what the first calls need is there then
            client.post(CALL, json={**call, "session_hash": f"first-{session}"})
        before = dashboard.memory()
        for session in range(1000):
            assert client.post(CALL, json={**call, "session_hash": f"s{session}"}).status_code == 200
    assert dashboard.memory() - before < 8 * 1024**2
