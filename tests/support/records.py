"""Groups to write into a run's record, and what then stands in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from groupwise.storage.home import db
from groupwise.storage.record.step_record import Completion, Group
from groupwise.worker.training import checkpoints

WEIGHTS = {"format": 1.0, "correctness": 2.0}


def group(step: int, rewards: list[float | None], *, prompt: str = "1+1?", mode: str = "train") -> Group:
    completions = [
        Completion(f"answer {index}", 5, False, reward, 0.5, [(reward, "ok"), (None, "error")])
        for index, reward in enumerate(rewards)
    ]
    return Group(mode, step, [{"role": "user", "content": prompt}], {"answer": "2"}, completions)


def seal_checkpoint(place: Path, *, adapter: bool = False) -> Path:
    """A folder such as a trainer saves, of a few hundred bytes, sealed."""
    place.mkdir(parents=True)
    weights = ("adapter_config.json", "adapter_model.safetensors") if adapter else ("config.json", "model.safetensors")
    for name in (*checkpoints.NEEDED, "rng_state.pth", *weights):
        (place / name).write_bytes(name.encode() * 20)
    checkpoints.seal(place)
    return place


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    reader = db.open_reader(path)
    try:
        return reader.execute(sql).fetchall()
    finally:
        reader.close()
