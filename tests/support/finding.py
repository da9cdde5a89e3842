"""A run to search in: eight steps of one group of four, steps 5 to 8 trained twice, held-out groups at 4 and 8."""

from __future__ import annotations

import shutil
from pathlib import Path

from groupwise.storage.home import db, paths
from groupwise.storage.record import find
from groupwise.storage.record.find import Wanted
from groupwise.storage.record.step_record import Completion, Group
from tests.support.made_runs import made_run, spec_of

STEPS = range(1, 9)
SLOW = "a" * 4000 + "b"  # what (a+)+$ never comes to an end with
NAMES = ("format", "correct: ness")


def group(step: int, n: int) -> Group:
    completions = [
        Completion(f"<think>carry one</think><answer>{step}</answer>", 10, False, 2.0, 1.0, [(1.0, "ok"), (0.5, "ok")]),
        Completion("Der ÉCOLE 漢字を含む", 20, False, 0.5, -1.0, [(0.5, "ok"), (None, "error")], {"seen": {"a": 1}}),
        Completion(f"=nul\0 after, digits {step}42", 30, False, None, 0.0, [(None, "none"), (None, "timeout")]),
        Completion(SLOW, 40, True, 3.0, 0.5, [(1.0, "ok"), (1.0, "ok")]),
    ]
    return Group("train", step, [{"role": "user", "content": f"-{step}?"}], {"answer": f"@{step}"}, completions)


def searched_run() -> str:
    """The id of the run, in this home."""
    text = spec_of("searched", ("format", "correctness"), 8)  # a record may have names that a spec may not
    return made_run(
        "searched", 8, groups=1, make_group=group, functions=NAMES, eval_every=4, resumed_at=4, spec_yaml=text
    )


def older(run_id: str, place: Path) -> Path:
    """A copy of its record as it was before there were searches."""
    copy = place / "older.db"
    shutil.copy(paths.run_folder(run_id).db, copy)
    record = db.open_writer(copy, journal="wal")
    for name in ("INDEX completion_numbers", "INDEX completion_by_reward", "TABLE completion_text", "TABLE extra"):
        record.execute(f"DROP {name}")
    record.close()
    return copy


def places(path: Path, wanted: Wanted) -> list[tuple[int, int]]:
    """(step, index) of what matches, in order of the steps."""
    found = find.search_completions(path, wanted, seconds=60.0)
    assert found.is_whole and not found.late
    rows = find.rows(path, [hit[0] for hit in find.sort_hits(found.hits, "oldest")])
    return [(row["step"], row["idx"]) for row in rows]
