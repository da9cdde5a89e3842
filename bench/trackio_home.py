"""The big home's metrics and the largest run's completions in trackio, and how long it takes for what its pages ask:
`python -m bench.trackio_home '[LARGEST, [COMPARED, …]]'`, with GROUPWISE_HOME the home and TRACKIO_DIR a folder."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from trackio import server
from trackio.sqlite_storage import SQLiteStorage

from bench.table import median
from groupwise.storage.home import db, paths
from groupwise.storage.registry import registry
from tests.support.bulk import RARE

PROJECT, POINTS, ROUNDS = "bench", 3000, 5  # the points that its dashboard asks for


def main(largest: str, compared: list[str]) -> None:
    # Files that only the Hub reads; its own dashboard searches the table. They would take longer than all the rest.
    SQLiteStorage.write_trace_sessions = staticmethod(lambda *_: 0)
    for run in registry.list_runs():
        fill(run.id, with_completions=run.id == largest)
    several = [{"run": run, "run_id": run} for run in compared]
    asked: dict[str, Callable[[], Any]] = {
        "a run’s charts, first": lambda: SQLiteStorage.get_logs(PROJECT, largest, max_points=POINTS),
        # it has no cursor: the whole again at each poll
        "a run’s charts, a poll": lambda: SQLiteStorage.get_logs(PROJECT, largest, max_points=POINTS),
        "full text, a rare word": lambda: SQLiteStorage.get_traces(PROJECT, largest, search=RARE, limit=50),
        "full text, a word in all": lambda: SQLiteStorage.get_traces(PROJECT, largest, search="the", limit=50),
        "Compare of": lambda: SQLiteStorage.get_logs_batch(PROJECT, several, max_points=POINTS),
    }
    times = {what: median([seconds(ask) for _ in range(ROUNDS)]) for what, ask in asked.items()}
    times["Runs page"] = seconds(runs_page)
    print(json.dumps(times))


def runs_page() -> list[Any]:
    """What its Runs page asks: a summary of the project, and one of each run."""
    summary = server.get_project_summary(PROJECT)
    return [summary, *(server.get_run_summary(PROJECT, run["name"], run["id"]) for run in summary["runs"])]


def seconds(ask: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    json.dumps(ask(), default=str)
    return time.perf_counter() - begun


def fill(run_id: str, *, with_completions: bool) -> None:
    record = db.open_reader(paths.run_folder(run_id).db)
    rows = record.execute("SELECT step, name, value FROM metric JOIN metric_key ON id = key ORDER BY step")
    logged = [(step, {name: value for _, name, value in of}) for step, of in groupby(rows, key=lambda row: row[0])]
    if with_completions:
        logged += traces(record)
    for first in range(0, len(logged), 10_000):
        part = logged[first : first + 10_000]
        SQLiteStorage.bulk_log(
            PROJECT, run_id, [values for _, values in part], steps=[step for step, _ in part],
            config={"run": run_id} if first == 0 else None, run_id=run_id,
        )  # fmt: skip
    record.close()


def traces(record: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each group's completions as trackio logs them: a list of conversations at the group's step."""
    rows = record.execute(
        "SELECT grp, step, prompt.prompt, text, reward FROM completion JOIN grp ON grp.id = grp "
        "JOIN prompt ON prompt.id = grp.prompt ORDER BY grp, idx"
    )
    for (_, step), of in groupby(rows, key=lambda row: row[:2]):
        yield step, {
            "completions": [
                {"_type": "trackio.trace", "metadata": {"reward": reward},
                 "messages": [*json.loads(prompt), {"role": "assistant", "content": text}]}
                for _, _, prompt, text, reward in of
            ]
        }  # fmt: skip


if __name__ == "__main__":
    main(*json.loads(sys.argv[1]))
