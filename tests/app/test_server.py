"""The doors of the dashboard: hosts, origins, sizes, files and headers, each tried on a real server."""

from __future__ import annotations

import re
import signal
import socket
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import httpx
import pytest

from groupwise.app.server import guard
from groupwise.app.ui import modules
from groupwise.storage.registry import trash
from tests.conftest import Start, ending, playing_supervisor
from tests.support.runs import ended_run
from tests.support.servers import Server, begin


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Open to this machine, with an environment that tries to open it wider."""
    place = tmp_path_factory.mktemp("open")
    with ending() as start, playing_supervisor(place):
        yield begin(start, place, GRADIO_ALLOWED_PATHS="/", GRADIO_SHARE="True", GRADIO_RUN_HISTORY="True")


# --- who may be asked, and by whom


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "", "a b", "[::1"]
)
def test_a_host_that_is_not_on_the_list_gets_400(dashboard: Server, host: str):
    assert httpx.get(dashboard.url, headers={"Host": host}).status_code == 400


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "LOCALHOST"])
def test_the_names_of_this_machine_are_answered_with_any_port(dashboard: Server, host: str):
    for name in (host, f"{host}:{dashboard.port}", f"{host}:80"):
        assert httpx.get(f"{dashboard.url}/healthz", headers={"Host": name}).text == "ok\n"


FOREIGN = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": "file://"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_another_site_s_page_can_change_nothing(dashboard: Server, headers: dict[str, str], method: str):
    for path in ("/gradio_api/queue/join", "/gradio_api/run/predict", "/gradio_api/upload", "/login"):
        reply = httpx.request(method, dashboard.url + path, headers=headers)
        assert reply.status_code == 403, path
        assert not [name for name in reply.headers if name.startswith("access-control-")]


def test_an_upload_from_another_site_leaves_nothing(dashboard: Server):
    before = sorted(dashboard.home.rglob("*"))
    files = {"files": ("evil.jsonl", b"{}")}
    reply = httpx.post(f"{dashboard.url}/gradio_api/upload", files=files, headers={"Origin": "https://evil.example"})
    assert reply.status_code == 403
    assert sorted(dashboard.home.rglob("*")) == before


def test_its_own_page_and_programs_without_an_origin_may_upload_into_the_private_folder(dashboard: Server):
    for headers in ({"Origin": dashboard.url, "Sec-Fetch-Site": "same-origin"}, {}):
        files = {"files": ("mine.jsonl", b"{}")}
        reply = httpx.post(f"{dashboard.url}/gradio_api/upload", files=files, headers=headers)
        assert reply.status_code == 200
        assert Path(reply.json()[0]).is_relative_to(dashboard.home / "uploads")
    assert (dashboard.home / "uploads").stat().st_mode & 0o077 == 0


def test_no_reply_invites_another_origin(dashboard: Server):
    asking = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    own = {"Origin": dashboard.url, "Access-Control-Request-Method": "POST"}
    for method, headers in (("GET", asking), ("OPTIONS", asking), ("OPTIONS", own), ("POST", own)):
        reply = httpx.request(method, f"{dashboard.url}/config", headers=headers)
        assert not [name for name in reply.headers if name.startswith("access-control-")]


def test_every_reply_has_the_security_headers(dashboard: Server):
    replies = [
        httpx.get(dashboard.url),
        httpx.get(f"{dashboard.url}/nowhere"),
        httpx.get(f"{dashboard.url}/healthz"),
        httpx.get(dashboard.url, headers={"Host": "evil.example"}),
        httpx.post(f"{dashboard.url}/x", headers={"Origin": "null"}),
        httpx.post(f"{dashboard.url}/x", content=b"x" * (guard.MAX_REQUEST + 1)),
    ]
    assert [reply.status_code for reply in replies] == [200, 404, 200, 400, 403, 413]
    for reply in replies:
        assert {name: reply.headers[name] for name in guard.HEADERS} == guard.HEADERS


# --- what may be read


@pytest.mark.parametrize("path", ["/etc/passwd", "/etc/hostname", "/proc/self/environ", "{home}/registry.db", "/root"])
def test_no_file_of_the_machine_is_served(dashboard: Server, path: str):
    for route in ("/gradio_api/file=", "/gradio_api/file/", "/static/../../../../..", "/assets/%2e%2e/%2e%2e"):
        reply = httpx.get(dashboard.url + route + path.format(home=dashboard.home))
        assert reply.status_code in (400, 403, 404, 422), route


def test_a_run_that_is_not_there_is_answered_with_404_and_the_page(dashboard: Server, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GROUPWISE_HOME", str(dashboard.home))
    there, deleted = (ended_run(f"name: {name}\nrewards: [{{name: format}}]\n") for name in ("there", "deleted"))
    trash.delete_run(deleted)
    asked = {f"?id={there}": 200, "?id=nope": 404, f"?id={deleted}": 404, "?id=..%2F": 404, "": 404}
    for query, status in asked.items():
        reply = httpx.get(f"{dashboard.url}/run{query}")
        assert (reply.status_code, "gradio-app" in reply.text) == (status, True), query


def test_the_charting_script_is_served_from_here(dashboard: Server):
    page = httpx.get(f"{dashboard.url}/run").text
    found = re.search(r"/?gradio_api/file=[^\"'\\\s]*plotly\.min\.js", page)
    assert found
    assert httpx.get(f"{dashboard.url}/{found[0].lstrip('/')}").status_code == 200


def test_a_page_names_the_modules_it_needs_and_no_other_file_is_served_as_one(dashboard: Server):
    page = httpx.get(f"{dashboard.url}/compare?ids=a").text
    named = set(
        re.findall(r'<link rel="modulepreload" fetchpriority="low" href="(/modules/[0-9a-f]{16}/[a-z_/]+\.js)">', page)
    )
    assert modules.address("pages/compare/compare.js") in named
    assert modules.address("ui/charts/plots.js") in named
    assert modules.address("pages/new/new_run.js") not in named
    for path in named:
        reply = httpx.get(dashboard.url + path)
        assert reply.status_code == 200 and reply.headers["content-type"].startswith("text/javascript")
        assert reply.headers["cache-control"] == "private, max-age=31536000, immutable"
    other = modules.address("ui/poll.js").replace(modules.digest(), "0" * 16)
    assert httpx.get(dashboard.url + other).status_code == 404
    for name in (
        "ui/live.py",
        "ui/tokens.css",
        "../storage/home/db.py",
        "%2e%2e/pyproject.toml",
        "/etc/passwd",
        "",
        "ui/",
    ):
        assert httpx.get(dashboard.url + modules.address(name)).status_code in (404, 307), name


def test_what_a_page_links_to_in_its_head_is_there(dashboard: Server):
    """Gradio's own /manifest.json was not, and every page said so in the console."""
    page = httpx.get(f"{dashboard.url}/new").text
    linked = re.findall(r'<link[^>]* href="(/[^"]*|\./[^"]*)"', page)
    assert linked and not [path for path in linked if "manifest" in path]
    assert not [path for path in set(linked) if httpx.get(f"{dashboard.url}/{path.lstrip('./')}").status_code != 200]


def test_no_page_names_another_site_as_a_source(dashboard: Server):
    for path in ("/", "/new", "/run"):
        page = httpx.get(dashboard.url + path).text
        assert not re.findall(r"<(?:script|link|img|iframe)[^>]+(?:src|href)=[\"']?https?://(?!127\.0\.0\.1)", page)


def test_gradio_s_own_ways_out_are_shut(dashboard: Server):
    config = httpx.get(f"{dashboard.url}/config").json()
    assert not config["run_history"] and not config["analytics_enabled"] and not config["show_error"]
    for path in ("/docs", "/redoc", "/openapi.json", "/monitoring", "/gradio_api/mcp/", "/gradio_api/vibe-code"):
        assert httpx.get(dashboard.url + path).status_code in (403, 404), path
    assert httpx.get(f"{dashboard.url}/gradio_api/proxy=http://169.254.169.254/").status_code >= 400


def test_the_app_never_loads_torch_and_stays_small(dashboard: Server):
    httpx.get(dashboard.url)
    assert "torch" not in Path(f"/proc/{dashboard.process.pid}/maps").read_text()
    status = Path(f"/proc/{dashboard.process.pid}/status").read_text()
    memory = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert memory and int(memory[1]) < 300 * 1024


# --- how large a request may be


def test_a_body_that_announces_too_much_is_refused_unread(dashboard: Server):
    for path, limit in (("/gradio_api/upload", guard.MAX_UPLOAD), ("/gradio_api/queue/join", guard.MAX_REQUEST)):
        connection = HTTPConnection("127.0.0.1", dashboard.port, timeout=20)
        connection.putrequest("POST", path)
        connection.putheader("Content-Length", str(limit + 1))
        connection.endheaders()
        assert connection.getresponse().status == 413
        connection.close()


@pytest.mark.parametrize(
    ("path", "limit", "kind"),
    [
        ("/gradio_api/component_server/", guard.MAX_REQUEST, "application/json"),
        ("/gradio_api/upload", guard.MAX_UPLOAD, "multipart/form-data; boundary=b"),
    ],
)
def test_a_body_that_announces_nothing_is_refused_when_it_grows_too_large(
    dashboard: Server, path: str, limit: int, kind: str
):
    connection = HTTPConnection("127.0.0.1", dashboard.port, timeout=60)
    connection.putrequest("POST", path)
    connection.putheader("Transfer-Encoding", "chunked")
    connection.putheader("Content-Type", kind)
    connection.endheaders()
    part = b'--b\r\nContent-Disposition: form-data; name="files"; filename="f%d"\r\n\r\n' + b"x" * (guard.MEGABYTE - 80)
    for number in range(limit // guard.MEGABYTE + 2):
        body = (part % number) + b"\r\n" if "multipart" in kind else b" " * guard.MEGABYTE
        try:
            connection.send(b"%x\r\n%s\r\n" % (len(body), body))
        except ConnectionError:
            break  # refused while we were still sending
    assert connection.getresponse().status == 413
    connection.close()
    files = [path for path in (dashboard.home / "uploads").rglob("*") if path.is_file()]
    assert not [path for path in files if path.stat().st_size > 1000]


# --- starting and stopping


def test_ctrl_c_ends_it_quickly_with_pages_open_and_says_that_runs_go_on(
    start: Start, registry_home: Path, no_worker: None
):
    server = begin(start, registry_home)
    with httpx.stream("GET", f"{server.url}/gradio_api/heartbeat/abc", timeout=20) as page:
        assert page.status_code == 200
        began = time.monotonic()
        server.process.send_signal(signal.SIGINT)
        out, err = server.process.communicate(timeout=30)
    assert time.monotonic() - began < 15  # the page would hold it for 20
    assert (server.process.returncode, err) == (0, "") and "Runs go on" in out


def test_a_port_that_was_asked_for_and_is_taken_is_an_error(start: Start, dashboard: Server):
    process = start("-m", "groupwise.app", "--no-open", "--port", str(dashboard.port))
    out, err = process.communicate(timeout=30)
    assert process.returncode == 1 and f"Port {dashboard.port} of 127.0.0.1 is taken" in err and "Traceback" not in err


def test_where_the_usual_port_is_taken_another_is_found_and_said(start: Start, registry_home: Path, no_worker: None):
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            other.bind(("127.0.0.1", 7860))
            other.listen()
        except OSError:
            assert socket.create_connection(("127.0.0.1", 7860))  # something else has it, which serves as well
        process = start("-m", "groupwise.app", "--no-open")
        assert process.stdout is not None
        first, second = process.stdout.readline(), process.stdout.readline()
        assert first.startswith("Port 7860 is taken; using ")
        url = second.split()[-1]
        assert url.rsplit(":", 1)[1] in first and httpx.get(f"{url}/healthz").text == "ok\n"
