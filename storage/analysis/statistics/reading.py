"""run.db, reading what statistics are made of. Aggregated by SQLite where there can be a hundred thousand of it.

Without what a later attempt trained over (`groups.counting`), and without values that are no finite number.
"""

import contextlib
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from groupwise.storage.analysis.statistics import agreement
from groupwise.storage.analysis.statistics.buckets import FEW, Bins, Stretches, bins, buckets, evaluations, whole_bins
from groupwise.storage.analysis.statistics.counting import heat, histogram, plane
from groupwise.storage.analysis.statistics.pass_at_k import Solved
from groupwise.storage.analysis.statistics.ties import GroupRow
from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.record import lineage, metrics, recent, record_check
from groupwise.storage.record.group_metrics import TIED, UNKNOWN, Standing
from groupwise.storage.record.groups import answer_is_lacking, counting, prompts_without_answer

FINITE = "BETWEEN -1e300 AND 1e300"
SAMPLE = 8_000  # completions that agreement over the steps is told by
PLANE = 3_000  # the newest completions, whose length is held against their reward


class Statistics:
    """The groups of one mode (“train” or “eval”) of one run's record."""

    def __init__(self, run: Database, mode: str) -> None:
        counts, ends = counting(run)
        self._run, self._mode = run, mode
        self._where, self._values = f"grp.mode = ? AND {counts}", [mode, *ends]
        self._counts, self._ends = counts, ends

    def span(self) -> tuple[int, int, int] | None:
        """The first and the last step that have groups, and how many have; None before there is one."""
        first, last, steps = self._run.execute(
            f"SELECT min(step), max(step), count(DISTINCT step) FROM grp WHERE {self._where}", self._values
        ).fetchone()
        return None if first is None else (first, last, steps)

    def mark(self) -> str | None:
        """What changes when something is recorded that these statistics are of; None before there is a group."""
        found = self._run.execute(
            "SELECT max(id), (SELECT max(attempt) FROM acknowledged) FROM grp WHERE mode = ?", [self._mode]
        ).fetchone()
        return None if found[0] is None else f"{found[0]} {found[1]}"

    def stretches(self, most: int) -> Stretches | None:
        """All steps with groups in at most so many stretches, evaluations each at its own step; None before there is a
        group."""
        if self._mode == "eval":
            rows = self._run.execute(f"SELECT DISTINCT step FROM grp WHERE {self._where} ORDER BY step", self._values)
            steps = [step for (step,) in rows]
            return evaluations(steps, most) if steps else None
        found = self.span()
        return buckets(found[0], found[1], most, found[2]) if found else None

    def logged_lately(self) -> tuple[int, recent.Logs]:
        """The step after which the stage that trains began, and its last logged steps: those that “now” is told by."""
        began, _ = recent.stage_began(self._run)
        return began, recent.last_logs(self._run, recent.since(lineage.stretches(self._run), began))

    def functions(self) -> list[tuple[int, str, float]]:
        """(id, name, weight) of the reward functions, in order."""
        return self._run.execute("SELECT id, name, weight FROM reward_function ORDER BY id").fetchall()

    def groups(
        self, function: int | None = None, threshold: float = 0.0, *, with_answers: bool = False
    ) -> list[GroupRow]:
        """The scored groups of both modes, oldest first. `function`, `threshold`: what says that a completion is
        right, where anything does. `with_answers`: whether it is looked up which rows lack an answer, for which all
        prompts are gone through."""
        asked = [threshold, threshold, function] if function is not None else []
        right = (
            f"CASE WHEN high - low <= {TIED} THEN (SELECT CASE WHEN max(value) < ? THEN 'none' "
            "WHEN min(value) >= ? THEN 'all' END FROM score WHERE score.grp = grp.id AND function = ?) END"
        )  # it is asked of tied groups alone
        lacking = prompts_without_answer(self._run) if with_answers else []
        lacks = answer_is_lacking() if lacking else "0"
        rows = self._run.execute(
            f"SELECT step, mode, mean, std, low, high, {right if asked else 'NULL'}, {lacks} FROM grp "
            f"WHERE low {FINITE} AND high {FINITE} AND {self._counts} ORDER BY id",
            [*asked, *([json.dumps(lacking)] if lacking else []), *self._ends],
        )
        return [
            GroupRow(step, mode, mean, std, low, high, _standing(right, lacks))
            for step, mode, mean, std, low, high, right, lacks in rows
        ]

    def solved_by_group(self, function: int, threshold: float) -> list[Solved]:
        """Each group that this function scored, oldest first, with how many of its scored completions have the
        threshold."""
        rows = self._run.execute(
            "SELECT step, prompt, count(*), sum(value >= ?) FROM grp NOT INDEXED "
            "JOIN score ON score.grp = grp.id AND function = ? AND value IS NOT NULL "
            f"WHERE {self._where} GROUP BY grp.id ORDER BY grp.id",
            [threshold, function, *self._values],
        )
        return [Solved(*row) for row in rows]

    def highest_score(self, function: int) -> float | None:
        """The most that a function gave a completion of these groups; None where it scored none."""
        found: float | None = self._run.execute(
            "SELECT max(value) FROM grp NOT INDEXED JOIN score ON score.grp = grp.id AND function = ? "
            f"WHERE {self._where} AND value {FINITE}",
            [function, *self._values],
        ).fetchone()[0]
        return found

    def prompts(self, ids: list[int]) -> dict[int, tuple[Any, dict[str, Any]]]:
        """The prompts of these ids, as TRL has them, each with the other columns of the row that it stands in."""
        rows = self._run.execute(
            "SELECT id, prompt, columns FROM prompt WHERE id IN (SELECT value FROM json_each(?))", [json.dumps(ids)]
        )
        return {number: (json.loads(prompt), json.loads(columns)) for number, prompt, columns in rows}

    def heat(self, column: str, stretches: Stretches) -> dict[str, Any] | None:
        """A heat map (`counting.heat`) of all completions' rewards or advantages; None where there is none."""
        value = {"reward": "completion.reward", "advantage": "completion.advantage"}[column]
        scale = self._reward_bins() if column == "reward" else self._advantage_bins()
        if scale is None:
            return None
        low, high, last = scale.edges[0], scale.edges[-1], scale.count - 1
        width = (high - low) / scale.count
        bin_ = (
            value
            if scale.exact
            else f"{low!r} + {width!r} * (0.5 + min({last}, CAST(({value} - {low!r}) / {width!r} AS INT)))"
        )
        rows = self._run.execute(
            f"SELECT {stretches.sql()} AS stretch, {bin_} AS bin, count(*) "
            f"FROM grp NOT INDEXED JOIN completion ON completion.grp = grp.id "
            f"WHERE {self._where} AND +{value} {FINITE} GROUP BY stretch, bin",  # +: not along the index by reward
            self._values,
        )
        return heat(rows, stretches, scale)

    def _reward_bins(self) -> Bins | None:
        low, high = (
            self._run.execute(f"SELECT {end}(reward) FROM completion WHERE reward {FINITE}").fetchone()[0]
            for end in ("min", "max")  # apart, so that each is looked up in the index
        )
        return None if low is None else bins(self._few_rewards(), low, high)

    def _few_rewards(self) -> list[float]:
        """The different rewards, or the first of them where there are more than a few; along their index."""
        found: list[float] = []
        least = -1e300
        while len(found) <= FEW:
            row = self._run.execute(f"SELECT min(reward) FROM completion WHERE reward > ? AND reward {FINITE}", [least])
            (value,) = row.fetchone()
            if value is None:
                break
            found.append(value)
            least = value
        return found

    def _advantage_bins(self) -> Bins | None:
        """Around 0, which has a bin of its own in the middle."""
        (reach,) = self._run.execute(
            f"SELECT max(abs(advantage)) FROM grp NOT INDEXED JOIN completion ON completion.grp = grp.id "
            f"WHERE {self._where} AND advantage {FINITE}",
            self._values,
        ).fetchone()
        if reach is None:
            return None
        reach = reach or 1.0
        return bins([], -reach, reach, 25)

    def last_groups(self, many: int) -> list[tuple[int, int]]:
        """(id, step) of the newest groups, oldest first; of evaluations those of the last one, however many."""
        limit = -1 if self._mode == "eval" else many
        rows = self._run.execute(
            f"SELECT id, step FROM grp WHERE {self._where} ORDER BY id DESC LIMIT ?", [*self._values, limit]
        ).fetchall()
        return [row for row in rows[::-1] if self._mode != "eval" or row[1] == rows[0][1]]

    def score_histograms(self, groups: list[int]) -> list[dict[str, Any]]:
        """Per reward function {name, histogram, none, scored}: its scores in these groups; `none` were not scored."""
        rows = self._run.execute(
            "SELECT function, value FROM score WHERE grp IN (SELECT value FROM json_each(?))", [json.dumps(groups)]
        ).fetchall()
        found = []
        for number, name, _ in self.functions():
            given = [value for function, value in rows if function == number]
            values = [value for value in given if value is not None and abs(value) < 1e300]
            scale = bins(list(set(values)), min(values), max(values)) if values else None
            told = histogram(values, scale) if scale else None
            found.append({"name": name, "histogram": told, "none": len(given) - len(values), "scored": len(values)})
        return found

    def lengths(self) -> dict[str, Any] | None:
        """{plane, correlation, completions, steps, truncated}: tokens against reward of the newest completions;
        `truncated` is (how many were, their mean reward, that of the others). None where none has a reward."""
        (size,) = self._run.execute(f"SELECT max(size) FROM grp WHERE {self._where}", self._values).fetchone()
        newest = [number for number, _ in self.last_groups(PLANE // max(1, size or 1) + 1)]
        rows = self._run.execute(
            "SELECT tokens, truncated, reward, step FROM completion JOIN grp ON grp.id = completion.grp "
            f"WHERE grp.id IN (SELECT value FROM json_each(?)) AND +reward {FINITE}",
            [json.dumps(newest)],
        ).fetchall()
        if not rows:
            return None
        tokens, rewards = [row[0] for row in rows], [row[2] for row in rows]
        cut = [row[2] for row in rows if row[1]]
        rest = [row[2] for row in rows if not row[1]]
        up = bins(list(set(rewards)), min(rewards), max(rewards))
        return {
            "plane": plane(zip(tokens, rewards, strict=True), whole_bins(min(tokens), max(tokens)), up),
            "correlation": agreement.pearson(tokens, rewards),
            "completions": len(rows),
            "steps": (min(row[3] for row in rows), max(row[3] for row in rows)),
            "truncated": (len(cut), _mean(cut), _mean(rest)),
        }

    def agreement(self, stretches: Stretches) -> dict[str, Any]:
        """`agreement.agreement_over_steps`, of a sample of groups where there are many, with the functions' `names` and
        `of`: how many completions were looked at and how many there are."""
        functions = self.functions()
        place = {number: n for n, (number, _, _) in enumerate(functions)}
        ids, all_ = self._sample()
        rows: dict[tuple[int, int], tuple[int, list[float | None]]] = {}
        for group, index, function, value, step in self._run.execute(
            "SELECT grp, idx, function, value, step FROM score JOIN grp ON grp.id = score.grp "
            "WHERE grp IN (SELECT value FROM json_each(?))",
            [json.dumps(ids)],
        ):
            scores = rows.setdefault((group, index), (step, [None] * len(functions)))[1]
            scores[place[function]] = value if value is not None and abs(value) < 1e300 else None
        weights = [self._weights(stretches.steps(n)[1], functions) for n in range(stretches.count)]
        told = agreement.agreement_over_steps(list(rows.values()), weights, stretches)
        return told | {"names": [name for _, name, _ in functions], "of": (len(rows), all_)}

    def _sample(self) -> tuple[list[int], int]:
        """Groups of about SAMPLE completions, drawn evenly and always the same, and how many completions there are."""
        rows = self._run.execute(f"SELECT id, size FROM grp WHERE {self._where} ORDER BY id", self._values).fetchall()
        all_ = sum(size for _, size in rows)
        ids = [number for number, _ in rows]
        if all_ <= SAMPLE:
            return ids, all_
        return sorted(random.Random(0).sample(ids, max(1, len(ids) * SAMPLE // all_))), all_

    def _weights(self, step: int, functions: list[tuple[int, str, float]]) -> list[float]:
        """What each function counted at a step: its stage's weight, or the one that changed, or its own."""
        row = self._run.execute(
            f"SELECT attempt FROM grp WHERE {self._where} AND step <= ? ORDER BY step DESC, attempt DESC LIMIT 1",
            [*self._values, step],
        ).fetchone()
        attempt = row[0] if row else 1
        now = metrics.weights_at(self._run, attempt, step)
        return [float(now.get(name, weight)) for _, name, weight in functions]


@contextlib.contextmanager
def open_statistics(path: Path, mode: str) -> Iterator[Statistics]:
    """A run's statistics, as long as its record is open."""
    with record_check.read_record(path) as run:
        yield Statistics(run, mode)


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _standing(right: str | None, lacks_answer: int) -> Standing:
    known = right or lacks_answer  # of most nothing is: no object of its own for each of many thousand
    return Standing(right == "none", right == "all", bool(lacks_answer)) if known else UNKNOWN
