"""Which reward function says what is right in a run, one answer for all its tabs."""

from groupwise.storage.library import right
from groupwise.storage.record import record_check, run_files
from groupwise.storage.record.group_metrics import Target
from groupwise.storage.registry import registry


def solver(run: registry.Run, stage: int) -> Target | None:
    """The reward function that says whether a completion is right in the stage of this number, and the score from which
    on it is; None where none does, the run does not bear it out, or its spec cannot be read."""
    spec = run_files.spec_of(run.folder)
    if spec is None:
        return None
    with record_check.read_record(run.folder.db) as record:
        return right.target_borne_out(record, spec, stage, run.folder.rewards)
