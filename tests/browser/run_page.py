"""A run's page in browser tests: runs that ended, with checkpoints."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from groupwise.storage.home import files, paths
from groupwise.storage.record import states
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Checkpoint
from groupwise.storage.registry import registry
from tests.support.made_runs import made_run
from tests.support.records import seal_checkpoint


def ended(name: str, sentence: str, state: str = states.FAILED, *, saved: int = 0, **record: Any) -> str:
    """A run that ended so, with the exit record that its process left."""
    run_id = made_run(name, 40, groups=1, size=2, state=state)
    registry.set_state(run_id, state, sentence)
    run = registry.get_run(run_id)
    assert run is not None
    if record:
        known = {"attempt": run.attempt, "outcome": "failed", "step": 12, "planned": 40}
        files.write_json(run.folder.exit, known | record)
    if saved:
        with_checkpoint(run_id, saved)
    return run_id


def with_checkpoint(run_id: str, *steps: int) -> None:
    folder = paths.run_folder(run_id)
    writer = RunWriter(folder.db, 1, {"format": 1.0, "correctness": 2.0})
    for step in steps:
        place = seal_checkpoint(folder.checkpoints / f"checkpoint-{step}")
        size = sum(path.stat().st_size for path in place.iterdir())
        writer.commit(step, checkpoint=Checkpoint(step, f"checkpoints/checkpoint-{step}", size))
    writer.close()


def head(page: Page) -> Any:
    return page.locator(".gw-header")
