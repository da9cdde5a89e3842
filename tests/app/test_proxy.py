"""What proxies say of a request: nothing without `--proxy`, and with it only what the named ones say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from groupwise.app.server.proxy import ForwardedHeaders, Proxies
from tests.conftest import ending, playing_supervisor
from tests.support.servers import Server, begin

TOKEN = "correct-horse-battery-staple"
EVIL = "evil.example"
# All that servers, frameworks and Gradio are known to believe.
SAID = {
    "X-Forwarded-For": "10.9.9.9",
    "X-Forwarded-Host": EVIL,
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Port": "666",
    "X-Forwarded-Server": EVIL,
    "X-Forwarded-Prefix": "/evil",
    "X-Forwarded-Uri": "/evil",
    "X-Forwarded-Scheme": "https",
    "Forwarded": f"for=10.9.9.9;host={EVIL};proto=https",
    "X-Real-IP": "10.9.9.9",
    "X-Original-URL": f"//{EVIL}/",
    "X-Original-Host": EVIL,
    "X-Rewrite-URL": f"//{EVIL}/",
    "X-Gradio-Server": f"http://{EVIL}",
    "X-Direct-Url": f"http://{EVIL}",
    "X-Gradio-User": EVIL,
    "X-Url-Scheme": "https",
    "Front-End-Https": "on",
}


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = tmp_path_factory.mktemp("open")
    with ending() as start, playing_supervisor(place):
        yield begin(start, place)


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Behind a proxy at 127.0.0.9."""
    place = tmp_path_factory.mktemp("behind")
    with ending() as start, playing_supervisor(place):
        yield begin(start, place, "--proxy", "127.0.0.9", "--allow-host", "box.example", GROUPWISE_TOKEN=TOKEN)


def client_at(server: Server, address: str, **said: str) -> httpx.Client:
    headers = {f"x-forwarded-{name}": value for name, value in said.items()}
    return httpx.Client(base_url=server.url, headers=headers, transport=httpx.HTTPTransport(local_address=address))


@pytest.mark.parametrize("name", SAID)
def test_no_page_and_no_config_repeats_what_nobody_may_say(dashboard: Server, name: str) -> None:
    for path in ("/config", "/", "/run", "/new/", "/gradio_api/heartbeat/x?", "/assets"):
        with httpx.stream("GET", dashboard.url + path, headers={name: SAID[name]}, timeout=20) as reply:
            text = next(reply.iter_text(), "") if "heartbeat" in path else reply.read().decode()
        assert EVIL not in text + str(reply.headers) and "https://127" not in text, path


def test_the_session_s_cookie_is_for_https_only_where_a_named_proxy_says_so(behind: Server) -> None:
    for address, said, secure in (
        ("127.0.0.9", {"proto": "https"}, True),
        ("127.0.0.9", {"proto": "http"}, False),
        ("127.0.0.9", {"proto": "https, http"}, False),  # the last word is the proxy's
        ("127.0.0.9", {"proto": "gopher"}, False),
        ("127.0.0.9", {}, False),
        ("127.0.0.2", {"proto": "https"}, False),
    ):
        with client_at(behind, address, **said) as client:
            cookie = client.post("/login", data={"token": TOKEN}).headers["set-cookie"]
        assert ("; Secure" in cookie) is secure, (address, said)


def test_a_host_is_believed_of_a_named_proxy_and_has_to_be_an_allowed_one(behind: Server) -> None:
    for host, status in (("box.example", 200), ("evil.example", 400), ("box.example, evil.example", 400), ("a b", 400)):
        with client_at(behind, "127.0.0.9", host=host) as client:
            assert client.get("/login").status_code == status, host
    with client_at(behind, "127.0.0.9", host="box.example", proto="https") as client:
        client.post("/login", data={"token": TOKEN}, headers={"Origin": "https://box.example"})
        root = client.get("/config").text
    assert "127.0.0.1" not in root
    with client_at(behind, "127.0.0.2", host=EVIL) as client:
        assert client.get("/login").status_code == 200, "nobody else is listened to"


def test_each_person_behind_a_named_proxy_has_a_brake_of_their_own(behind: Server) -> None:
    def codes(address: str, said: str, count: int = 12) -> list[int]:
        with client_at(behind, address) as client:
            return [
                client.post("/login", data={"token": "x"}, headers={"X-Forwarded-For": said}).status_code
                for _ in range(count)
            ]

    assert codes("127.0.0.9", "10.0.0.1", 10) == [403] * 10
    with client_at(behind, "127.0.0.9") as client:
        # Made up on the left, written by the proxy on the right.
        slow = client.post("/login", data={"token": "x"}, headers={"X-Forwarded-For": "10.7.7.7, 10.0.0.1"})
        assert slow.elapsed.total_seconds() > 1.5
        fast = client.post("/login", data={"token": "x"}, headers={"X-Forwarded-For": "10.0.0.1, 10.7.7.7"})
        assert fast.elapsed.total_seconds() < 1


def seen(headers: list[tuple[str, str]], client: str = "10.0.0.5", proxies: tuple[str, ...] = ("10.0.0.0/24",)) -> Any:
    """The request as what is behind the middleware sees it."""
    found: dict[str, Any] = {}

    async def application(scope: Any, receive: Any, send: Any) -> None:
        found.update(scope)

    raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
    scope = {"type": "http", "scheme": "http", "client": (client, 1234), "headers": raw}
    run = ForwardedHeaders(application, Proxies.parse(list(proxies)))(scope, None, None)
    with pytest.raises(StopIteration):
        run.send(None)
    return found


@pytest.mark.parametrize(
    ("said", "client"),
    [
        (["1.2.3.4"], "1.2.3.4"),
        (["6.6.6.6, 1.2.3.4, 10.0.0.7"], "1.2.3.4"),  # two proxies of ours
        (["6.6.6.6", "1.2.3.4"], "1.2.3.4"),  # in two headers
        (["6.6.6.6, nonsense"], "10.0.0.5"),
        (["6.6.6.6, "], "10.0.0.5"),
        (["1.2.3.4:5678"], "1.2.3.4"),
        (["[2001:db8::1]:80"], "2001:db8::1"),
        (["2001:db8::1"], "2001:db8::1"),
        (["::ffff:10.0.0.7"], "10.0.0.5"),
        (["10.0.0.7, 10.0.0.8"], "10.0.0.5"),
        (["\xff" * 1000], "10.0.0.5"),
        ([], "10.0.0.5"),
    ],
)
def test_the_client_is_the_last_that_is_no_proxy_of_ours(said: list[str], client: str) -> None:
    assert seen([("X-Forwarded-For", each) for each in said])["client"][0] == client


def test_one_who_is_no_named_proxy_says_nothing() -> None:
    said = list(SAID.items())
    kept = {b"front-end-https"}  # which nothing here reads
    for client, proxies in (
        ("10.0.1.5", ("10.0.0.0/24",)),
        ("127.0.0.1", ()),
        ("10.0.0.5", ()),
        ("", ("10.0.0.0/24",)),
    ):
        scope = seen([("Host", "x"), *said], client, proxies)
        assert (scope["client"][0], scope["scheme"]) == (client, "http")
        assert {name for name, _ in scope["headers"]} - kept == {b"host"}


def test_an_address_that_a_socket_writes_as_ipv6_is_the_proxy_s() -> None:
    assert "::ffff:10.0.0.5" in Proxies.parse(["10.0.0.5"]) and "2001:db8::5" in Proxies.parse(["2001:db8::/64"])
    assert seen([("X-Forwarded-For", "1.2.3.4")], "::ffff:10.0.0.5")["client"][0] == "1.2.3.4"
