"""Twenty pages watch one live run: how soon the dashboard answers each of their looks, what it costs, and whether
the training notices.

The pages are played (bench.readers): browsers draw on other machines than the one that trains. What they ask is what
a real page asked a moment before.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import psutil
from playwright.sync_api import Request, sync_playwright

from bench import readers
from bench.browser import CHROMIUM, FLAGS
from bench.homes import dashboard, fresh_home, queued, quickstart
from bench.made_runs import made_run
from bench.step_time import ratio, side_by_side
from bench.table import Row, median, ms, percentile
from storage import home, registry, states

PAGES, SECONDS = 20, 30  # how many watch, and for how long
LOOK = 12.0  # seconds in which a real page is seen to ask for what it asks for again and again
EVERY = 0.5  # seconds a step
BEFORE = 200  # steps that the run has when the first page comes
ROUNDS = 4


def measure() -> list[Row]:
    with fresh_home(), no_worker(), dashboard() as (app, address):
        run_id = running(made_run("watched", BEFORE, state=states.STOPPED))
        with growing(run_id):
            asked = questions(f"{address}/run?id={run_id}")
            lags, cores = _watch(psutil.Process(app.pid), address, run_id, asked)
    tick = f"p50 {ms(percentile(lags, 0.5))}, p95 {ms(percentile(lags, 0.95))} of {len(lags)}"
    p95 = percentile(lags, 0.95) * 1000
    name = f"{PAGES} pages on one live run"
    return [
        Row(f"{name}: a tick’s answer, p95", tick, "–", p95, 250, "ms"),
        Row(f"{name}: the app", f"{cores:.2f} of a core", "–", cores, 0.5, "cores"),
        _trainer(name, asked),
    ]


@contextlib.contextmanager
def no_worker() -> Iterator[None]:
    """Nothing takes up or settles the runs of this home: a process that does nothing holds the supervisor's lock."""
    hold = "import sys; from pathlib import Path; from storage import locks; assert locks.hold(Path(sys.argv[1])); "
    words = [sys.executable, "-c", hold + "print('held', flush=True); sys.stdin.read()", str(home.supervisor_lock())]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None and child.stdout.readline() == "held\n"
        try:
            yield
        finally:
            child.kill()


def running(run_id: str) -> str:
    for state in (states.QUEUED, states.STARTING, states.RUNNING):
        registry.set_state(run_id, state, "Trains for a measurement.")
    return run_id


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
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = chromium.new_page()
        page.on("request", keep)
        page.goto(address)
        page.wait_for_selector(".gw-overview[data-seq]", timeout=120_000)
        page.wait_for_timeout(LOOK * 1000)
        chromium.close()
    repeated = {name: bodies for name, bodies in asked.items() if len(bodies) > 2}
    assert {"status", "board", "told"} <= set(repeated), repeated.keys()  # head, charts, doctor
    return [bodies[-1] for bodies in repeated.values()]


def _watch(app: psutil.Process, address: str, run_id: str, asked: list[dict[str, Any]]) -> tuple[list[float], float]:
    """Seconds of every answer in the time, and how many cores the app used."""
    with reading(address, run_id, asked, SECONDS) as child:
        time.sleep(readers.SETTLE)
        used, begun = _seconds(app), time.monotonic()
        answers, _ = child.communicate()
        return json.loads(answers), (_seconds(app) - used) / (time.monotonic() - begun)


def _seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


@contextlib.contextmanager
def reading(address: str, run_id: str, asked: list[dict[str, Any]], seconds: float) -> Iterator[subprocess.Popen[Any]]:
    """The pages, in a process of their own."""
    words = [sys.executable, "-m", "bench.readers", address, run_id, str(PAGES), json.dumps(asked), str(seconds)]
    with ended(subprocess.Popen(words, stdout=subprocess.PIPE, text=True)) as child:
        yield child


def _trainer(name: str, asked: list[dict[str, Any]]) -> Row:
    """The steps of a quickstart that the pages watch, against those of one, at the same time, that nobody watches."""
    rounds = []
    for round_ in range(ROUNDS):
        with fresh_home(), no_worker(), dashboard() as (_, address):
            watched, other = running(queued(quickstart()).id), running(queued(quickstart()).id)
            with reading(address, watched, asked, 3600) as pages:
                rounds.append(side_by_side(("groupwise", watched), ("groupwise", other), round_))
                assert pages.poll() is None, "the pages did not watch to the end"
    sides = [median([step for times in side for step in times]) for side in zip(*rounds, strict=True)]
    against = f"one that nobody watches {ms(sides[1])}"
    return Row(f"{name}: a training step, median ratio", ms(sides[0]), against, ratio(rounds), 1.02, "×")
