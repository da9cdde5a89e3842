"""From a spec's text to a queued run: the last check, the row, and a worker to take it."""

import copy
from dataclasses import dataclass, field, replace
from typing import Any

from groupwise.app.core import worker_process
from groupwise.app.core.errors import Unanswerable
from groupwise.app.pages.new import edits, presets
from groupwise.app.pages.new.preflight.report import Report, report
from groupwise.app.pages.new.yaml_edit import ABSENT
from groupwise.storage.checks.check import examine_spec
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.models import model_files
from groupwise.storage.library.models.model_facts import ModelFacts
from groupwise.storage.library.models.weights import ModelError
from groupwise.storage.registry import registry
from groupwise.storage.spec import spec as specs
from groupwise.storage.spec import yaml_text
from groupwise.storage.spec.problem import BLOCKING, Problem, SpecError
from groupwise.storage.spec.spec import RunSpec

TASK_TOKENS = 16  # of a built-in task's question, until the checks have counted them


@dataclass(frozen=True)
class Reading:
    """What a text means: the spec, where its form is right; else `sound`, the spec without what is wrong, where that
    is one; and everything there is to say about it. `lines`: that of each field."""

    spec: RunSpec | None
    sound: RunSpec | None
    problems: list[Problem]
    lines: dict[str, int] = field(default_factory=dict)


def read_form(text: str) -> Reading:
    """What a text means, with the problems of its form alone: nothing is checked against what is installed."""
    try:
        raw, lines = yaml_text.read_yaml(text)
    except SpecError as error:
        return Reading(None, None, error.problems)
    try:
        spec = specs.from_dict(raw, lines)
        return Reading(spec, spec, [], lines)
    except SpecError as error:
        return Reading(None, _leave_problems_out(raw, error.problems), error.problems, lines)


def check_text(text: str, offer: Offer | None = None, known: Any = None) -> Reading:
    """Read and check a text. Where its form is wrong somewhere, the rest is checked all the same, so that problems do
    not come in waves. `known`: see `problems`."""
    reading = read_form(text)
    if reading.sound is None:
        return reading
    found = examine_spec(reading.sound, offer or Offer.read_published(), reading.lines, _known_columns(known))
    named = {problem.field for problem in reading.problems}
    return replace(reading, problems=[*reading.problems, *(one for one in found if one.field not in named)])


def spec_and_problems(text: str, known: Any = None) -> tuple[RunSpec | None, list[Problem]]:
    """The spec that a text means (None where it means none) and everything that keeps it from running, of what can be
    told without the worker. `known`: what the page's preview has found out: rows, prompt_tokens, columns."""
    offer = Offer.read_published()
    reading = check_text(text, offer, known)
    found = reading.problems + (estimates(reading.sound, offer, known).problems if reading.sound else [])
    return reading.spec, [problem for problem in found if problem.level == BLOCKING]


def estimates(spec: RunSpec, offer: Offer, known: Any = None, *, told: bool = True) -> Report:
    """What the run will do and take. `told`: else only the problems, where nobody sees the rest."""
    sent = known if isinstance(known, dict) else {}
    rows, tokens = (value if _is_count(value := sent.get(name)) else None for name in ("rows", "prompt_tokens"))
    if tokens is None and spec.data.source.startswith("task:"):
        tokens = TASK_TOKENS
    return report(spec, offer, facts_of(spec), rows, tokens, told=told)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def _known_columns(known: Any) -> list[str] | None:
    """The names of the data's columns, where a page has seen them."""
    sent = known.get("columns") if isinstance(known, dict) else None
    return [name[:200] for name in sent[:1000] if isinstance(name, str)] if isinstance(sent, list) and sent else None


def facts_of(spec: RunSpec) -> ModelFacts | None:
    """What is known of the model from its files; None where they are not on this machine, or not sound."""
    folder = model_files.folder_of(spec.model)
    try:
        return model_files.facts(folder) if folder else None
    except ModelError:
        return None


def _leave_problems_out(raw: Any, found: list[Problem]) -> RunSpec | None:
    """The settings without those that have a problem; where one must be there, something stands in for it."""
    if not isinstance(raw, dict):
        return None
    sound = copy.deepcopy(raw)
    for problem in sorted(found, key=lambda problem: problem.field, reverse=True):
        edits.set_value_in(sound, problem.field.split("."), ABSENT)
    try:
        return specs.from_dict({"name": "…", "rewards": [{"name": "format"}], **sound})
    except SpecError:
        return None


def queue_run(text: str, known: Any = None) -> str:
    """Queue a run of this spec, exactly as written; its id. Raises SpecError with all problems, creating nothing."""
    spec, found = spec_and_problems(text, known)
    if spec is None or found:
        raise SpecError(found)
    run_id = registry.create_run(text, name=spec.name, model=spec.model.id, data=spec.data.source)
    worker_process.wake_worker()
    return run_id


def queue_quickstart() -> str:
    """Queue the quickstart; the run's id. Raises Unanswerable."""
    try:
        return queue_run(presets.quickstart_text())
    except SpecError as error:
        raise Unanswerable(f"The quickstart cannot run here: {error}") from error
