"""Trains the runs of the corpus, one after the other in this process, and keeps each as a small record."""

from __future__ import annotations

import contextlib
import gc
import io
import json
import random
import shutil
import time
from pathlib import Path
from typing import Any

from bench.doctor_corpus import kinds, records
from groupwise.storage.home import paths
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.library.rewards import library
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import TrustRewardCode
from groupwise.storage.spec import spec
from tests.support.homes import fresh_home, queued


class NeverStops:
    """Nobody asks these runs to stop."""

    stop = False


def make(folder: Path, most: int | None = None) -> int:
    """Train what `folder` does not hold yet, `most` of them at most; how many were."""
    waiting = [run for run in kinds.all_runs() if not records.path_of(folder, *run).exists()][:most]
    with fresh_home():
        _furnish()
        for at, (kind, number) in enumerate(waiting, 1):
            begun = time.monotonic()
            size = _make_one(folder, kind, number)
            took = time.monotonic() - begun
            print(f"{at}/{len(waiting)} {kind}-{number}: {took:.0f} s, {size / 1024:.1f} KiB", flush=True)
    return len(waiting)


def _furnish() -> None:
    """What the runs need of a home: own reward functions, trusted, and files of prompts."""
    registry.publish_fact(TrustRewardCode(trusted=True))
    for name, code in kinds.OWN.items():
        library.save_reward(name, code, taken=())
    for name, rows in files().items():
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (paths.data_folder() / name).write_text(lines, encoding="utf-8")


def files() -> dict[str, list[dict[str, Any]]]:
    """The files of prompts, by name."""
    rng = random.Random("prompts")
    pairs = [(int(rng.random() * 40) + 10, int(rng.random() * 40) + 10) for _ in range(1000)]
    return {
        "products.jsonl": [{"question": f"{a}*{b}?", "answer": str(a * b)} for a, b in pairs],
        "hundreds.jsonl": [
            {"question": f"{a * 19}+{b * 17}?", "answer": str(a * 19 + b * 17)} for a, b in pairs
        ],
        "unanswered.jsonl": [{"question": f"{a}+{b}?", "answer": None if at else str(a + b)}
                             for at, (a, b) in enumerate(pairs)],
        "half_answered.jsonl": [
            {"question": f"{a}+{b}?", "answer": None if at % 2 else str(a + b)} for at, (a, b) in enumerate(pairs)
        ],
    }  # fmt: skip


def _make_one(folder: Path, kind: str, number: int) -> int:
    """Train one run, keep its record; how many bytes that takes."""
    place = queued(spec.from_dict(kinds.drawn(kind, number)))
    with contextlib.redirect_stdout(io.StringIO()):  # what TRL says of each step
        _train(place)
    size = records.keep(folder, kind, number, place.db)
    shutil.rmtree(place.path)
    gc.collect()
    return size


def _train(place: RunFolder) -> None:
    from groupwise.worker.training import train

    told: dict[str, Any] = {}
    train.train(place, 1, True, NeverStops(), told)  # type: ignore[arg-type]
    assert told["outcome"] == "finished", told
