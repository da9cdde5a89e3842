"""One whole pass with secrets planted wherever Groupwise may meet them, and functions that give away what they can:
then everything that it left behind is searched."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, Response, expect

from groupwise.storage.library.rewards import library
from groupwise.storage.record import states
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import Shipped, TrustRewardCode
from tests.browser.conftest import FLAGS
from tests.browser.new_run_page import launch, write_yaml
from tests.browser.rewards_page import ready, source, try_it
from tests.conftest import ending
from tests.support import canaries
from tests.support.browsers import without_window
from tests.support.canaries import ENVIRONMENT, HUB_LOGIN
from tests.support.homes import end_supervisor, wait_for
from tests.support.runs import ask_db
from tests.support.servers import Server, begin

# Every way out that a function has, with everything it finds in its environment, encoded as people encode.
LEAKS = '''
import base64, html, json, os, subprocess, sys, urllib.parse

def secrets():
    first = sorted(os.environ, key=lambda name: not name.endswith(("_KEY", "_TOKEN")))
    found = [os.environ[name] for name in first if len(os.environ[name]) > 15]
    for path in (os.path.expandvars("$HF_HOME/token"), "/proc/1/environ", f"/proc/{os.getppid()}/environ"):
        try:
            found.append(open(path).read())
        except OSError:
            pass
    return found

def forms(value):
    raw = value.encode()
    yield from (value, repr(value), json.dumps(value), json.dumps(json.dumps([value])), html.escape(value))
    yield from (urllib.parse.quote(value, safe=""), urllib.parse.quote_plus(value), raw.hex(), raw.hex().upper())
    yield from (base64.b64encode(b"-" * n + raw + b"tail").decode() for n in range(3))
    yield base64.urlsafe_b64encode(b"?" + raw).decode()
    yield f"{{'Authorization': 'Bearer {value}'}} https://x:{value}@host/?key={value}&more"

def leaks(completions, trainer_state=None, log_extra=None, log_metric=None, **kwargs):
    """Gives away what it can."""
    for value in secrets():
        for at, form in enumerate(forms(value)):
            print(f"form {at}: {form}", flush=True)
            if log_extra:
                log_extra(f"{at}{form}"[:200], [form] * len(completions))
            if log_metric and at in (0, 5, 7, 9):
                log_metric(form[:150], 1.0)
        for piece in value:
            sys.stdout.write(piece)
            sys.stdout.flush()
        print()
        sys.stderr.write(value[:20])
        sys.stderr.flush()
        print(value[20:], file=sys.stderr, flush=True)
        os.write(1, value.encode())
        os.write(2, b"\\n" + value.encode()[:-4] + b"\\n")
    try:
        subprocess.run(["env"])
    except OSError:
        pass
    whole = " ".join(form for value in secrets() for form in forms(value))
    if trainer_state is not None and trainer_state.global_step >= 2:
        local_variable = whole
        raise RuntimeError(whole)
    return [whole if row == 0 else secrets()[0] if row == 1 else 1.0 for row in range(len(completions))]
'''
SPEC = """
name: {name}
data: {{limit: 64}}
rewards: [{{name: format}}, {{name: {function}}}]
training: {{per_device_train_batch_size: 4, num_generations: 4, max_completion_length: 8, max_steps: {steps},
  logging_steps: 1, save_strategy: steps, save_steps: 1, bf16: false, gradient_checkpointing: false}}
launch: {{reward_failures: 1}}
"""
TABS = ("overview", "groups", "completions", "statistics", "config", "log", "checkpoints")
# What never ends, and what libraries ship.
NOT_SEARCHED = ("event-stream", "javascript", "text/css", "font")
STORED = """async () => JSON.stringify([
  Object.entries(localStorage), Object.entries(sessionStorage), document.cookie, location.href,
  await indexedDB.databases(), await caches.keys()])"""


@dataclass
class Pass:
    """What was left: by whom it was said or kept."""

    place: Path
    profile: Path
    said: str = ""
    replies: list[tuple[str, bytes]] = field(default_factory=list)
    stored: list[str] = field(default_factory=list)
    cookies: list[dict[str, Any]] = field(default_factory=list)
    runs: dict[str, registry.Run] = field(default_factory=dict)


@pytest.fixture(scope="module")
def passed(chromium: Browser, known_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pass]:
    hub = tmp_path_factory.mktemp("hub")
    (hub / "token").write_text(HUB_LOGIN)
    (hub / "stored_tokens").write_text(f"[mine]\nhf_token = {HUB_LOGIN}\n")
    found = Pass(known_home, tmp_path_factory.mktemp("profile"))
    for name in ("leaks", "trusted_leaks"):
        library.save_reward(name, LEAKS.replace("def leaks(", f"def {name}("), network=True, taken=())
    with ending() as start:
        server = begin(start, known_home, HF_HOME=str(hub), **ENVIRONMENT)
        try:
            context = chromium.browser_type.launch_persistent_context(
                str(found.profile), executable_path=without_window(), args=FLAGS,
            )  # fmt: skip
            with contextlib.closing(context):
                context.set_default_timeout(60_000)
                _go_through(server, context, found)
            server.process.terminate()
            out, err = server.process.communicate(timeout=30)
            found.said = server.said + out + err
            yield found
        finally:
            end_supervisor()


def _go_through(server: Server, context: BrowserContext, found: Pass) -> None:
    """Log in; try; launch a run that leaks, saves and fails, and one that is trusted; look at everything; export."""
    page = context.new_page()
    heard: list[Response] = []
    page.on("response", lambda response: heard.append(response))
    page.goto(f"{server.url}/rewards?name=leaks")
    page.get_by_label("Token").fill(ENVIRONMENT["GROUPWISE_TOKEN"])
    page.get_by_role("button", name="Log in").click()
    ready(page)
    source(page, "Typed")
    page.get_by_label("Completion 1", exact=True).fill("<answer>2</answer>")
    try_it(page)
    _keep(page, heard, found)
    wait_for("what ships", lambda: registry.read_fact(Shipped))
    _set_up(server, page, SPEC.format(name="leaks", function="leaks", steps=4))
    page.get_by_role("button", name="Try one step").click()
    expect(page.locator(".tried")).to_contain_text("A step took", timeout=240_000)
    found.runs["leaks"] = _launched(page, "leaks")
    registry.publish_fact(TrustRewardCode(trusted=True))
    _set_up(server, page, SPEC.format(name="trusted", function="trusted_leaks", steps=4))
    found.runs["trusted"] = _launched(page, "trusted")
    _keep(page, heard, found)
    for run in found.runs.values():
        for tab in TABS:
            page.goto(f"{server.url}/run?id={run.id}&tab={tab}")
            page.wait_for_timeout(400)
            _keep(page, heard, found)
        for kind in ("csv", "jsonl", "parquet"):
            reply = context.request.get(f"{server.url}/export?id={run.id}&format={kind}")
            assert reply.ok
            found.replies.append((f"export {kind}", _unpacked(reply.body(), kind)))
    for path in ("/", "/rewards?name=leaks", f"/compare?ids={','.join(run.id for run in found.runs.values())}"):
        page.goto(server.url + path)
        page.wait_for_timeout(500)
        _keep(page, heard, found)
    found.cookies = [dict(cookie) for cookie in context.cookies()]


def _set_up(server: Server, page: Page, text: str) -> None:
    page.goto(f"{server.url}/new")
    expect(page.get_by_label("Group size", exact=True)).not_to_have_value("")
    write_yaml(page, text)
    expect(page.locator(".verdict.blocking")).to_have_count(0)


def _launched(page: Page, name: str) -> registry.Run:
    """The run that is launched, once it has failed, as it must."""
    launch(page)
    page.wait_for_url("**/run?id=*")
    expect(page.locator(".gw-header .pill")).to_contain_text("Failed", timeout=240_000)
    return next(run for run in registry.list_runs() if run.name == name)


def _keep(page: Page, heard: list[Response], found: Pass) -> None:
    """What the page has kept, and what it was told since the last look."""
    found.stored.append(str(page.evaluate(STORED)))
    for response in heard:
        if any(kind in response.headers.get("content-type", "") for kind in NOT_SEARCHED):
            continue
        head = repr(response.all_headers()).encode()
        with contextlib.suppress(Error):  # a redirect, or a page that has gone meanwhile, has no body
            head += response.body()
        found.replies.append((response.url, head))
    heard.clear()
    found.replies.append((f"text of {page.url}", page.inner_text("body").encode()))


def _unpacked(data: bytes, kind: str) -> bytes:
    if kind != "parquet":
        return data
    import io

    from pyarrow import parquet

    return data + repr(parquet.read_table(io.BytesIO(data)).to_pylist()).encode()


def test_the_functions_had_secrets_to_give_away(passed: Pass) -> None:
    """Else the other tests would find nothing whatever happens."""
    leaks, trusted = passed.runs["leaks"], passed.runs["trusted"]
    assert leaks.state == trusted.state == states.FAILED
    assert "_KEY hidden)" in leaks.sentence and " hidden)" in trusted.sentence
    log = leaks.folder.log.read_text() + trusted.folder.log.read_text()
    for name in ("OPENAI_API_KEY", "GROUPWISE_JUDGE_KEY", "HF_TOKEN", "http_proxy", "hub login"):
        assert f"({name} hidden)" in log, name
    columns = ask_db(leaks.folder, "SELECT columns FROM extra")
    assert columns and all("hidden" in row for (row,) in columns)
    assert ask_db(leaks.folder, "SELECT 1 FROM metric_key WHERE name LIKE '%OPENAI_API_KEY hidden%'")
    assert list(leaks.folder.checkpoints.glob("checkpoint-*/training_args.bin"))
    assert any(url.startswith("export") and b"hidden" in body for url, body in passed.replies)
    assert any("component_server" in url and b"hidden" in body for url, body in passed.replies)


def test_no_file_of_the_home_holds_one(passed: Pass) -> None:
    assert canaries.search(passed.place) == {}


def test_no_reply_and_no_export_holds_one(passed: Pass) -> None:
    assert len(passed.replies) > 50
    assert {url: held for url, body in passed.replies if (held := canaries.held(body))} == {}


def test_the_browser_keeps_none(passed: Pass) -> None:
    assert canaries.held("\n".join(passed.stored).encode()) == set()
    assert passed.cookies and not canaries.held(repr(passed.cookies).encode())
    assert canaries.search(passed.profile) == {}


def test_the_terminal_shows_none(passed: Pass) -> None:
    assert canaries.held(passed.said.encode()) == set()
