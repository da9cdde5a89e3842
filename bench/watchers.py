"""Twenty pages watch one live run: how soon the dashboard answers each of their looks, what it costs, and whether
the training notices.

They are watched by twenty real pages, which draw on the same cores; and by played ones (bench.readers), as browsers
usually draw on other machines than the one that trains. What those ask is what a real page asked a moment before.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import psutil
from playwright.sync_api import Request, sync_playwright

from bench import readers
from bench.browser import FLAGS
from bench.step_time import Times, lengths, training
from bench.table import Row, median, ms, percentile
from groupwise.storage.record import states
from tests.support.browsers import whole
from tests.support.homes import dashboard, fresh_home, no_worker, queued, quickstart
from tests.support.made_runs import made_run, running

PAGES, SECONDS = 20, 30  # how many watch, and for how long
LOOK = 12.0  # seconds in which a real page is seen to ask for what it asks for again and again
EVERY = 0.5  # seconds a step
BEFORE = 200  # steps that the run has when the first page comes
ROUNDS = 8
MOST_ANSWERS = 20_000  # of a page that the browser keeps the times of
BEHIND = 20  # steps, ten seconds, that no page may be behind another
# Milliseconds from each question to the end of its answer.
ANSWERS = """performance.getEntriesByType("resource").filter(({ name }) => name.includes("component_server"))
  .map(({ requestStart, responseEnd }) => responseEnd - requestStart)"""


def measure() -> list[Row]:
    with fresh_home(), no_worker(), dashboard() as (app, address):
        run_id = running(made_run("watched", BEFORE, state=states.STOPPED))
        with growing(run_id):
            asked = questions(f"{address}/run?id={run_id}")
            played = _watch(psutil.Process(app.pid), address, run_id, asked)
            drawn = _draw(psutil.Process(app.pid), f"{address}/run?id={run_id}")
    name, drawing = f"{PAGES} pages on one live run", f"{PAGES} that draw, on the same cores"
    return [*_rows(name, *played, most=250), *_rows(drawing, *drawn, most=150), _trainer(name, asked)]


def _rows(name: str, lags: list[float], cores: float, *, most: float) -> list[Row]:
    """Of a tick's answers, of which 95 in 100 take `most` milliseconds."""
    tick = f"p50 {ms(percentile(lags, 0.5))}, p95 {ms(percentile(lags, 0.95))} of {len(lags)}"
    return [
        Row(f"{name}: a tick’s answer, p95", tick, "–", percentile(lags, 0.95) * 1000, most, "ms"),
        Row(f"{name}: the app", f"{cores:.2f} of a core", "–", cores, 0.5, "cores"),
    ]


@contextlib.contextmanager
def growing(run_id: str) -> Iterator[None]:
    """A process that trains nothing, but records a step of this run every half second as training does."""
    with ended(subprocess.Popen([sys.executable, "-m", "bench.grow", run_id, str(EVERY)])):
        yield


@contextlib.contextmanager
def ended(child: subprocess.Popen[Any]) -> Iterator[subprocess.Popen[Any]]:
    """A child process that is ended with what it is for."""
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def questions(address: str) -> list[dict[str, Any]]:
    """The last body that a real page sent to each of the functions that it asks again and again."""
    asked: dict[str, list[dict[str, Any]]] = defaultdict(list)

    def keep(request: Request) -> None:
        if "component_server" in request.url and request.post_data:
            body = json.loads(request.post_data)
            asked[body["fn_name"]].append(body)

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=whole(), args=FLAGS)
        page = chromium.new_page()
        page.on("request", keep)
        page.goto(address)
        page.wait_for_selector(".gw-overview[data-seq]", timeout=120_000)
        page.wait_for_timeout(LOOK * 1000)
        chromium.close()
    repeated = {name: bodies for name, bodies in asked.items() if len(bodies) > 2}
    assert {"run_status", "draw_board", "diagnose_run"} <= set(repeated), repeated.keys()  # head, charts, doctor
    return [bodies[-1] for bodies in repeated.values()]


def _watch(app: psutil.Process, address: str, run_id: str, asked: list[dict[str, Any]]) -> tuple[list[float], float]:
    """Seconds of every answer in the time, and how many cores the app used."""
    with reading(address, [run_id], asked, SECONDS) as child:
        time.sleep(readers.SETTLE)
        used, begun = _seconds(app), time.monotonic()
        answers, _ = child.communicate()
        return json.loads(answers), (_seconds(app) - used) / (time.monotonic() - begun)


def _draw(app: psutil.Process, address: str) -> tuple[list[float], float]:
    """The same of real pages, in one chromium, which draw what they get."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=whole(), args=FLAGS)
        pages = [chromium.new_page() for _ in range(PAGES)]
        for page in pages:
            page.add_init_script(f"performance.setResourceTimingBufferSize({MOST_ANSWERS})")
            page.goto(address, wait_until="commit")
        for page in pages:
            page.wait_for_selector(".gw-overview[data-seq]", timeout=300_000)
        for page in pages:
            page.evaluate("performance.clearResourceTimings()")
        used, begun = _seconds(app), time.monotonic()
        time.sleep(SECONDS)
        cores = (_seconds(app) - used) / (time.monotonic() - begun)
        lags = [lag / 1000 for page in pages for lag in page.evaluate(ANSWERS)]
        seen = [int(page.get_attribute(".gw-overview", "data-seq") or 0) for page in pages]
        chromium.close()
    assert max(seen) - min(seen) < BEHIND, f"a page is left behind: {sorted(seen)}"
    return lags, cores


def _seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


@contextlib.contextmanager
def reading(
    address: str, run_ids: list[str], asked: list[dict[str, Any]], seconds: float
) -> Iterator[subprocess.Popen[Any]]:
    """The pages, in a process of their own. Of several runs, all pages watch now one, now the other."""
    watched = ",".join(run_ids)
    words = [sys.executable, "-m", "bench.readers", address, watched, str(PAGES), json.dumps(asked), str(seconds)]
    with ended(subprocess.Popen(words, stdout=subprocess.PIPE, text=True)) as child:
        yield child


def _trainer(name: str, asked: list[dict[str, Any]]) -> Row:
    """The steps of a quickstart while the pages watch it, against those while they watch another run: they go to and
    fro. It trains on a core of its own, so that what the dashboard takes from a processor is in neither."""
    rounds = []
    for _ in range(ROUNDS):
        with fresh_home(), no_worker(), off_a_core() as core, dashboard() as (_, address):
            trained = running(queued(quickstart()).id)
            other = running(made_run("other", BEFORE, state=states.STOPPED))
            with growing(other), reading(address, [trained, other], asked, 3600) as pages:
                with training(("groupwise", trained), core=core) as times:
                    rounds.append(times())
                assert pages.poll() is None, "the pages did not watch to the end"
    watched, not_ = _steps(rounds)
    sides = [f"median {ms(median([length for length, _ in side]))} of {len(side)}" for side in (watched, not_)]
    effect = median([share for _, share in watched]) / median([share for _, share in not_])
    return Row(
        f"{name}: a training step, median ratio", sides[0], f"pages on another run: {sides[1]}", effect, 1.02, "×"
    )


@contextlib.contextmanager
def off_a_core() -> Iterator[int]:
    """Keeps this process and what it starts off one core, which is given."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[:-1] or cores)
    try:
        yield cores[-1]
    finally:
        os.sched_setaffinity(0, cores)


Step = tuple[float, float]  # its seconds, and what it took of what the same step usually takes


def _steps(rounds: Sequence[Times]) -> tuple[list[Step], list[Step]]:
    """The steps that were watched throughout, and those that were not at all. With the same seed the n-th step of each
    round is the same work, and is compared with the median of the rounds."""
    usual = [median(list(same)) for same in zip(*map(lengths, rounds), strict=True)]
    watched: list[Step] = []
    not_: list[Step] = []
    for times in rounds:
        for length, share, usually in zip(lengths(times), _watched(times), usual, strict=True):
            if share in (0, 1):
                (watched if share else not_).append((length, length / usually))
    return watched, not_


def _watched(times: Times) -> list[float]:
    """The share of each step in which the pages watched this run, which is the first of theirs."""
    return [
        sum(readers.whose_turn(begun + (ended - begun) * n / 20, 2) == 0 for n in range(21)) / 21
        for begun, ended in times
    ]
