"""What runs came to, kept so that it is worked out once: storage.analysis.outcome says what it is."""

from collections.abc import Collection, Sequence

from groupwise.storage.registry import registry

AT_ONCE = 500  # runs in one question to SQLite


def kept_outcomes(run_ids: Collection[str]) -> dict[str, tuple[str, str]]:
    """Of these runs, what is kept: (mark, JSON), by run."""
    ids = sorted(run_ids)
    found: dict[str, tuple[str, str]] = {}
    with registry.read_registry() as index:
        for begin in range(0, len(ids), AT_ONCE):
            some = ids[begin : begin + AT_ONCE]
            marks = ", ".join("?" * len(some))
            rows = index.execute(f"SELECT run, mark, told FROM outcome WHERE run IN ({marks})", some)
            found |= {run: (mark, told) for run, mark, told in rows}
    return found


def keep_outcomes(rows: Sequence[tuple[str, str, str]]) -> None:
    """Keep (run, mark, JSON) of some runs, in place of what was kept of them."""
    with registry.write_registry() as index:
        for row in rows:
            index.execute("INSERT OR REPLACE INTO outcome (run, mark, told) VALUES (?, ?, ?)", list(row))
