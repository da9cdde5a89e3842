"""A run that a reward function ended, and a new one like it that has the function as it is saved by now."""

from collections.abc import Iterator
from urllib.parse import urlencode

from groupwise.storage.record import run_files, states
from groupwise.storage.registry.registry import Run


def name_failed_by(run: Run) -> str:
    """The reward function that a run failed by; "" for none."""
    found = run_files.exit_record(run.folder, run.attempt) if run.state == states.FAILED else None
    return str(found.get("function") or "") if found and found.get("cause") == run_files.REWARD else ""


def new_run_with_fix(run: Run, name: str, digest: str) -> str:
    """The address of New run with the settings of a run and this version of the function, which is the newest."""
    sets = [("set", f"{place}.version={digest}") for place in _pinned(run, name)]
    return f"/new?{urlencode([('from', run.id), ('fixed', name), *sets])}"


def _pinned(run: Run, name: str) -> Iterator[str]:
    """The places at which a run's settings name one version of a function: a new run would take that again."""
    spec = run_files.spec_of(run.folder)
    stages = spec.stages if spec else []
    lists = [("rewards", spec.rewards if spec else [])]
    lists += [(f"stages.{number}.rewards", stage.rewards or []) for number, stage in enumerate(stages)]
    for path, rewards in lists:
        for number, reward in enumerate(rewards):
            if reward.name == name and reward.version:
                yield f"{path}.{number}"
