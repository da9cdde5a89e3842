"""Server time of every part that helps to understand a run, on a home of 1,000 runs, 10 M metric points and 1 M
completions (see bench.big_home), against trackio with the same data where it can do the same."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gradio.routes import ORJSONResponse

from bench.big_home import big_home, recipe
from bench.poll import group, metrics
from bench.table import Row, ms, percentile
from groupwise.app.pages.compare import compare
from groupwise.app.pages.compare import settings as compare_settings
from groupwise.app.pages.run import completions, doctor, groups, overview, statistics
from groupwise.app.pages.run.header import run_status
from groupwise.app.pages.run_list import runs_table
from groupwise.app.server.gradio_import import import_gradio
from groupwise.storage.home import paths
from groupwise.storage.library import repair
from groupwise.storage.record import states
from groupwise.storage.record.record import RunWriter
from groupwise.storage.registry import registry
from tests.support.bulk import RARE, Made, empty_record, write_run
from tests.support.homes import fresh_home

ROUNDS = 40  # of which the first finds the files as cold as they were; it is told apart
POLLS = 200  # of a copy made just before: its first few are as slow as the copy is cold, and would be the p95 of 40
COMPARED = 10  # runs: the largest, the middle ones and some of a sweep
MILLION = 1_000_000
Answers = list[dict[str, Any]]


def measure() -> list[Row]:
    import_gradio()  # as the app does, which then never looks for garbage among what is imported
    with big_home() as place:
        runs = recipe()
        largest = runs[-1].id
        compared = [run.id for run in runs[-6:] + runs[: COMPARED - 6]]
        rows = _of_the_home(largest, compared)
        rows += _live(place / "runs" / largest)
        theirs = _trackio(largest, compared)
    rows += [_million()]
    return [_beside(row, theirs) for row in rows]


def _of_the_home(largest: str, compared: list[str]) -> list[Row]:
    run = {"run": largest}
    rng = random.Random(0)
    steps = [rng.randrange(1, 100_000) for _ in range(ROUNDS)]
    return [
        _row("Runs page, 1,000 runs", 300, lambda _: [runs_table.draw_runs({})]),
        _row("a run’s charts, first", 300, lambda _: [run_status(run), overview.draw_board(run)]),
        _row("a zoom into its charts", 300, lambda n: [_window(run, steps[n])]),
        _row("a step and a group of it", 50, lambda n: _group(run, steps[n])),
        _row("Completions, opened", 300, lambda _: [_found(run, "")]),  # one is there before one searches
        _row("full text, a rare word", 200, lambda _: [_found(run, f"q={RARE}")]),
        _row("full text, a word in all", 200, lambda _: [_found(run, "q=the")]),
        _row("full text, two words and a range of steps", 200, lambda _: [_found(run, "q=carry+sum&steps=5000..9000")]),
        _row("filter by reward", 200, lambda _: [_found(run, "reward=2.5..&sort=-reward")]),
        _row("filter by reward, a common one, by length", 200, lambda _: [_found(run, "reward=0..1&sort=length")]),
        _row("statistics, first panel", 300, lambda _: [statistics.statistics_summary(run), _panel(run, "ties")]),
        _row("statistics, all panels", 2000, lambda _: [_panel(run, name) for name in statistics.PANELS], 3),
        _row("the doctor", 300, lambda _: [_doctor(run)]),
        _row(f"Compare of {COMPARED} runs", 700, lambda _: _compared(compared)),
    ]


def _live(folder: Path) -> list[Row]:
    """A poll after one more step, on a copy of the largest run: the big home stays as it is."""
    with fresh_home():
        shutil.copytree(folder, paths.run_folder(folder.name).path)
        repair.adopt_folders()
        with registry.write_registry() as index:  # of one that has ended, what it came to would be worked out
            index.execute("UPDATE run SET state = ?", [states.RUNNING])
        writer = RunWriter(paths.run_folder(folder.name).db, 1, {"format": 1.0, "correctness": 2.0})
        run: dict[str, Any] = {"run": folder.name}
        seq = overview.draw_board(run)["seq"]

        def poll(number: int) -> Answers:
            nonlocal seq
            board = overview.draw_board({**run, "after": seq, "drawn": True})
            assert not board["reset"] and board["seq"] == seq + 1
            seq = board["seq"]
            return [run_status(run), board]

        def step(number: int) -> None:
            writer.commit(100_001 + number, metrics=metrics(100_001 + number), groups=[group(100_001 + number)])

        row = _row("a run’s charts, a poll after one more step", 10, poll, POLLS, before=step)
        writer.close()
    return [row]


def _million() -> Row:
    with fresh_home() as place:
        run = Made(0, "million", MILLION, 3, groups=1, every=1000)
        empty_record(place / "empty.db")
        write_run(run, place / "empty.db")
        repair.adopt_folders()
        payload = {"run": run.id}
        return _row(
            "charts of a million steps, first", 300, lambda _: [run_status(payload), overview.draw_board(payload)]
        )


def _row(
    what: str, bound: float, ask: Callable[[int], Answers], rounds: int = ROUNDS, *,
    before: Callable[[int], None] = lambda _: None,
) -> Row:  # fmt: skip
    """The time of asking and of writing the answers as JSON, as they leave. What the disk has cached stays."""
    times = []
    for number in range(rounds):
        before(number)
        begun = time.perf_counter()
        answers = ask(number)
        ORJSONResponse(answers)
        times.append(time.perf_counter() - begun)
        refused = [answer for answer in answers if "sentence" in answer and not set(answer) - {"sentence", "fault"}]
        assert not refused, f"{what}: {refused}"
    p95 = percentile(times, 0.95)
    return Row(f"{what}, p95", f"p50 {ms(percentile(times, 0.5))}, first {ms(times[0])}", "–", p95 * 1000, bound, "ms")


def _window(run: dict[str, Any], step: int) -> dict[str, Any]:
    names = ["reward", "kl", "loss", "entropy", "grad_norm", "groups/tied"]
    return overview.metrics_window({**run, "names": names, "first": step, "last": step + 8000})


def _group(run: dict[str, Any], step: int) -> Answers:
    listed = groups.groups_at_step({**run, "step": step})
    return [listed, groups.show_group({**run, "group": listed["groups"][0]["id"]})]


def _found(run: dict[str, Any], query: str) -> dict[str, Any]:
    answer = completions.find_completions({**run, "query": query})
    assert answer.get("rows"), f"{query}: {answer.get('problem') or answer.get('none')}"
    return answer


def _panel(run: dict[str, Any], name: str) -> dict[str, Any]:
    return statistics.draw_panel({**run, "panel": name})


def _doctor(run: dict[str, Any]) -> dict[str, Any]:
    doctor._reports.clear()  # else the second look would be the first one's
    return doctor.diagnose_run(run)


def _compared(ids: list[str]) -> Answers:
    """What the page asks when it is opened."""
    return [compare.compare_runs({"ids": ids}), compare_settings.compare_settings({"ids": ids})]


def _trackio(largest: str, compared: list[str]) -> dict[str, float]:
    """What of this is asked → its median in seconds."""
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run(
            [sys.executable, "-m", "bench.trackio_home", json.dumps([largest, compared])],
            env={**os.environ, "TRACKIO_DIR": place, "HF_HUB_OFFLINE": "1"}, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, check=True,
        )  # fmt: skip
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _beside(row: Row, theirs: dict[str, float]) -> Row:
    seconds = next((value for what, value in theirs.items() if row.what.startswith(what)), None)
    if seconds is None:
        return row
    return Row(row.what, row.ours, f"trackio {ms(seconds)}", row.value, row.bound, row.unit)
