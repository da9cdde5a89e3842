"""One run's folder and record, written in bulk: the tables as storage.record.record leaves them, in a fraction of its
time."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from groupwise.storage.home import files, paths
from groupwise.storage.home.redaction import to_json
from groupwise.storage.record import states
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.rollup import SIZES
from groupwise.storage.spec import spec
from tests.support.made_runs import WORDS, spec_of

FUNCTIONS = ("format", "correctness")  # the second weighs twice
SIZE = 8  # completions of a group
RARE, RARELY = "heliotrope", 20_000  # a word for searches, in one of so many completions
SECONDS = 0.5  # of a step
COMMIT = 500  # groups whose text is indexed in one commit, so that the index is made of parts as that of a live run is
Numbers = np.ndarray[Any, np.dtype[Any]]

# (first value, last value, noise): enough for charts that look like a run; TRL's names and this product's.
TRENDS: dict[str, tuple[float, float, float]] = {
    "reward": (0.6, 2.4, 0.15), "loss": (0.0, 0.02, 0.005), "kl": (0.0, 0.08, 0.005), "entropy": (0.7, 0.35, 0.02),
    "grad_norm": (0.6, 0.4, 0.1), "learning_rate": (1.0, 0.0, 0.0), "step_time": (SECONDS, SECONDS, 0.03),
    "num_tokens": (0.0, 1.0, 0.0), "reward_std": (1.1, 0.6, 0.05), "frac_reward_zero_std": (0.2, 0.4, 0.1),
    "rewards/format/mean": (0.3, 0.9, 0.06), "rewards/correctness/mean": (0.2, 0.75, 0.06),
    "completions/mean_length": (60.0, 80.0, 4.0), "completions/clipped_ratio": (0.1, 0.02, 0.02),
    "groups/tied": (0.2, 0.4, 0.1), "groups/spread": (1.0, 0.6, 0.05), "groups/solved": (0.2, 0.75, 0.06),
    "groups/any_solved": (0.7, 0.97, 0.05), "groups/best": (2.0, 3.0, 0.1), "time/elapsed": (0.0, 1.0, 0.0),
    "groups/all_low": (0.2, 0.02, 0.04), "groups/all_high": (0.0, 0.36, 0.05), "groups/tied_other": (0.0, 0.02, 0.01),
    "groups/bearing": (0.8, 0.6, 0.1), "groups/worst": (0.1, 0.9, 0.1), "groups/alike": (0.02, 0.1, 0.02),
    "clip_ratio/region_mean": (0.01, 0.01, 0.003), "clip_ratio/high_mean": (0.01, 0.01, 0.003),
    "clip_ratio/low_mean": (0.0, 0.0, 0.001), "completions/mean_terminated_length": (58.0, 79.0, 4.0),
    "time/tokens_per_second": (900.0, 1000.0, 40.0), "rewards/format/std": (0.45, 0.3, 0.03),
    "rewards/correctness/std": (0.4, 0.43, 0.03), "time/generation": (0.25, 0.25, 0.02),
    "time/rewards": (0.02, 0.02, 0.002), "time/update": (0.2, 0.2, 0.02), "system/memory_share": (0.4, 0.4, 0.01),
    "completions/min_length": (20.0, 30.0, 4.0), "completions/max_length": (120.0, 120.0, 9.0),
    "groups/repetition": (0.3, 0.32, 0.02),
}  # fmt: skip


@dataclass(frozen=True)
class Made:
    """A run to make: `groups` groups at each `every`-th step; `words` in a completion's thought, about six letters
    each."""

    number: int
    name: str
    steps: int
    metrics: int
    groups: int = 4
    every: int = 8
    prompts: int = 64
    words: int = 9
    learning_rate: float = 1e-5
    beta: float = 0.02
    seed: int = 0

    @property
    def id(self) -> str:
        return f"20260101-{self.number // 60 % 24:02d}{self.number % 60:02d}-{self.name}-{self.number:04x}"[:64]

    @property
    def created(self) -> float:
        """An hour after the run before it."""
        return 1_767_225_600.0 + self.number * 3600


def empty_record(path: Path) -> None:
    """A run.db with its tables and functions and no step, to be copied."""
    RunWriter(path, 1, dict(zip(FUNCTIONS, (1.0, 2.0), strict=True))).close()


def write_run(run: Made, empty: Path) -> None:
    """The run's folder in this home; not in the registry yet (see `register`)."""
    folder = paths.run_folder(run.id)
    folder.path.mkdir()
    settings = {"learning_rate": run.learning_rate, "beta": run.beta, "seed": run.seed}
    text = spec.to_yaml(spec.parse_spec(spec_of(run.name, FUNCTIONS, run.steps, settings)))
    files.write_whole(folder.spec, text)
    shutil.copyfile(empty, folder.db)
    rng = np.random.default_rng(run.number)
    with closing(sqlite3.connect(folder.db, isolation_level=None)) as record:
        for pragma in ("journal_mode=OFF", "synchronous=OFF", "locking_mode=EXCLUSIVE"):
            record.execute(f"PRAGMA {pragma}")
        record.execute("BEGIN")
        rewards = _metrics(record, run, rng)
        _steps(record, run)
        _groups(record, run, rng)
        record.execute("COMMIT")
        _index(record)
        record.execute("PRAGMA journal_mode=WAL")
    thin = rewards[:: max(1, len(rewards) // 40)][:40]
    kept = {
        "id": run.id, "name": run.name, "model": "starter", "data": "task:arithmetic", "created": run.created,
        "state": states.FINISHED, "sentence": f"Trained for all {run.steps} steps.",
        "state_at": run.created + run.steps * SECONDS, "attempt": 1, "step": run.steps, "total": run.steps,
        "reward": float(rewards[-10:].mean()), "spark": [round(float(value), 4) for value in thin],
    }  # fmt: skip
    files.write_json(folder.state, kept)


def _metrics(record: sqlite3.Connection, run: Made, rng: np.random.Generator) -> Numbers:
    """Every metric of every step and its closed buckets; the rewards come back."""
    share = np.arange(1, run.steps + 1) / run.steps
    learned = 1 - np.exp(-3 * share * (run.learning_rate / 1e-5) ** 0.3)
    values: dict[str, Numbers] = {}
    for name, (first, last, noise) in list(TRENDS.items())[: run.metrics]:
        values[name] = first + (last - first) * learned + noise * rng.standard_normal(run.steps)
    steps = np.arange(1, run.steps + 1)
    exact = {"learning_rate": run.learning_rate * (1 - share), "num_tokens": steps * 2560.0,
             "time/elapsed": steps * SECONDS, "kl": values["kl"].clip(0) * (run.beta > 0)}  # fmt: skip
    values |= {name: numbers for name, numbers in exact.items() if name in values}
    record.executemany("INSERT INTO metric_key (name) VALUES (?)", [(name,) for name in values])
    for key, name in enumerate(values, start=1):
        rows = zip(range(1, run.steps + 1), values[name].tolist(), strict=True)
        record.executemany(f"INSERT INTO metric VALUES ({key}, 1, ?, ?)", rows)
        record.executemany(f"INSERT INTO rollup VALUES (?, {key}, 1, ?, ?, ?, ?, ?)", _closed(values[name]))
    return values["reward"]


def _closed(values: Numbers) -> Iterator[tuple[Any, ...]]:
    """(size, bucket, n, total, low, high) of one metric's buckets; the last one of each size is open yet."""
    steps = np.arange(1, len(values) + 1)
    for size in SIZES:
        buckets, starts, counts = np.unique(steps // size, return_index=True, return_counts=True)
        parts = [function.reduceat(values, starts).tolist() for function in (np.add, np.minimum, np.maximum)]
        yield from list(zip([size] * len(buckets), buckets.tolist(), counts.tolist(), *parts, strict=True))[:-1]


def _steps(record: sqlite3.Connection, run: Made) -> None:
    begun = run.created
    record.execute(
        "INSERT INTO event (at, attempt, step, kind, message, data) VALUES (?, 1, 0, 'begin', ?, ?)",
        [begun, f"Training begins: {run.steps} steps.", json.dumps({"total": run.steps})],
    )
    rows = ((step + 1, step, begun + step * SECONDS) for step in range(run.steps + 1))
    record.executemany("INSERT INTO acknowledged VALUES (?, 1, ?, ?)", rows)


def _groups(record: sqlite3.Connection, run: Made, rng: np.random.Generator) -> None:
    questions = [(number * 3 % 97, number * 7 % 89) for number in range(run.prompts)]
    record.executemany("INSERT INTO prompt VALUES (?, ?, ?, ?)", map(_prompt, range(run.prompts), questions))
    steps = np.repeat(np.arange(run.every, run.steps + 1, run.every), run.groups)
    count = len(steps)
    skill = rng.normal(0.25, 0.2, count) + 0.5 * steps / run.steps  # so that some groups are tied
    right, formed = (rng.random((count, SIZE)) < skill[:, None] + more for more in (0.0, 0.2))
    rewards = formed + 2.0 * right
    mean, std = rewards.mean(axis=1), rewards.std(axis=1, ddof=1)
    advantages = (rewards - mean[:, None]) / (std[:, None] + 1e-4)
    prompts = np.arange(count) % run.prompts
    ids = np.arange(1, count + 1)
    low, high = rewards.min(axis=1), rewards.max(axis=1)
    facts = zip(ids, steps, prompts + 1, mean, std, low, high, strict=True)
    record.executemany(
        f"INSERT INTO grp VALUES (?, 1, 'train', ?, ?, {SIZE}, ?, ?, ?, ?)",
        [tuple(value.item() for value in row) for row in facts],
    )
    texts = _texts(run, [questions[prompt] for prompt in prompts.tolist()], right, formed)
    owners, places = np.repeat(ids, SIZE).tolist(), list(range(SIZE)) * count
    lengths = [len(text) // 3 + 1 for text in texts]
    record.executemany(
        "INSERT INTO completion (grp, idx, text, tokens, truncated, reward, advantage) VALUES (?, ?, ?, ?, ?, ?, ?)",
        zip(owners, places, texts, lengths, (rng.random(count * SIZE) < 0.05).astype(int).tolist(),
            rewards.ravel().tolist(), advantages.ravel().tolist(), strict=True),
    )  # fmt: skip
    given = (formed.ravel().astype(float).tolist(), right.ravel().astype(float).tolist())
    record.executemany(
        "INSERT INTO score VALUES (?, ?, ?, ?, 'ok')",
        (
            (owner, place, function, value)
            for owner, place, *values in zip(owners, places, *given, strict=True)
            for function, value in enumerate(values, start=1)
        ),
    )


def _prompt(number: int, question: tuple[int, int]) -> tuple[int, str, str, str]:
    a, b = question
    prompt = to_json([{"role": "user", "content": f"{a}+{b}? ({number})"}])
    columns = to_json({"answer": str(a + b)})
    return number + 1, hashlib.sha256(f"{prompt}\0{columns}".encode()).hexdigest(), prompt, columns


def _texts(run: Made, questions: Sequence[tuple[int, int]], right: Numbers, formed: Numbers) -> list[str]:
    """A completion for each score: a thought, and the sum, or another number."""
    rng = random.Random(run.number)
    thoughts = [" ".join(rng.choices(WORDS, k=max(3, run.words + rng.randint(-3, 3)))) for _ in range(997)]
    texts, at = [], rng.randrange(RARELY)
    for (a, b), row, forms in zip(questions, right.tolist(), formed.tolist(), strict=True):
        for is_right, is_formed in zip(row, forms, strict=True):
            at += 1
            answer = a + b if is_right else a + b + 1 + at % 9
            thought = f"{thoughts[at * 31 % 997]}: {a}+{b}={answer}" + (f" {RARE}" if at % RARELY == 0 else "")
            form = f"<think>{thought}</think><answer>{answer}</answer>" if is_formed else f"{thought}. {answer}"
            texts.append(form)
    return texts


def _index(record: sqlite3.Connection) -> None:
    groups = record.execute("SELECT coalesce(max(id), 0) FROM grp").fetchone()[0]
    for first in range(1, groups + 1, COMMIT):
        record.execute(
            "INSERT INTO completion_text (rowid, text) SELECT id, text FROM completion WHERE grp BETWEEN ? AND ?",
            [first, first + COMMIT - 1],
        )
