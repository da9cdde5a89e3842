"""run.db, reading one prompt over time: each time it came, how its group did, and how much of it was solved."""

import json
from pathlib import Path
from typing import Any

from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.record import groups, record_check

MOST = 300  # times that are read; of more, evenly many are left out
Solver = tuple[str, float]  # a reward function, and from which of its scores on a completion is solved


def times(path: Path, prompt_id: int, solver: Solver | None = None, most: int = MOST) -> dict[str, Any] | None:
    """The prompt, the row's other columns, how many times it came (`total`), how many times more in steps that a later
    attempt trained over (`over`), and these `times`, by step: id, step, mode, attempt, size, mean, std, low, high,
    `counts` (not trained over by a later attempt) and `solved` (the share of its completions; None where no function
    says so). None where there is no such prompt."""
    with record_check.read_record(path) as run:
        row = run.execute("SELECT prompt, columns FROM prompt WHERE id = ?", [prompt_id]).fetchone()
        if row is None:
            return None
        first, last = run.execute("SELECT min(step), max(step) FROM grp WHERE prompt = ?", [prompt_id]).fetchone()
        total, over = groups.times_of_prompt(run, prompt_id)
        apart = -(-(total + over) // most)
        found = list(
            run.query(
                "SELECT id, step, mode, attempt, size, mean, std, low, high FROM grp WHERE prompt = ? "
                "AND (step % ? = 0 OR step IN (?, ?)) ORDER BY step, attempt, id LIMIT ?",
                [prompt_id, max(1, apart), first, last, 4 * most],
            )
        )
        ends, solved = groups.ends(run), _solved_shares(run, [time["id"] for time in found], solver)
        for time in found:
            time["counts"] = time["step"] <= ends.get(time["attempt"], groups.ENDLESS)
            time["solved"] = solved.get(time["id"])
        told = {"prompt": json.loads(row[0]), "columns": json.loads(row[1])}
        return told | {"total": total, "over": over, "times": found}


def _solved_shares(run: Database, ids: list[int], solver: Solver | None) -> dict[int, float]:
    """The share of solved completions by group, of those that were scored; no group of which none was."""
    function = run.execute("SELECT id FROM reward_function WHERE name = ?", [solver[0]]).fetchone() if solver else None
    if function is None or solver is None:
        return {}
    marks = ", ".join("?" for _ in ids)
    rows = run.execute(
        f"SELECT grp, avg(value >= ?) FROM score WHERE function = ? AND grp IN ({marks}) AND value IS NOT NULL "
        "GROUP BY grp",
        [solver[1], function[0], *ids],
    )
    return dict(rows.fetchall())
