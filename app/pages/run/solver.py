"""Which reward function says what is right in a run, one answer for all its tabs."""

from groupwise.storage.library import right
from groupwise.storage.record import group_metrics, groups, record_check, run_files
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


def solved_criterion(run: registry.Run, functions: list[str]) -> tuple[str, float]:
    """The function and the score that say whether a completion is right, in the stage that trains now: “” where each
    looks at form alone, or it scores by another scale; where the spec cannot be read, or names none that has scored,
    the last that does not."""
    spec = run_files.spec_of(run.folder)
    stage = groups.newest_stage(run.folder.db)
    target = group_metrics.target_of_stage(spec, stage) if spec else None
    if target and (target[0] in functions or not functions):
        return solver(run, stage) or ("", group_metrics.SOLVED)
    able = [] if spec and not target else [name for name in functions if name not in group_metrics.OF_FORM]
    return (able[-1] if able else ""), group_metrics.SOLVED
