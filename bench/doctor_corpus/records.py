"""A run of the corpus as it is kept: what was recorded of it, batch by batch, packed; and a run.db made of it again.

What another program on the machine can change is left out (times, memory), and what no rule reads: checkpoints,
the advantages, the columns of rows. Numbers keep six digits.
"""

from __future__ import annotations

import json
import lzma
import sqlite3
from collections import defaultdict
from pathlib import Path
from typing import Any

from bench.doctor_corpus import kinds
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Completion, Event, Group
from groupwise.storage.spec import spec
from groupwise.storage.spec.spec import RunSpec

FOLDER = Path(__file__).parent / "runs"
OF_THE_MACHINE = ("time/", "system/", "step_time")
Record = dict[str, Any]


def path_of(folder: Path, kind: str, number: int) -> Path:
    """Where a run is kept."""
    return folder / f"{kind}-{number}.json.xz"


def name_of(path: Path) -> tuple[str, int]:
    """The kind and the number of a run that is kept."""
    kind, _, number = path.name.removesuffix(".json.xz").rpartition("-")
    return kind, int(number)


def all_kept(folder: Path = FOLDER) -> list[Path]:
    """Every run that is kept, in the order in which they are trained."""
    return [path for run in kinds.all_runs() if (path := path_of(folder, *run)).exists()]


def keep(folder: Path, kind: str, number: int, db: Path) -> int:
    """Keep what a run.db has recorded; how many bytes that takes."""
    folder.mkdir(exist_ok=True)
    text = json.dumps(_read(db) | {"spec": kinds.drawn(kind, number)}, separators=(",", ":"))
    packed = lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)
    path_of(folder, kind, number).write_bytes(packed)
    return len(packed)


def read(path: Path) -> Record:
    """A record that was kept."""
    record: Record = json.loads(lzma.decompress(path.read_bytes()))
    return record


def spec_of(record: Record) -> RunSpec:
    """The settings that it was trained with."""
    return spec.from_dict(record["spec"])


def _read(db: Path) -> Record:
    run = sqlite3.connect(db)
    try:
        functions = run.execute("SELECT name, weight FROM reward_function ORDER BY id").fetchall()
        named = run.execute(
            "SELECT step, name, value FROM metric JOIN metric_key ON id = key ORDER BY name, step"
        ).fetchall()
        metrics: dict[str, dict[int, float | None]] = defaultdict(dict)
        for step, name, value in named:
            if not name.startswith(OF_THE_MACHINE):
                metrics[name][step] = _short(value)
        events = run.execute("SELECT step, kind, message, data FROM event WHERE kind IN ('begin', 'reward')").fetchall()
        return {"functions": dict(functions), "metrics": metrics, "events": events, "groups": _groups(run)}
    finally:
        run.close()


def _groups(run: sqlite3.Connection) -> list[list[Any]]:
    """[step, prompt, [[text, tokens, truncated, reward, [[score, status], …]], …]] of each."""
    groups = []
    for id, step, prompt in run.execute(
        "SELECT g.id, g.step, p.prompt FROM grp g JOIN prompt p ON p.id = g.prompt WHERE mode = 'train' ORDER BY g.id"
    ).fetchall():
        scores: dict[int, list[Any]] = defaultdict(list)
        for idx, value, status in run.execute(
            "SELECT idx, value, status FROM score WHERE grp = ? ORDER BY idx, function", [id]
        ):
            scores[idx].append([_short(value), status])
        completions = [
            [text, tokens, truncated, _short(reward), scores[idx]]
            for idx, text, tokens, truncated, reward in run.execute(
                "SELECT idx, text, tokens, truncated, reward FROM completion WHERE grp = ? ORDER BY idx", [id]
            )
        ]
        groups.append([step, json.loads(prompt), completions])
    return groups


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def rebuild(record: Record, db: Path) -> None:
    """Write the run.db of a record, as a training would have."""
    writer = RunWriter(db, 1, record["functions"])
    events: dict[int, list[Event]] = defaultdict(list)
    for step, kind, message, data in record["events"]:
        events[step].append(Event(kind, message, json.loads(data)))
    groups: dict[int, list[Group]] = defaultdict(list)
    for step, prompt, completions in record["groups"]:
        groups[step].append(Group("train", step, prompt, {}, [_completion(*one) for one in completions]))
    metrics: dict[int, dict[str, float | None]] = defaultdict(dict)
    for name, values in record["metrics"].items():
        for at, value in values.items():
            metrics[int(at)][name] = value
    with writer._db.atomic():  # it need not be safe from a crash
        for step in sorted({*events, *groups, *metrics}):
            writer.commit(step, metrics=metrics[step], groups=groups[step], events=events[step])
    writer.close()


def _completion(text: str, tokens: int, truncated: int, reward: float | None, scores: list[Any]) -> Completion:
    return Completion(text, tokens, bool(truncated), reward, 0.0, [(value, status) for value, status in scores])
