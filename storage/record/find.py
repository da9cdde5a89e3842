"""run.db, looking for completions: by words, rewards, scores, steps and lengths, and what they look like together."""

import json
import sqlite3
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from heapq import nlargest, nsmallest
from operator import itemgetter
from pathlib import Path
from typing import Any

from groupwise.storage.home import db
from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.record import find_text, groups, kept_hits, record_check
from groupwise.storage.record.hits import Hit, Hits

Range = tuple[float | None, float | None]  # both ends belong to it; None: open
OPEN: Range = (None, None)
STATUSES = ("none", "error", "timeout")  # of a score that is no number
MODES = ("train", "eval", "both")
SORTS = ("newest", "oldest", "reward", "-reward", "length", "-length")
MOST = 10_000  # matches, where texts have to be read
SECONDS = 2.0  # for reading texts
FEW = 1000  # hits that are picked out of all, where more would be sorted
SLICE = 250  # texts that are read at once
INDEXED = "SELECT rowid FROM completion_text WHERE completion_text MATCH ?"


@dataclass(frozen=True)
class Wanted:
    """What is looked for. `reward` and `score` are in the reward's own units, `length` in tokens. `score` and `status`
    are of the reward function `function`. `starred`: (group, index) of those to choose from, where only they count."""

    words: str = ""
    regex: bool = False
    reward: Range = OPEN
    function: str = ""
    score: Range = OPEN
    status: str = ""
    steps: Range = OPEN
    length: Range = OPEN
    truncated: bool | None = None
    mode: str = "train"
    starred: Sequence[tuple[int, int]] | None = None


@dataclass
class Found:
    """The matches, the newest first. Where texts had to be read, `looked` of `of` candidates were before it was enough
    (`MOST`) or took too long (`late`)."""

    hits: Hits = field(default_factory=Hits)
    looked: int = 0
    of: int = 0
    late: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether everything was looked at."""
        return self.looked == self.of

    def ids(self, sort: str, page: int, size: int) -> list[int]:
        """The ids of one page (from 1)."""
        ordered = sort_hits(self.hits, sort, page * size)
        return [hit[0] for hit in ordered[(page - 1) * size : page * size]]


def sort_hits(hits: list[Hit], sort: str, first: int | None = None) -> list[Hit]:
    """The hits (given newest first) in the order of one of SORTS, all or the `first` so many; what has no reward comes
    last."""
    if sort in ("newest", "oldest"):
        return (hits if sort == "newest" else hits[::-1])[:first]
    column, down = (1 if sort.endswith("reward") else 2), sort.startswith("-")
    some = [hit for hit in hits if hit[column] is not None]
    rest = [hit for hit in hits if hit[column] is None] if len(some) < len(hits) else []

    def place(hit: Hit) -> float:
        return hit[column] or 0.0

    if first is not None and first <= FEW:  # of 100,000 hits, in a fifth of the time that sorting all of them takes
        return [*(nlargest if down else nsmallest)(first, some, key=place), *rest][:first]
    return [*sorted(some, key=place, reverse=down), *rest][:first]


def search_completions(path: Path, wanted: Wanted, *, most: int = MOST, seconds: float = SECONDS) -> Found:
    """The completions that match, by what they say or what they were asked, of what no later attempt trained over.
    Raises find_text.BadPattern."""
    until = time.monotonic() + seconds
    pattern = find_text.compile_pattern(wanted.words) if wanted.regex and wanted.words else None
    terms = [] if wanted.regex else find_text.terms(wanted.words)
    with record_check.read_record(path, seconds=seconds + db.LONGEST) as run:
        query = find_text.index_query(terms) if has(run, "table", "completion_text") else ""
        hits = _candidates(run, path, wanted, query)
        asked = _of_prompts(run, wanted, pattern, terms, until)
        check = find_text.matches(pattern, until) if pattern else find_text.sieve(terms, indexed=bool(query))
        if asked:
            hits = Hits(sorted({*hits, *asked}, reverse=True)) if query else hits
        if check is None:
            return Found(hits, len(hits), len(hits))
        return _check_texts(run, hits, check, most, until, {hit[0] for hit in asked})


def _of_prompts(run: Database, wanted: Wanted, pattern: Any, terms: list[find_text.Term], until: float) -> list[Hit]:
    """The completions whose prompt has what is searched for, whatever they say; none where reading the prompts took too
    long."""
    if pattern is None and not terms:
        return []
    check = find_text.matches(pattern, until) if pattern else find_text.prompt_sieve(terms)
    raw = [] if pattern else find_text.raw_parts(terms)
    sql = f"SELECT id, prompt FROM prompt WHERE {' AND '.join(['prompt LIKE ? ESCAPE ?'] * len(raw)) or '1'}"
    try:
        prompts = run.execute(sql, [value for part in raw for value in (part, "\\")])
        ids = [id for id, prompt in prompts if check(question_text(prompt))]
    except TimeoutError:
        return []
    if not ids:
        return []
    where, values = _conditions(run, wanted)
    inside = "grp IN (SELECT id FROM grp WHERE prompt IN (SELECT value FROM json_each(?)))"
    return _read_numbers(run, [*where, inside], [*values, json.dumps(ids)])


def question_text(prompt: str) -> str:
    """What a person asked: the last message of a recorded chat, or the text itself; empty where it cannot be read."""
    try:
        read = json.loads(prompt)
    except ValueError:
        return ""
    last = read[-1] if isinstance(read, list) and read else read
    return str(last.get("content") or "") if isinstance(last, dict) else str(last)


def _candidates(run: Database, path: Path, wanted: Wanted, query: str) -> Hits:
    """What everything but the texts themselves says, the newest first."""
    where, values = _conditions(run, wanted)
    search = kept_hits.key(run, path, where, values)
    kept = kept_hits.get(search)
    if not query:
        hits = _read_numbers(run, where, values) if kept is None else kept
        kept_hits.keep(search, hits)
        return hits
    if kept is None:
        return _read_numbers(run, [*where, f"completion.id IN ({INDEXED})"], [*values, query])
    named = set(map(itemgetter(0), run.execute(INDEXED, [query]).fetchall()))
    return Hits(hit for hit in kept if hit[0] in named)


def _read_numbers(run: Database, where: list[str], values: list[Any]) -> Hits:
    # The planner has no statistics, and would rather walk the rewards and fetch each row from beside its text.
    hint = "INDEXED BY completion_numbers" if has(run, "index", "completion_numbers") else ""
    sql = f"SELECT id, reward, tokens FROM completion {hint} WHERE {' AND '.join(where) or '1'}"
    return Hits(sorted(run.execute(sql, values).fetchall(), reverse=True))


def _conditions(run: Database, wanted: Wanted) -> tuple[list[str], list[Any]]:
    where, values = _group_conditions(run, wanted)
    for column, (low, high) in (("reward", wanted.reward), ("tokens", wanted.length)):
        _add_bounds(where, values, column, low, high)
    if wanted.truncated is not None:
        where.append("(truncated != 0) = ?")
        values.append(int(wanted.truncated))
    if wanted.function:
        inner = ["score.grp = completion.grp", "score.idx = completion.idx", "function = ?"]
        known = run.execute("SELECT id FROM reward_function WHERE name = ?", [wanted.function]).fetchone()
        values.append(known[0] if known else -1)
        if wanted.status:
            inner.append("status = ?")
            values.append(wanted.status)
        _add_bounds(inner, values, "value", *wanted.score)
        where.append(f"EXISTS (SELECT 1 FROM score WHERE {' AND '.join(inner)})")
    if wanted.starred is not None:
        where.append("(grp, idx) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))")
        values.append(json.dumps(list(wanted.starred)))
    return where, values


def _group_conditions(run: Database, wanted: Wanted) -> tuple[list[str], list[Any]]:
    """Which groups count; nothing where all do, since asking costs a look at each completion's."""
    counts, values = groups.counting(run)
    inner, given = [f"({counts})"], list[Any](values)
    if wanted.mode != "both":
        inner.append("mode = ?")
        given.append(wanted.mode)
    _add_bounds(inner, given, "step", *wanted.steps)
    of_group = " AND ".join(inner)
    if run.execute(f"SELECT 1 FROM grp WHERE NOT ({of_group}) LIMIT 1", given).fetchone() is None:
        return [], []
    return [f"grp IN (SELECT id FROM grp WHERE {of_group})"], given


def _add_bounds(where: list[str], values: list[Any], column: str, low: float | None, high: float | None) -> None:
    for bound, sign in ((low, ">="), (high, "<=")):
        if bound is not None:
            where.append(f"{column} {sign} ?")
            values.append(bound)


def _check_texts(
    run: Database, hits: list[Hit], check: Callable[[str], bool], most: int, until: float, asked: Collection[int] = ()
) -> Found:
    """Those whose text passes, or that are of a prompt that does (`asked`), looked at from the newest on until there
    are enough or the time is over."""
    found = Found(of=len(hits))
    for start in range(0, len(hits), SLICE):
        part = hits[start : start + SLICE]
        marks = ", ".join("?" * len(part))
        texts = dict(run.execute(f"SELECT id, text FROM completion WHERE id IN ({marks})", [h[0] for h in part]))
        for hit in part:
            try:
                passes = hit[0] in asked or check(texts[hit[0]])
            except TimeoutError:
                found.late = True
                return found
            if passes and len(found.hits) >= most:
                return found
            found.looked += 1
            if passes:
                found.hits.append(hit)
        if time.monotonic() > until and found.looked != found.of:
            found.late = True
            return found
    return found


def has(run: Database, kind: str, name: str) -> bool:
    """Whether the file has this table or index; older ones lack some."""
    return run.execute("SELECT 1 FROM sqlite_master WHERE type = ? AND name = ?", [kind, name]).fetchone() is not None


def newest_completion(path: Path) -> int:
    """The id of the last completion recorded; 0 before there is any."""
    with record_check.read_record(path) as run:
        return run.execute("SELECT coalesce(max(id), 0) FROM completion").fetchone()[0]


def function_names(path: Path) -> list[str]:
    """The run's reward functions, in its order."""
    with record_check.read_record(path) as run:
        return [name for (name,) in run.execute("SELECT name FROM reward_function ORDER BY id")]


def rows(path: Path, ids: Sequence[int]) -> list[dict[str, Any]]:
    """Whole completions, in the order of `ids`: with group, step, mode, attempt, prompt, the row's other columns, what
    functions logged (`extra`), and `scores`, by function: (value, status)."""
    with record_check.read_record(path) as run:
        marks = f"completion.id IN ({', '.join('?' * len(ids))})"
        found = {
            row["id"]: row
            for row in run.query(
                "SELECT completion.id, grp, idx, text, tokens, truncated, reward, advantage, attempt, mode, step, "
                "grp.prompt AS prompt_id, prompt.prompt, columns FROM completion JOIN grp ON grp.id = grp "
                f"JOIN prompt ON prompt.id = grp.prompt WHERE {marks}",
                list(ids),
            )
        }
        scores, extras = _scores(run, marks, ids), _extras(run, marks, ids)
    return [
        {
            **found[one],
            "prompt": _read_json(found[one]["prompt"]),
            "columns": _read_json(found[one]["columns"]),
            "scores": scores.get(one, {}),
            "extra": extras.get(one, {}),
        }
        for one in ids
        if one in found
    ]


def _read_json(words: str) -> Any:
    """JSON as the recorder writes it, in which Python's NaN and Infinity may stand: they become None."""
    return json.loads(words, parse_constant=lambda _: None)


def _scores(run: Database, marks: str, ids: Sequence[int]) -> dict[int, dict[str, tuple[float | None, str]]]:
    scores: dict[int, dict[str, tuple[float | None, str]]] = {}
    for one, name, value, status in run.execute(
        "SELECT completion.id, name, value, status FROM completion CROSS JOIN score USING (grp, idx) "
        f"JOIN reward_function ON reward_function.id = function WHERE {marks} ORDER BY completion.id, function",
        list(ids),
    ):
        scores.setdefault(one, {})[name] = (value, status)
    return scores


def _extras(run: Database, marks: str, ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """What functions logged of each completion; nothing in a record of the time before that was kept."""
    sql = f"SELECT completion.id, columns FROM completion CROSS JOIN extra USING (grp, idx) WHERE {marks}"
    try:
        return {one: _read_json(columns) for one, columns in run.execute(sql, list(ids))}
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise
        return {}
