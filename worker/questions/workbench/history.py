"""A run's record, read for the workbench: groups of one step, or all of them in chunks. Read only, and nothing is
kept open longer than a look."""

from __future__ import annotations

import functools
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from groupwise.storage.home import paths
from groupwise.storage.record import groups, record_check
from groupwise.worker.questions.workbench.analysis import Floats
from groupwise.worker.questions.workbench.request import Refused

HOUR = 3600.0  # seconds a record may be read in one go: whoever asks has a limit of their own
PROMPTS = 4096  # prompts that are kept read
Moment = tuple[int, int]  # attempt and step


@dataclass(frozen=True)
class Stored:
    """One group as the record has it; `first` is the index of its first completion among all that are looked at."""

    id: int
    step: int
    attempt: int
    prompt_id: int
    size: int
    first: int
    prompt: Any = None
    columns: Any = None


@dataclass(frozen=True)
class StageBegun:
    """That the training of a stage began, or went on, behind a step; the weights of its functions."""

    attempt: int
    step: int
    number: int | None
    weights: dict[str, float]


class Record:
    """One run's run.db."""

    def __init__(self, folder: paths.RunFolder) -> None:
        self.folder = folder
        self._db = record_check.open_record(folder.db, seconds=HOUR)
        self.prompt = functools.lru_cache(maxsize=PROMPTS)(self._read_prompt)
        self.functions: dict[str, tuple[int, float]] = {
            name: (number, weight)
            for number, name, weight in self._db.execute("SELECT id, name, weight FROM reward_function ORDER BY id")
        }

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def groups(self, mode: str = "train") -> list[Stored]:
        """All groups that count (none that a resume trained over), in the order they were made."""
        counts, values = groups.counting(self._db)
        found, first = [], 0
        for row in self._db.execute(
            f"SELECT id, step, attempt, prompt, size FROM grp WHERE mode = ? AND {counts} ORDER BY id", [mode, *values]
        ):
            number, step, attempt, prompt, size = row
            found.append(Stored(number, step, attempt, prompt, size, first))
            first += size
        return found

    def _read_prompt(self, number: int) -> tuple[Any, dict[str, Any]]:
        """(prompt, columns) of one of the record's prompts."""
        row = self._db.execute("SELECT prompt, columns FROM prompt WHERE id = ?", [number]).fetchone()
        return json.loads(row[0]), json.loads(row[1])

    def completions(self, chunk: list[Stored]) -> Iterator[tuple[int, int, str, int, float | None, float]]:
        """(group, index in it, text, tokens, reward, advantage) of groups that follow each other, in order."""
        wanted = {group.id for group in chunk}
        for row in self._db.execute(
            "SELECT grp, idx, text, tokens, reward, advantage FROM completion WHERE grp BETWEEN ? AND ? "
            "ORDER BY grp, idx",
            [chunk[0].id, chunk[-1].id],
        ):
            if row[0] in wanted:
                yield row

    def scores(self, chunk: list[Stored], names: list[str]) -> Floats:
        """(completions of the chunk, functions): what is stored, NaN where there is none."""
        found = np.full((sum(group.size for group in chunk), len(names)), np.nan)
        place = {group.id: group.first - chunk[0].first for group in chunk}
        column = {self.functions[name][0]: k for k, name in enumerate(names) if name in self.functions}
        for group, index, function, value in self._db.execute(
            "SELECT grp, idx, function, value FROM score WHERE grp BETWEEN ? AND ? AND value IS NOT NULL",
            [chunk[0].id, chunk[-1].id],
        ):
            if group in place and function in column:
                found[place[group] + index, column[function]] = value
        return found

    def at_step(self, step: int | None, most: int) -> tuple[int, list[tuple[Stored, list[dict[str, Any]]]]]:
        """(step, groups of it with their completions), at most so many groups; the last step that has some for None.
        Raises Refused."""
        if step is None:
            span = groups.span(self.folder.db)
            step = span[1] if span else 0
        listed = groups.at_step(self.folder.db, step)[:most]
        if not listed:
            raise Refused(f"The run has no completions of step {step}.", "step")
        found = []
        for each in listed:
            whole = groups.read_group(self.folder.db, each["id"])
            if whole is not None:
                group = Stored(whole["id"], whole["step"], whole["attempt"], 0, whole["size"], 0, whole["prompt"],
                               whole["columns"])  # fmt: skip
                found.append((group, whole["completions"]))
        return step, found

    def stages(self) -> list[StageBegun]:
        """Each time that a stage began, or was gone on with, in order; none in a run without stages."""
        rows = self._db.execute(
            "SELECT attempt, step, json_extract(data, '$.stage'), json_extract(data, '$.weights') FROM event "
            "WHERE kind = 'stage' ORDER BY id"
        )
        told = [(attempt, step, number, json.loads(weights or "null")) for attempt, step, number, weights in rows]
        return [StageBegun(*one) for one in told if isinstance(one[3], dict)]

    def changing_weights(self) -> dict[str, dict[Moment, float]]:
        """What is recorded of each function whose weight changes, by attempt and step."""
        found: dict[str, dict[Moment, float]] = {}
        for name, attempt, step, value in self._db.execute(
            "SELECT name, attempt, step, value FROM metric JOIN metric_key ON id = key "
            "WHERE name LIKE 'rewards/%/weight' AND value IS NOT NULL"
        ):
            found.setdefault(name.split("/")[1], {})[attempt, step] = value
        return found

    def scores_of(self, name: str) -> dict[int, list[float]]:
        """By group: what a function gave its completions, those left out that it gave nothing."""
        found: dict[int, list[float]] = {}
        number, _ = self.functions.get(name, (None, 0.0))
        for group, value in self._db.execute(
            "SELECT grp, value FROM score WHERE function = ? AND value IS NOT NULL ORDER BY grp, idx", [number]
        ):
            found.setdefault(group, []).append(value)
        return found


def open_run(run_id: str) -> Record:
    """The record of a run. Raises Refused where there is none."""
    if not run_id:
        raise Refused("Choose a run.", "run")
    try:
        folder = paths.run_folder(run_id)
    except ValueError as error:
        raise Refused(str(error), "run") from error
    if not folder.path.is_dir():
        raise Refused(f"There is no run “{run_id}”; it may have been deleted.", "run")
    try:
        return Record(folder)
    except sqlite3.Error as error:
        raise Refused(f"Nothing is recorded of the run “{run_id}” yet.", "run") from error
