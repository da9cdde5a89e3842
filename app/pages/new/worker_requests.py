"""What the page asks the worker: how the data looks to the model, whether TRL takes these settings, one step tried."""

import json
import time
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from groupwise.app.core import worker_process
from groupwise.app.core.errors import Unanswerable
from groupwise.app.pages.new import launch, view
from groupwise.app.pages.new.left_out import LeftOut
from groupwise.storage.home import paths
from groupwise.storage.home.redaction import to_json
from groupwise.storage.registry import questions
from groupwise.storage.registry.messages.build import BuildAnswer
from groupwise.storage.registry.messages.call_rewards import CallRewardsAnswer
from groupwise.storage.registry.messages.data_checks import CheckDataAnswer
from groupwise.storage.registry.messages.dry_run import TryQuestion
from groupwise.storage.registry.messages.message import Answer, Ask, misfit_of
from groupwise.storage.registry.messages.model import ModelAnswer
from groupwise.storage.registry.messages.preview import PreviewAnswer
from groupwise.storage.registry.messages.problem import Failed
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.problem import BLOCKING, WARNING, Problem

# a model: nothing is said of one that stands in
_OF_WHAT_FITS = (questions.BUILD, questions.CHECK_DATA, questions.CALL_REWARDS)


def ask_about_text(
    kind: str, text: str, *, topic: str, row: int | None = None, every: bool = False
) -> tuple[int, LeftOut]:
    """Ask the worker about this text; the question's id, and what of the text is not asked about. `topic`: one open
    page, whose newest question counts. `row`: which one is previewed (see `view.about_data`); `every`: whether all rows
    are checked.

    Raises Unanswerable while the text means no spec, not even in part.
    """
    reading = launch.read_form(text)
    sound = reading.as_checked if kind in _OF_WHAT_FITS else reading.sound
    if sound is None or kind not in questions.ABOUT_SPEC:
        raise Unanswerable("Shown once the problems above are fixed.")
    try:
        question = _question(kind, sound, row, every)
    except ValidationError as error:
        raise Unanswerable(str(misfit_of(error))) from error
    worker_process.wake_worker()
    return questions.ask_question(question, topic=f"{topic}:{kind}"[:100]), reading.left_out


def _question(kind: str, spec: RunSpec, row: int | None, every: bool) -> Ask:
    if kind == questions.PREVIEW:
        return view.about_data(spec, row)
    if kind == questions.CHECK_DATA:
        return view.about_lengths(spec, every=every)
    if kind == questions.CALL_REWARDS:
        asked = view.about_rewards(spec)
        if asked is None:
            raise Unanswerable("No function of your own is chosen.")
        return asked
    return view.about_build(spec) if kind == questions.BUILD else view.about_model(spec)


def ask_to_try(text: str) -> int:
    """Ask for one step to be tried. Raises Unanswerable while the run could not be launched either."""
    spec, problems = launch.spec_and_problems(text)
    if spec is None or problems:
        raise Unanswerable("Fix what blocks the launch first; then one step can be tried.")
    worker_process.wake_worker()
    return questions.ask_question(TryQuestion(text=text))


def trl_problems(spec: RunSpec, question_id: int) -> list[Problem] | None:
    """What TRL itself said to exactly these settings: the problems that block; None where it was not asked, or has
    not answered."""
    question = questions.get_question(question_id)
    if question is None or question.kind != questions.BUILD:
        return None
    answer = question.read_answer()
    if answer is None or question.payload != json.loads(to_json(view.about_build(spec).as_dict())):
        return None
    return _blocking(answer)


@dataclass(frozen=True)
class Confirmed:
    """What the worker said of a spec: problems of every level, and what it has seen of the data (`rows`,
    `prompt_tokens`, `columns`, as a page sends it to `launch.estimates`)."""

    problems: list[Problem]
    known: dict[str, Any]


def confirm(spec: RunSpec, patience: float) -> Confirmed:
    """What only the worker can tell of a spec, waited for: whether TRL takes it, and how its data and its model look.

    Raises Unanswerable, in words, when no answer comes in `patience` seconds, or when what had to answer has failed:
    that is no fault of the spec.
    """
    try:
        wanted: tuple[Ask, ...] = (
            view.about_build(spec), view.about_data(spec), view.about_lengths(spec), view.about_model(spec),
            *filter(None, [view.about_rewards(spec)]),
        )  # fmt: skip
    except ValidationError as error:
        raise Unanswerable(str(misfit_of(error))) from error
    asked = [questions.ask_question(question) for question in wanted]
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        found = [question for one in asked if (question := questions.get_question(one)) is not None]
        answers = {q.kind: answer for q in found if (answer := q.read_answer()) is not None}
        if len(answers) == len(asked):
            said = [_all_problems(kind, answer) for kind, answer in answers.items()]
            return Confirmed(_each_once(said), _known_of_data(answers))
        worker_process.wake_worker()
        time.sleep(0.05)
    raise Unanswerable(f"The worker did not answer in {patience:.0f} s. {paths.worker_log()} may say why.")


def _each_once(said: list[list[Problem]]) -> list[Problem]:
    """What several answers say, each thing as the first of them does: what the first look at the data finds, the check
    of all rows finds again (problem_list.js has the same)."""
    found: list[Problem] = []
    for problems in said:
        blocked = {one.field for one in found if one.level == BLOCKING and one.field}
        known = {(one.field, one.message) for one in found}
        found += [one for one in problems if one.field not in blocked and (one.field, one.message) not in known]
    return found


def _all_problems(kind: str, answer: Answer) -> list[Problem]:
    """What an answer says, of any level. Raises Unanswerable for one that says nothing of the spec, where a run cannot
    be launched without."""
    if not isinstance(answer, Failed):
        asked = (BuildAnswer, PreviewAnswer, CheckDataAnswer, ModelAnswer, CallRewardsAnswer)
        assert isinstance(answer, asked)
        return [one.problem() for one in answer.problems]
    if kind == questions.CALL_REWARDS:  # it only ever warns
        return []
    if answer.problems or answer.field:
        return answer.blocking()
    if kind in (questions.BUILD, questions.PREVIEW):
        own = f"That is a fault of Groupwise, not of the spec. {paths.worker_log()} may say more."
        raise Unanswerable(f"{answer.error} {own}")
    what = "data" if kind == questions.CHECK_DATA else "model"
    return [Problem(what, f"could not be checked: {answer.error}", level=WARNING)]


def _known_of_data(answers: dict[str, Answer]) -> dict[str, Any]:
    known: dict[str, Any] = {}
    preview, checked = answers[questions.PREVIEW], answers[questions.CHECK_DATA]
    if isinstance(preview, PreviewAnswer):
        known = {"rows": preview.rows.count, "columns": [column.name for column in preview.columns]}
    if isinstance(checked, CheckDataAnswer):
        known |= {"sums": checked.sums, "point": checked.point, "tags": checked.tags}
        if checked.rows.exact and checked.checked >= checked.rows.count:
            known["rows"] = checked.usable
        if checked.lengths.unit == "tokens" and checked.checked:
            known["prompt_tokens"] = max(checked.lengths.longest.length, 0)
    return known


def _blocking(answer: Answer) -> list[Problem]:
    """What an answer to BUILD says that keeps a run from being launched."""
    if isinstance(answer, Failed):
        return answer.blocking()
    assert isinstance(answer, BuildAnswer)  # what was asked
    return [one.problem() for one in answer.problems if one.level == BLOCKING]
