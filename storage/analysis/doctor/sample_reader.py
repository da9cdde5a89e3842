"""Reads the first and last completions of a record, with what each function gave them, for the doctor's evidence."""

import json
import math
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from groupwise.storage.analysis.doctor.evidence import Function, Sample, Scored
from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.record import find
from groupwise.storage.record.recent import Course, Steps

GROUPS, COMPLETIONS, READ = 32, 256, 2000  # read at each end: groups, completions of them, characters of each
ORDERS = ("ASC", "DESC")  # the first, the last
COUNTED = 128  # the last groups, in which it is counted how often each function gave no score


def rows_of(run: Database, sql: str, values: Sequence[Any] = ()) -> list[Any]:
    """Rows; none where the file is older than the table."""
    return read_if_there(lambda: run.execute(sql, values).fetchall())


def read_if_there(read: Callable[[], list[Any]]) -> list[Any]:
    try:
        return read()
    except sqlite3.OperationalError as error:
        if "no such table" in str(error) or "no such column" in str(error):
            return []
        raise


def group_ids(run: Database, order: str, since: int, until: int) -> list[int]:
    """The first (ASC) or last (DESC) training groups of the stage."""
    rows = rows_of(
        run,
        f"SELECT id FROM grp WHERE mode = 'train' AND step > ? AND step <= ? ORDER BY step {order} LIMIT {COUNTED}",
        [since, until],
    )
    return [row[0] for row in rows]


def evaluated_ids(run: Database, step: int) -> list[int]:
    """The groups that were evaluated after this step."""
    sql = f"SELECT id FROM grp WHERE mode = 'eval' AND step = ? ORDER BY id DESC LIMIT {COUNTED}"
    return [row[0] for row in rows_of(run, sql, [step])]


def are_chats(run: Database) -> bool:
    """Whether the newest prompt is a list of messages: then so are all, and each completion."""
    is_list = "json_valid(prompt) AND json_type(prompt) = 'array'"
    rows = rows_of(run, f"SELECT {is_list} FROM prompt ORDER BY id DESC LIMIT 1")
    return bool(rows and rows[0][0])


def read_samples(run: Database, ids: list[int], names: Mapping[int, str], order: str) -> list[Sample]:
    """The completions of these groups, with what each function of `names` (by its number) gave them; where there are
    too many, the first (ASC) or last (DESC) of them."""
    marks = ", ".join("?" * len(ids))
    rows = rows_of(
        run,
        "SELECT c.grp, c.idx, g.step, substr(c.text, 1, ?), c.reward, substr(p.prompt, 1, ?), c.tokens, c.truncated "
        "FROM grp g JOIN completion c ON c.grp = g.id LEFT JOIN prompt p ON p.id = g.prompt "
        f"WHERE g.id IN ({marks}) ORDER BY c.grp {order}, c.idx LIMIT {COMPLETIONS}",
        [READ, READ, *ids],
    )
    scores: dict[tuple[int, int], dict[str, float | None]] = defaultdict(dict)
    told = rows_of(run, f"SELECT grp, idx, function, value FROM score WHERE grp IN ({marks}) LIMIT 16384", ids)
    for grp, idx, function, value in told:
        if function in names:
            scores[grp, idx][names[function]] = finite(value)
    answers = _answers(run, ids)
    return [
        Sample(
            grp,
            idx,
            step,
            text,
            finite(reward),
            find.question_text(prompt or '""'),
            tokens or 0,
            bool(cut),
            scores[grp, idx],
            answers.get(grp, ""),
        )
        for grp, idx, step, text, reward, prompt, tokens, cut in sorted(rows)
    ]


def _answers(run: Database, ids: list[int]) -> dict[int, str]:
    """The answers of the rows of these groups that are text, as the functions got them."""
    column, marks = "json_extract(p.columns, '$.answer')", ", ".join("?" * len(ids))
    rows = rows_of(
        run,
        f"SELECT g.id, substr({column}, 1, {READ}) FROM grp g JOIN prompt p ON p.id = g.prompt WHERE g.id IN ({marks}) "
        "AND json_valid(p.columns) AND json_type(p.columns, '$.answer') = 'text'",
        ids,
    )
    return dict(rows)


def read_columns(run: Database, ids: list[int]) -> dict[int, dict[str, Any]]:
    """The columns of the rows of these groups, as the functions got them; none of a row with a long one."""
    marks = ", ".join("?" * len(ids))
    rows = rows_of(
        run,
        f"SELECT g.id, p.columns FROM grp g JOIN prompt p ON p.id = g.prompt WHERE g.id IN ({marks}) "
        f"AND length(p.columns) <= {READ} AND json_valid(p.columns) AND json_type(p.columns) = 'object'",
        ids,
    )
    return {grp: json.loads(columns) for grp, columns in rows}


def finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def read_functions(
    run: Database, known: list[Any], first: list[Sample], last: list[Sample], counted: list[int]
) -> dict[str, Function]:
    statuses = _statuses(run, counted)
    messages = dict(
        rows_of(
            run,
            "SELECT json_extract(data, '$.function'), coalesce(json_extract(data, '$.error'), message) "
            "FROM event WHERE kind = 'reward' ORDER BY id DESC LIMIT 64",
        )[::-1]
    )
    found = {}
    for id, name, weight in known:
        values, earlier = _scores(last, name), _scores(first, name)
        found[name] = Function(
            weight, statuses.get(id, {}), min(values, default=None), max(values, default=None), _std(values),
            (min(earlier), max(earlier)) if earlier else None, str(messages.get(name) or ""),
        )  # fmt: skip
    return found


def with_scored(run: Database, functions: Mapping[str, Function], course: Course) -> dict[str, Function]:
    """The functions with how many completions each has scored, in the steps that the reward's figures are of."""
    first, last = _scored_in(run, course.began), _scored_in(run, course.ended)
    counted = {name: (first[name], last[name]) for name in functions if name in first and name in last}
    return {name: replace(told, scored=counted.get(name, ())) for name, told in functions.items()}


def _scored_in(run: Database, steps: Steps) -> dict[str, Scored]:
    """function → how many completions of these steps it has scored, and how many there are."""
    rows = rows_of(
        run,
        "SELECT f.name, count(s.value), count(*) FROM grp g JOIN score s ON s.grp = g.id "
        "JOIN reward_function f ON f.id = s.function WHERE g.mode = 'train' AND g.step BETWEEN ? AND ? GROUP BY f.name",
        steps,
    )
    return {name: (scored, of) for name, scored, of in rows}


def _scores(samples: Sequence[Sample], name: str) -> list[float]:
    return [score for sample in samples if (score := sample.scores.get(name)) is not None]


def _statuses(run: Database, ids: list[int]) -> dict[int, dict[str, int]]:
    """function → how often it had each status in these groups."""
    marks = ", ".join("?" * len(ids))
    found: dict[int, dict[str, int]] = defaultdict(dict)
    for function, status, count in rows_of(
        run, f"SELECT function, status, count(*) FROM score WHERE grp IN ({marks}) GROUP BY function, status", ids
    ):
        found[function][status] = count
    return found


def _std(values: list[float]) -> float:
    if not values:
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
