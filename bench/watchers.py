"""Twenty browsers watch one live run: how soon the dashboard answers each of their looks, what it costs, and whether
the training notices."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import httpx
import psutil
from playwright.sync_api import Browser, Page, sync_playwright

from bench.browser import CHROMIUM, FLAGS
from bench.homes import dashboard, fresh_home, queued, quickstart
from bench.made_runs import made_run
from bench.step_time import _steps
from bench.table import Row, median, ms, percentile
from storage import home, registry, states

BROWSERS, SECONDS = 20, 30  # how many watch, and for how long
EVERY = 0.5  # seconds a step
BEFORE = 200  # steps that the run has when the first browser comes
ROUNDS = 3
# Every answer of the dashboard, from the moment it was asked for, as the browser's own network clock has it.
ANSWERS = """() => performance.getEntriesByType("resource").filter(one => one.name.includes("component_server"))
  .map(one => [one.startTime, one.responseEnd - one.startTime])"""


def measure() -> list[Row]:
    with fresh_home(), no_worker(), dashboard() as (app, address):
        run_id = made_run("watched", BEFORE, state=states.STOPPED)
        _running(run_id)
        with growing(run_id), sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            pages = [_open(chromium, f"{address}/run?id={run_id}") for _ in range(BROWSERS)]
            pages[0].wait_for_timeout(3000)  # the first drawings are behind all of them
            lags, cores = _watch(pages, psutil.Process(app.pid))
            asked = _polls(chromium, f"{address}/run?id={run_id}")
            chromium.close()
    ratio, mine, alone = _trainer(asked)
    tick = f"p50 {ms(percentile(lags, 0.5))}, p95 {ms(percentile(lags, 0.95))} of {len(lags)}"
    p95 = percentile(lags, 0.95) * 1000
    name = f"{BROWSERS} browsers on one live run"
    return [
        Row(f"{name}: a tick’s answer, p95", tick, "–", p95, 250, "ms"),
        Row(f"{name}: the app", f"{cores:.2f} of a core", "–", cores, 0.5, "cores"),
        Row(f"{name}: a training step", ms(mine), f"with none {ms(alone)}", ratio, 1.02, "×"),
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


def _running(run_id: str) -> None:
    for state in (states.QUEUED, states.STARTING, states.RUNNING):
        registry.set_state(run_id, state, "Trains for a measurement.")


@contextlib.contextmanager
def growing(run_id: str) -> Iterator[None]:
    """A process that trains nothing, but records a step of this run every half second as training does."""
    child = subprocess.Popen([sys.executable, "-m", "bench.grow", run_id, str(EVERY)])
    try:
        yield
    finally:
        child.kill()
        child.wait()


def _open(chromium: Browser, address: str) -> Page:
    page = chromium.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.add_init_script("performance.setResourceTimingBufferSize(100000)")
    page.goto(address)
    page.wait_for_selector(".gw-overview[data-seq]", timeout=120_000)
    return page


def _watch(pages: list[Page], app: psutil.Process) -> tuple[list[float], float]:
    """Seconds of every answer in the time, and how many cores the app used."""
    sinces = [page.evaluate("performance.now()") for page in pages]
    used, begun = _seconds(app), time.monotonic()
    pages[0].wait_for_timeout(SECONDS * 1000)
    cores = (_seconds(app) - used) / (time.monotonic() - begun)
    lags = [
        lag / 1000
        for page, since in zip(pages, sinces, strict=True)
        for start, lag in page.evaluate(ANSWERS)
        if start >= since
    ]
    return lags, cores


def _seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _polls(chromium: Browser, address: str) -> list[dict[str, Any]]:
    """What one such page asks the server again and again: the body of the last request to each function."""
    page = chromium.new_page()
    bodies: dict[str, dict[str, Any]] = {}
    page.on("request", lambda request: _keep(request, bodies))
    page.goto(address)
    page.wait_for_selector(".gw-overview[data-seq]", timeout=120_000)
    page.wait_for_timeout(2000)
    return [body for body in bodies.values() if body["fn_name"] in ("status", "board")]


def _keep(request: Any, bodies: dict[str, dict[str, Any]]) -> None:
    if "component_server" in request.url and request.post_data:
        body = json.loads(request.post_data)
        bodies[body["fn_name"]] = body


def _trainer(asked: list[dict[str, Any]]) -> tuple[float, float, float]:
    """(ratio, a step with watchers, a step without): the quickstart, which has a core of its own, so that what is told
    is whether reading holds the recording up and not that two processes share a core. The watchers ask what the
    pages ask, as often, but draw nothing: browsers are on other machines."""
    cores = sorted(os.sched_getaffinity(0))
    watched: list[list[float]] = []
    alone: list[list[float]] = []
    for round_ in range(ROUNDS):
        for with_watchers in (True, False) if round_ % 2 else (False, True):
            with fresh_home(), no_worker(), dashboard() as (app, address):
                folder = queued(quickstart())
                _running(folder.id)
                psutil.Process(app.pid).cpu_affinity(cores[1:] or cores)
                with _asking(address, folder.id, asked) if with_watchers else contextlib.nullcontext():
                    (watched if with_watchers else alone).append(_on_core(cores[0], folder.id))
    mine, theirs = ([min(step) for step in zip(*rounds, strict=True)] for rounds in (watched, alone))
    return median([a / b for a, b in zip(mine, theirs, strict=True)]), median(mine), median(theirs)


def _on_core(core: int, run_id: str) -> list[float]:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})  # for this thread, and so for the process that it starts
    try:
        return _steps("groupwise", run_id)
    finally:
        os.sched_setaffinity(0, before)


@contextlib.contextmanager
def _asking(address: str, run_id: str, asked: list[dict[str, Any]]) -> Iterator[None]:
    """As many readers as there were browsers, in a process of their own."""
    words = json.dumps([address, run_id, asked])
    child = subprocess.Popen([sys.executable, "-m", "bench.watchers", words])
    cores = sorted(os.sched_getaffinity(0))
    psutil.Process(child.pid).cpu_affinity(cores[1:] or cores)
    try:
        yield
    finally:
        child.kill()
        child.wait()


async def ask_on(address: str, run_id: str, asked: list[dict[str, Any]]) -> None:
    async with httpx.AsyncClient(timeout=30) as client:
        await asyncio.gather(*(_reader(client, address, run_id, body) for body in asked for _ in range(BROWSERS)))


async def _reader(client: httpx.AsyncClient, address: str, run_id: str, body: dict[str, Any]) -> None:
    """One part of one page: it asks, draws on from where it is, and waits as long as the server says."""
    data = {**body["data"], "run": run_id, "after": 0, "event": 0, "drawn": False}
    headers = {"Origin": address}
    await asyncio.sleep(random.random())
    while True:
        reply = await client.post(
            f"{address}/gradio_api/component_server", json={**body, "data": data}, headers=headers
        )
        answer = reply.raise_for_status().json()
        data |= {"after": answer.get("seq") or 0, "drawn": True}
        await asyncio.sleep(answer.get("poll", 2000) / 1000)


if __name__ == "__main__":
    asyncio.run(ask_on(*json.loads(sys.argv[1])))
