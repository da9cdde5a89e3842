"""From a spec's text to a queued run: the last check, the row, and a worker to take it."""

from __future__ import annotations

import contextlib
from pathlib import Path

from app import supervision
from app.components.live import Unanswerable
from storage import registry
from storage import spec as specs
from storage.check import Offer, check
from storage.spec import Problem, RunSpec, SpecError

PRESETS = Path(__file__).parents[1] / "presets"


def preset(name: str = "quickstart") -> str:
    """A preset's YAML. Raises KeyError for a name there is none of."""
    known = {path.stem: path for path in PRESETS.glob("*.yaml")}
    return known[name].read_text(encoding="utf-8")


def problems(text: str) -> tuple[RunSpec | None, list[Problem]]:
    """The spec that a text means (None where it means none) and everything that keeps it from running."""
    try:
        spec = specs.parse(text)
    except SpecError as error:
        return None, error.problems
    return spec, check(spec, Offer.published(), specs.line_numbers(text))


def start(text: str) -> str:
    """Queue a run of this spec, exactly as written; its id. Raises SpecError with all problems, creating nothing."""
    spec, found = problems(text)
    if spec is None or found:
        raise SpecError(found)
    run_id = registry.create(text, name=spec.name, model=spec.model.id, data=spec.data.source)
    wake_worker()
    return run_id


def quickstart() -> str:
    """Queue the quickstart; the run's id. Raises Unanswerable."""
    try:
        return start(preset())
    except SpecError as error:
        raise Unanswerable(f"The quickstart cannot run here: {error}") from error


def wake_worker() -> None:
    """Make sure a worker is there to take up what was asked.

    Where none can be started now, what was asked stays asked: the app keeps trying, and the bar on top says so.
    """
    with contextlib.suppress(OSError):
        supervision.ensure_worker()
