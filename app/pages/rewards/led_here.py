"""Why a person comes from a run to its reward functions: the verdict whose change leads here, or the failure of one;
and the way on, once that is fixed."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from groupwise.app.pages.run import doctor
from groupwise.app.ui.live import Payload, answer, run_of, text
from groupwise.app.ui.safe_text import visible_text
from groupwise.storage.record import run_files, states
from groupwise.storage.registry.registry import Run


@answer
def verdict_of_run(payload: Payload) -> dict[str, Any]:
    """The run's name with the title and the words of its `verdict` of this key, as its Overview has them, and what it
    proposes that needs no code (`without_code`); nothing where it has none by now."""
    run = run_of(payload)
    told = doctor.drawn_verdict(run, text(payload, "verdict", 40))
    if told is None:
        return {}
    title = told["title"] + ("" if told["title"].endswith("?") else ".")
    settings = [one for one in told["changes"] if one["to"] == "New run" and "choose" not in one]
    return {"run": visible_text(run.name), "title": title, "words": told["sentence"], "without_code": settings}


@answer
def corrected_run(payload: Payload) -> dict[str, Any]:
    """Where a new run with the settings of a run begins that the function `name` ended, which is saved as `hash` now:
    {run: its name, go}; nothing for a run that ended otherwise."""
    run, name, digest = run_of(payload), text(payload, "name", 200), text(payload, "hash", 64)
    if not name or _failed_by(run) != name:
        return {}
    sets = [("set", f"{place}.version={digest}") for place in _pinned(run, name)]
    return {"run": visible_text(run.name), "go": f"/new?{urlencode([('from', run.id), ('fixed', name), *sets])}"}


def _failed_by(run: Run) -> str:
    """The reward function that a run failed by; "" for none."""
    found = run_files.exit_record(run.folder, run.attempt) if run.state == states.FAILED else None
    return str(found.get("function") or "") if found and found.get("cause") == run_files.REWARD else ""


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
