"""run.db, reading groups: which steps have them, the groups of a step, one group with its completions."""

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.record import lineage, metrics, record_check
from groupwise.storage.record.group_metrics import TIED, UNSCORED, Range, is_filled

HISTORY = 12  # of a prompt's times, those around a group
ENDLESS = 2**62
# A row as it is stored whose answer is none, or begins with what may be all of it: its end, a space, an escaped one.
_BLANK = ("null", '"[" \u00a0\u2000-\u3000]', '"\\[nrtu]')
_MAY_LACK = " OR ".join(f"columns GLOB '*\"answer\":{begin}*'" for begin in _BLANK)


def span(path: Path, mode: str = "train") -> tuple[int, int] | None:
    """The first and the last step that have groups; None before there are any. What a resume trained anew does not
    count: see `lineage.stretches`."""
    with record_check.read_record(path) as run:
        first, last = _seek(run, mode, ">=", 0), _seek(run, mode, "<=", 2**62)
        return None if first is None or last is None else (first, last)


def last_scored_step(path: Path) -> int | None:
    """The newest step of the training with a group that has a reward; None where none has one."""
    with record_check.read_record(path) as run:
        counts, values = counting(run)
        found = run.execute(
            f"SELECT step FROM grp WHERE mode = 'train' AND mean IS NOT NULL AND {counts} ORDER BY step DESC LIMIT 1",
            values,
        ).fetchone()
        return found[0] if found else None


def nearest_step(path: Path, step: int, mode: str = "train") -> dict[str, int | None]:
    """The step with groups that is nearest to `step`, the earlier of two, and its neighbours either side."""
    with record_check.read_record(path) as run:
        sides = (_seek(run, mode, "<=", step), _seek(run, mode, ">", step))
        here = min((side for side in sides if side is not None), key=lambda side: abs(side - step), default=None)
        if here is None:
            return {"step": None, "earlier": None, "later": None}
        return {"step": here, "earlier": _seek(run, mode, "<", here), "later": _seek(run, mode, ">", here)}


def _seek(run: Database, mode: str, bound: str, step: int) -> int | None:
    """The nearest step with groups on one side of `step`, along the index."""
    counts, values = counting(run)
    order = "DESC" if bound.startswith("<") else "ASC"
    found = run.execute(
        f"SELECT step FROM grp WHERE mode = ? AND step {bound} ? AND {counts} ORDER BY step {order} LIMIT 1",
        [mode, step, *values],
    ).fetchone()
    return found[0] if found else None


def counting(run: Database) -> tuple[str, list[int]]:
    """SQL for “this group was not trained over by a later attempt”."""
    cut = [(attempt, end) for attempt, end in ends(run).items() if end != ENDLESS]
    if not cut:
        return "1", []
    cases = " ".join("WHEN ? THEN ?" for _ in cut)
    return f"step <= CASE attempt {cases} ELSE {ENDLESS} END", [value for pair in cut for value in pair]


def ends(run: Database) -> dict[int, int]:
    """The last step up to which each attempt counts: where the next began."""
    begun = lineage.begun_at(run)
    return {attempt: min((at for other, at in begun.items() if other > attempt), default=ENDLESS) for attempt in begun}


def reward_range(path: Path) -> Range | None:
    """The least and the greatest total reward of the whole run: what says whether a tie is all failed or all highest
    so far. None before there is one."""
    with record_check.read_record(path) as run:
        finite = "reward > -9e999 AND reward < 9e999"  # along the index on it, where the record has one
        low = run.execute(f"SELECT reward FROM completion WHERE {finite} ORDER BY reward LIMIT 1").fetchone()
        high = run.execute(f"SELECT reward FROM completion WHERE {finite} ORDER BY reward DESC LIMIT 1").fetchone()
        return None if low is None or high is None else (low[0], high[0])


def at_step(path: Path, step: int, mode: str = "train") -> list[dict[str, Any]]:
    """The groups of one step, as its latest attempt made them: id, prompt, size, mean, std, low, high, tied."""
    with record_check.read_record(path) as run:
        rows = run.query(
            "SELECT grp.id, prompt.prompt, size, mean, std, low, high FROM grp JOIN prompt ON prompt.id = grp.prompt "
            "WHERE mode = ? AND step = ? AND attempt = "
            "(SELECT max(attempt) FROM grp WHERE mode = ? AND step = ?) ORDER BY grp.id",
            [mode, step, mode, step],
        )
        return [{**row, "prompt": json.loads(row["prompt"]), "tied": is_tied(row)} for row in rows]


def stage_number(path: Path, step: int) -> int:
    """The stage that trained a step last, from 1; 0 in a run without stages."""
    with record_check.read_record(path) as run:
        row = run.execute(
            "SELECT json_extract(data, '$.stage') FROM event WHERE kind = 'stage' AND step < ? "
            "ORDER BY id DESC LIMIT 1",
            [step],
        ).fetchone()
        return row[0] if row and isinstance(row[0], int) else 0


def newest_stage(path: Path) -> int:
    """The stage that trains now, from 1; 0 in a run without stages."""
    return stage_number(path, 2**62)


def count_right(path: Path, ids: Sequence[int], function: str, threshold: float) -> dict[int, tuple[int, int]]:
    """By group: how many of its completions this function scored with at least the threshold, and how many it
    scored."""
    with record_check.read_record(path) as run:
        rows = run.execute(
            "SELECT grp, sum(value >= ?), count(*) FROM score WHERE grp IN (SELECT value FROM json_each(?)) AND "
            "function = (SELECT id FROM reward_function WHERE name = ?) AND value IS NOT NULL GROUP BY grp",
            [threshold, json.dumps(list(ids)), function],
        ).fetchall()
        return {grp: (solved, scored) for grp, solved, scored in rows}


def without_answer(path: Path, ids: Sequence[int]) -> set[int]:
    """Those of these groups whose row `lacks_answer`, as group_metrics has it."""
    with record_check.read_record(path) as run:
        asked = json.dumps(list(ids))
        lacking = prompts_without_answer(
            run, "id IN (SELECT prompt FROM grp WHERE id IN (SELECT value FROM json_each(?)))", [asked]
        )
        rows = run.execute(
            f"SELECT id FROM grp WHERE id IN (SELECT value FROM json_each(?)) AND {answer_is_lacking()}",
            [asked, json.dumps(lacking)],
        )
        return {grp for (grp,) in rows}


def prompts_without_answer(run: Database, where: str = "1", values: Sequence[Any] = ()) -> list[int]:
    """The ids of the prompts whose row has an empty answer. Only of those that may be so the row is read."""
    rows = run.execute(f"SELECT id, columns FROM prompt WHERE ({_MAY_LACK}) AND {where}", list(values))
    return [number for number, columns in rows if not is_filled(json.loads(columns).get("answer", 0))]


def answer_is_lacking() -> str:
    """A condition on grp, with one value: `prompts_without_answer` as JSON."""
    unscored = f"SELECT 1 FROM score WHERE score.grp = grp.id GROUP BY function HAVING min(status = '{UNSCORED}')"
    return f"(grp.prompt IN (SELECT value FROM json_each(?)) AND EXISTS ({unscored}))"


def is_tied(group: dict[str, Any]) -> bool:
    """Whether every scored completion of the group has the same reward."""
    return group["low"] is not None and group["high"] - group["low"] <= TIED


def read_group(path: Path, group_id: int) -> dict[str, Any] | None:
    """One group: prompt, the row's other columns, its completions with their scores; whether it `counts` (was not
    trained over by a later attempt); how many `times` its prompt came and those around this one (`history`, in order),
    and how many times more (`over`) in steps that a later attempt trained over.
    None where there is no such group."""
    with record_check.read_record(path) as run:
        group = next(
            run.query(
                "SELECT grp.*, prompt.id AS prompt_id, prompt.prompt AS text, prompt.columns FROM grp "
                "JOIN prompt ON prompt.id = grp.prompt WHERE grp.id = ?",
                [group_id],
            ),
            None,
        )
        if group is None:
            return None
        times, over = times_of_prompt(run, group["prompt_id"])
        weights = metrics.weights_at(run, group["attempt"], group["step"])
        return {
            **group,
            "prompt": json.loads(group.pop("text")),
            "columns": json.loads(group["columns"]),
            "tied": is_tied(group),
            "counts": group["step"] <= ends(run).get(group["attempt"], ENDLESS),
            "completions": _completions(run, group_id, weights),
            "times": times,
            "over": over,
            "history": _history(run, group["prompt_id"], group["step"]),
        }


def times_of_prompt(run: Database, prompt: int) -> tuple[int, int]:
    """How many times a prompt came, and how many times more in steps that a later attempt trained over."""
    counts, values = counting(run)
    every, counted = run.execute(
        f"SELECT count(*), coalesce(sum({counts}), 0) FROM grp WHERE prompt = ?", [*values, prompt]
    ).fetchone()
    return counted, every - counted


def _history(run: Database, prompt: int, step: int) -> list[dict[str, Any]]:
    """The prompt's groups around a step, of those that no later attempt trained over."""
    counts, values = counting(run)
    chosen = f"SELECT id, step, mode, attempt, mean, low, high FROM grp WHERE prompt = ? AND {counts}"
    before = list(
        run.query(f"{chosen} AND step <= ? ORDER BY step DESC, id DESC LIMIT {HISTORY}", [prompt, *values, step])
    )
    after = list(run.query(f"{chosen} AND step > ? ORDER BY step, id LIMIT {HISTORY}", [prompt, *values, step]))
    kept = max(HISTORY // 2, HISTORY - len(after))
    return before[:kept][::-1] + after[: HISTORY - min(kept, len(before))]


def has_completion(path: Path, group_id: int, idx: int) -> bool:
    """Whether there is such a completion."""
    with record_check.read_record(path) as run:
        return run.execute("SELECT 1 FROM completion WHERE grp = ? AND idx = ?", [group_id, idx]).fetchone() is not None


def _completions(run: Database, group_id: int, weights: dict[str, float]) -> list[dict[str, Any]]:
    """`weights`: those of the group's stage; where a run has no stages, those the function itself has."""
    scores: dict[int, list[dict[str, Any]]] = {}
    for index, name, weight, value, status in run.execute(
        "SELECT idx, name, weight, value, status FROM score JOIN reward_function ON id = function WHERE grp = ? "
        "ORDER BY idx, function",
        [group_id],
    ):
        scores.setdefault(index, []).append(
            {"name": name, "weight": weights.get(name, weight), "value": value, "status": status}
        )
    rows = run.query(
        "SELECT idx, text, tokens, truncated, reward, advantage FROM completion WHERE grp = ? ORDER BY idx", [group_id]
    )
    extras = _extras(run, group_id)
    return [{**row, "scores": scores.get(row["idx"], []), "extra": extras.get(row["idx"], {})} for row in rows]


def _extras(run: Database, group_id: int) -> dict[int, dict[str, Any]]:
    """What functions logged of each completion; nothing in a record of the time before that was kept."""
    try:
        rows = run.execute("SELECT idx, columns FROM extra WHERE grp = ?", [group_id]).fetchall()
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise
        return {}
    return {index: json.loads(columns) for index, columns in rows}
