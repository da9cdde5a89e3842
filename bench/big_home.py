"""A home of 1,000 runs with 10 M metric points and 1 M completions: `python -m bench.big_home FOLDER`.

The same home each time (seeds, ids and times are fixed), made with bulk SQL in minutes and kept in its folder for
the next measurement.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from groupwise.storage.home import files, migrations, paths
from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.registry import registry
from tests.support.bulk import RARE, SIZE, Made, empty_record, write_run

RECIPE = 1  # raised when what is made changes; a home of another recipe, or of other tables, is made anew
RUNS = 1000
LARGE, MIDDLE = 1, 5  # how many of them have 100,000 and 10,000 steps
RATES, BETAS, SEEDS = (1e-6, 5e-6, 1e-5, 5e-5, 1e-4), (0.0, 0.02, 0.04, 0.1), 50


def recipe() -> list[Made]:
    """Every run of the home: the newest is the largest, then the middle ones, then sweeps of 20 runs a seed."""
    small = RUNS - LARGE - MIDDLE
    runs = [_small(number) for number in range(small)]
    runs += [Made(small + n, f"middle-{n}", 10_000, 40, seed=n) for n in range(MIDDLE)]
    runs += [Made(small + MIDDLE, "largest", 100_000, 20, every=32, prompts=2000, words=40)]
    return runs


def _small(number: int) -> Made:
    place = number % (len(RATES) * len(BETAS))
    rate, beta, seed = RATES[place // len(BETAS)], BETAS[place % len(BETAS)], number // (len(RATES) * len(BETAS))
    name = f"sweep-{seed}-lr{rate:g}-beta{beta:g}".replace(".", "")
    return Made(number, name, 200, 31, learning_rate=rate, beta=beta, seed=seed)


def make(place: Path) -> None:
    """Fill a folder, which must not exist or hold an older recipe's home. Raises FileExistsError for any other."""
    if place.exists() and any(place.iterdir()) and not (place / "recipe.json").exists():
        raise FileExistsError(f"{place} holds something that is no home of this recipe")
    shutil.rmtree(place, ignore_errors=True)
    with paths.use_as_home(place):
        paths.prepare()
        files.write_json(place / "recipe.json", None)  # ours, not whole yet
        registry.open_registry()
        empty = place / "empty.db"
        empty_record(empty)
        runs = sorted(recipe(), key=lambda run: -run.steps)  # the longest first, so that the processes end together
        with ProcessPoolExecutor(len(os.sched_getaffinity(0)), get_context("spawn")) as pool:
            list(pool.map(write_run, runs, [empty] * len(runs), chunksize=1))
        empty.unlink()
        register(runs)
        files.write_json(place / "recipe.json", mark())


def register(runs: list[Made]) -> None:
    """The runs' rows in the registry, in one transaction."""
    with registry.write_registry() as index:
        for run in runs:
            row = json.loads(paths.run_folder(run.id).state.read_text())
            registry.insert_row(index, row)


@contextlib.contextmanager
def big_home() -> Iterator[Path]:
    """The home that $GROUPWISE_BIG_HOME names, made first where it is not there; without it, one in a temporary
    folder. This process's data home meanwhile."""
    kept = os.environ.get("GROUPWISE_BIG_HOME")
    with contextlib.ExitStack() as stack:
        place = Path(kept or stack.enter_context(tempfile.TemporaryDirectory(prefix="groupwise-big-")))
        if not is_made(place):
            make(place)
        stack.enter_context(paths.use_as_home(place))
        yield place


def is_made(place: Path) -> bool:
    return files.read_json(place / "recipe.json") == mark()


def mark() -> list[Any]:
    """What a folder was made by: the recipe, and the changes that its records' tables have had."""
    return [RECIPE, *(change.name for change in migrations.record.pending(Database(memory=True)))]


def main(place: Path) -> None:
    begun = time.monotonic()
    if is_made(place):
        print(f"{place} has it already.")
        return
    make(place)
    completions = sum(run.steps // run.every * run.groups * SIZE for run in recipe())
    points = sum(run.steps * run.metrics for run in recipe())
    size = sum(path.stat().st_size for path in place.rglob("*.db")) / 1e9
    print(
        f"{RUNS} runs, {points / 1e6:.1f} M metric points, {completions / 1e6:.2f} M completions, {size:.1f} GB "
        f"in {time.monotonic() - begun:.0f} s. The rare word is {RARE}."
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
