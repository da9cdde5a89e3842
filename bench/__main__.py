"""Run the measurements and print them as one table; exit 1 when a bound is missed."""

from __future__ import annotations

import platform
import sys

from bench import (
    app_start,
    browser,
    latency,
    memory,
    new_run,
    poll,
    preview,
    questions,
    rewards,
    step_time,
    understand,
    watchers,
    workbench,
)
from bench.table import Row, print_table

PARTS = {
    "step_time": step_time.measure,
    "latency": latency.measure,
    "poll": poll.measure,
    "understand": understand.measure,
    "watchers": watchers.measure,
    "preview": preview.measure,
    "questions": questions.measure,
    "rewards": rewards.measure,
    "workbench": workbench.measure,
    "memory": memory.measure,
    "new_run": new_run.measure,
    "browser": browser.measure,
    "app_start": app_start.measure,
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"no such part: {', '.join(unknown)}. There are {', '.join(PARTS)}.", file=sys.stderr)
        return 2
    rows: list[Row] = []
    for name in names or PARTS:
        print(f"… {name}", file=sys.stderr, flush=True)
        found = PARTS[name]()
        rows += found
        for row in found:  # at once: what comes later may be interrupted
            print(row.line(), file=sys.stderr, flush=True)
    print_table(rows, f"{platform.machine()}, Python {platform.python_version()}")
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
