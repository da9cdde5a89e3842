"""A run whose state.json is gone: what its spec.yaml, run.db and exit.json tell of it."""

import contextlib
import sqlite3
from typing import Any

from groupwise.storage.home.paths import RunFolder
from groupwise.storage.record import checkpoint_files, endings, metrics, record_check, run_files, states


def told_by_other_files(folder: RunFolder) -> dict[str, Any]:
    """The columns of the run's row that its other files give: what it is, how far it came, and how it ended."""
    recorded = _recorded(folder)
    return run_files.fitting_columns(_asked(folder) | recorded | _ended(folder, recorded))


def _asked(folder: RunFolder) -> dict[str, Any]:
    spec = run_files.spec_of(folder)
    return {"name": spec.name, "model": spec.model.id, "data": spec.data.source} if spec else {}


def _recorded(folder: RunFolder) -> dict[str, Any]:
    found = metrics.progress_if_readable(folder.db)
    if found is None or not found["attempt"]:
        return {}
    facts = {name: found[name] for name in ("attempt", "step", "total", "reward", "spark")}
    return facts | {"seen_at": found["at"], "state_at": found["at"], **_begun(folder)}


def _begun(folder: RunFolder) -> dict[str, Any]:
    """When it was launched, as near as its record tells: when it first wrote. Copies of one folder agree on it."""
    with contextlib.suppress(sqlite3.DatabaseError), record_check.read_record(folder.db) as record:
        return {"created": record.execute("SELECT min(at) FROM acknowledged").fetchone()[0]}
    return {}


def _ended(folder: RunFolder, recorded: dict[str, Any]) -> dict[str, Any]:
    """How it ended: as its last attempt wrote, or unknown where that wrote nothing."""
    wrote = run_files.exit_record(folder, recorded.get("attempt"))
    whole = checkpoint_files.latest_sealed(folder.checkpoints)
    saved = checkpoint_files.step_of(whole) if whole else None
    if wrote is None:
        return {"sentence": f"Found as a folder that does not say how the run ended. {endings.resume_words(saved)}"}
    state, sentence = endings.ending(
        wrote, None, step=wrote["step"], saved=saved, killed_on_request=False, stopping=False
    )
    done = {"step": wrote["step"], "total": wrote["planned"]} if state == states.FINISHED or not recorded else {}
    return {"state": state, "sentence": sentence, "attempt": wrote["attempt"], **done}
