"""Previews of a 1 GB JSONL: its first row, and one near its end, in a fresh process with nothing read before."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from bench.table import Row, ms
from groupwise.storage.home import paths
from tests.support.homes import fresh_home

SIZE = 2**30
NAME = "large.jsonl"

# The worker's warm process as it is when a question comes; then the question.
ASK = """
import json, sys, time
from groupwise.worker.questions import server
server.warm_up()
def memory(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))
data = {"source": "file:" + sys.argv[1], "prompt_template": "{question}", "answer_column": "answer"}
row, before, begun = int(sys.argv[2]), memory("VmRSS"), time.perf_counter()
found = server.answer_question("preview", {"data": data, "model": {}, "row": row})
took = time.perf_counter() - begun
assert found["row"]["cells"]["question"].startswith("Row %d " % row) and found["tokens"], found
print(json.dumps({"took": took, "before": before, "peak": memory("VmHWM")}))
"""


def measure() -> list[Row]:
    with fresh_home():
        rows = write(paths.data_folder() / NAME)
        first, last = ask(0), ask(rows - 5)
    peak = max(first["peak"], last["peak"]) / 2**20
    grown = max(found["peak"] - found["before"] for found in (first, last)) / 2**20
    size = f"1 GB JSONL, {rows / 1e6:.1f} M rows"
    return [
        Row(f"preview of {size}: first row", ms(first["took"]), "–", first["took"], 2, "s"),
        Row("the same: a row near the end", ms(last["took"]), "–", last["took"], 2, "s"),
        Row("the same: memory", f"{grown:.0f} MB more ({peak:.0f} MB in all)", "–", grown, 200, "MB"),
    ]


def ask(row: int) -> dict[str, float]:
    """Seconds and bytes of one preview, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", ASK, NAME, str(row)],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1], env=dict(os.environ),
    )  # fmt: skip
    return dict(json.loads(done.stdout.splitlines()[-1]))


def write(path: Path) -> int:
    """A file of SIZE bytes, each row with its number; how many rows it has."""
    rows = 0
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < SIZE:
            batch = [
                json.dumps({"question": f"Row {rows + n} " + "and so on " * 30, "answer": n}) for n in range(20_000)
            ]
            file.write("\n".join(batch) + "\n")
            rows += len(batch)
    return rows
