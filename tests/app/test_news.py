"""A page is told when something was written of the run it watches, and waits for that without a thread."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from groupwise.app.core.run_stamp import mark_of_run
from groupwise.app.pages.run.overview import draw_board
from groupwise.app.server import news
from groupwise.storage.home import files, paths
from groupwise.storage.record import states
from groupwise.storage.record.record import RunWriter
from tests.conftest import ending, playing_supervisor
from tests.support.homes import wait_for
from tests.support.made_runs import made_run, running
from tests.support.servers import Server, begin, changed

HELD = 10.0  # seconds, where nothing comes
LATER = files.TICK / 1e9 + 0.01  # seconds after which a write is not the newest thing any more


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with ending() as start, playing_supervisor(place := tmp_path_factory.mktemp("news")):
        yield begin(changed(start, **{"news.LONGEST": HELD, "news.MOST": 50}), place)


@pytest.fixture(autouse=True)
def their_home(dashboard: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUPWISE_HOME", str(dashboard.home))


@pytest.fixture
def run() -> str:
    """One that trains, to which nothing was written for a moment."""
    made = running(made_run("watched", 3, state=states.STOPPED))
    time.sleep(LATER)
    return made


def ask(server: Server, run: str, seen: str, **headers: str) -> tuple[int, float]:
    """The reply's status, and the seconds that it took."""
    begun = time.monotonic()
    reply = httpx.get(f"{server.url}/news", params={"run": run, "seen": seen}, headers=headers, timeout=60)
    return reply.status_code, time.monotonic() - begun


def record(run: str, step: int) -> None:
    writer = RunWriter(paths.run_folder(run).db, 1, {})
    writer.commit(step, metrics={"loss": 1.0})
    writer.close()


def test_a_step_is_told_at_once_and_nothing_after_a_while(dashboard: Server, run: str) -> None:
    seen = draw_board({"run": run})["seen"]
    assert seen == mark_of_run(run)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask, dashboard, run, seen)
        time.sleep(1)
        assert not asked.done()
        record(run, 4)
        status, took = asked.result()
    assert status == 204 and took < HELD - 1
    time.sleep(LATER)
    again = draw_board({"run": run})
    assert again["seq"] > 0 and again["seen"] not in ("", seen)
    status, took = ask(dashboard, run, again["seen"])
    assert status == 204 and took >= HELD


def test_what_was_written_before_the_question_is_told_too(dashboard: Server, run: str) -> None:
    seen = draw_board({"run": run})["seen"]
    record(run, 4)
    assert ask(dashboard, run, seen)[0] == 204 and ask(dashboard, run, seen)[1] < HELD - 1


def test_where_no_mark_could_be_made_nothing_is_held(dashboard: Server, run: str) -> None:
    # on a busy machine the look may come too late for what was just written
    assert any(record(run, step) or mark_of_run(run) == "" for step in range(4, 24)), "just written"
    for odd in ("", "no-run", "../..", "x" * 300, "\x00"):
        status, took = ask(dashboard, odd, "seen")
        assert status == 204 and took < HELD - 1, odd
    assert ask(dashboard, run, "")[1] < HELD - 1


def test_a_run_that_is_over_is_not_waited_for(run: str) -> None:
    over = made_run("over", 3)
    time.sleep(LATER)
    assert "seen" not in draw_board({"run": over}) and "seen" in draw_board({"run": run})


def test_a_browser_keeps_connections_for_everything_else(dashboard: Server, run: str) -> None:
    """Of the six that a browser opens, some at most are held; whoever leaves makes room."""
    seen = mark_of_run(run)
    with ThreadPoolExecutor(news.MOST_OF_ONE) as pool:
        held = [pool.submit(ask, dashboard, run, seen) for _ in range(news.MOST_OF_ONE)]
        time.sleep(2)  # to ask earlier would take the place of one of them
        assert ask(dashboard, run, "")[0] == 429
        assert [asked.done() for asked in held] == [False] * news.MOST_OF_ONE
        record(run, 4)
        assert {asked.result()[0] for asked in held} == {204}
    assert ask(dashboard, run, "")[0] == 204


def test_who_waits_keeps_nobody_from_an_answer(dashboard: Server, run: str) -> None:
    """Forty threads answer everything else: the questions that are held have none of them."""
    seen = mark_of_run(run)

    def wait_at(last: int) -> int:
        own = httpx.HTTPTransport(local_address=f"127.0.0.{last}")
        with httpx.Client(transport=own, timeout=60) as client:
            return client.get(f"{dashboard.url}/news", params={"run": run, "seen": seen}).status_code

    with ThreadPoolExecutor(60) as pool:
        waiting = [pool.submit(wait_at, 2 + n // 2) for n in range(60)]
        wait_for("those beyond the most", lambda: sum(asked.done() for asked in waiting) == 10, HELD - 1)
        begun = time.monotonic()
        page = httpx.get(f"{dashboard.url}/run?id={run}", timeout=60)
        assert page.status_code == 200 and time.monotonic() - begun < HELD
        record(run, 4)
        assert sorted(asked.result() for asked in waiting) == [204] * 50 + [429] * 10


def test_another_site_makes_nobody_wait(dashboard: Server, run: str) -> None:
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.test"}):
        status, took = ask(dashboard, run, mark_of_run(run), **headers)
        assert status == 403 and took < HELD - 1
    assert httpx.post(f"{dashboard.url}/news").status_code == 404
