"""Runs for tests: small specs on the starter model, and ways to wait for what they do."""

from __future__ import annotations

import sqlite3
import time
from typing import Any

from groupwise.storage.home import db, files, paths
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.library import repair
from groupwise.storage.record import states
from groupwise.storage.registry import registry
from groupwise.storage.spec import spec
from groupwise.storage.spec.spec import RunSpec
from groupwise.worker.builtin import shipped

FAST = {
    "per_device_train_batch_size": 4, "num_generations": 4, "max_completion_length": 8, "max_steps": 8,
    "learning_rate": 1e-4, "bf16": False, "gradient_checkpointing": False, "save_strategy": "no", "logging_steps": 1,
    "seed": 7,
}  # fmt: skip
# A run's plain script in a world without Groupwise: of all that it is, what lies beside the script can be imported.
WITHOUT_GROUPWISE = """
import os, runpy, sys
from importlib.machinery import PathFinder
class Beside:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] != "groupwise":
            return None
        found = PathFinder.find_spec(name, [os.getcwd()] if path is None else list(path))
        if found is None:
            raise ModuleNotFoundError(name, name=name)
        if found.submodule_search_locations:
            found.submodule_search_locations = list(found.submodule_search_locations)  # and nowhere else
        return found
sys.meta_path.insert(0, Beside())
runpy.run_path("train.py", run_name="__main__")
"""


def make_spec(*, training: dict[str, Any] | None = None, data: dict[str, Any] | None = None, **parts: Any) -> RunSpec:
    """A run of 8 steps × 4 completions that takes a second or two, with what the test changes."""
    return spec.from_dict(
        {
            "name": "small",
            "data": {"source": "task:arithmetic", "limit": 64, **(data or {})},
            "rewards": [{"name": "format"}, {"name": "correctness", "weight": 2.0}],
            "training": {**FAST, **(training or {})},
            **parts,
        }
    )


def queue(run_spec: RunSpec) -> RunFolder:
    """A queued run in this home, its folder frozen as the supervisor would."""
    run_id = registry.create_run(
        spec.to_yaml(run_spec), name=run_spec.name, model=run_spec.model.id, data=run_spec.data.source
    )
    run = registry.get_run(run_id)
    assert run is not None
    shipped.freeze(run.folder, run_spec)
    return run.folder


def ended_run(spec_yaml: str, **facts: Any) -> str:
    """The id of a failed run, or what `facts` (columns of its row) say, that is whole from its first moment: the
    worker of this home could not take it up."""
    run_spec = spec.parse_spec(spec_yaml)
    known = {"name": run_spec.name, "model": run_spec.model.id, "data": run_spec.data.source, "created": time.time()}
    state = {**known, "state": states.FAILED, "sentence": "It failed.", **facts}
    run_id = paths.new_run_id(state["name"])
    draft = paths.home() / f"draft-{run_id}"
    draft.mkdir()
    files.write_whole(draft / "spec.yaml", spec_yaml)
    files.write_json(draft / "state.json", state)
    draft.rename(paths.run_folder(run_id).path)
    repair.adopt_folders()
    return run_id


def ask_db(folder: RunFolder, sql: str, *values: Any) -> list[tuple[Any, ...]]:
    """Rows of a run's record; none while it does not exist yet."""
    try:
        record = db.open_reader(folder.db)
    except sqlite3.OperationalError:
        return []
    try:
        return record.execute(sql, values).fetchall()
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return []
        raise
    finally:
        record.close()


def acknowledged_step(folder: RunFolder) -> int:
    return (ask_db(folder, "SELECT coalesce(max(step), 0) FROM acknowledged") or [(0,)])[0][0]


def state_of(run_id: str) -> str:
    run = registry.get_run(run_id)
    assert run is not None
    return run.state
