"""Groups to write into a run's record, and what then stands in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from groupwise.storage.home import db
from groupwise.storage.record.step_record import Completion, Group

WEIGHTS = {"format": 1.0, "correctness": 2.0}


def group(step: int, rewards: list[float | None], *, prompt: str = "1+1?", mode: str = "train") -> Group:
    completions = [
        Completion(f"answer {index}", 5, False, reward, 0.5, [(reward, "ok"), (None, "error")])
        for index, reward in enumerate(rewards)
    ]
    return Group(mode, step, [{"role": "user", "content": prompt}], {"answer": "2"}, completions)


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    reader = db.open_reader(path)
    try:
        return reader.execute(sql).fetchall()
    finally:
        reader.close()
