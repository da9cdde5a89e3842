"""What the page asks the worker: how the data looks to the model, whether TRL takes these settings, one step tried."""

import json
import time

from pydantic import ValidationError

from groupwise.app.core import worker_process
from groupwise.app.core.errors import Unanswerable
from groupwise.app.pages.new import launch, view
from groupwise.storage.home import paths
from groupwise.storage.home.redaction import to_json
from groupwise.storage.registry import questions
from groupwise.storage.registry.messages.build import BuildAnswer
from groupwise.storage.registry.messages.dry_run import TryQuestion
from groupwise.storage.registry.messages.message import Answer, Ask, misfit_of
from groupwise.storage.registry.messages.preview import PreviewAnswer
from groupwise.storage.registry.messages.problem import Failed
from groupwise.storage.spec.problem import BLOCKING, Problem
from groupwise.storage.spec.spec import RunSpec


def ask_about_text(kind: str, text: str, *, topic: str, row: int = 0, every: bool = False) -> int:
    """Ask the worker about this text; the question's id. `topic`: one open page, whose newest question counts. `row`:
    which one is previewed; `every`: whether all rows are checked.

    Raises Unanswerable while the text means no spec, not even in part.
    """
    sound = launch.read_form(text).sound
    if sound is None or kind not in questions.ABOUT_SPEC:
        raise Unanswerable("This is known as soon as the problems above are mended.")
    try:
        question = _question(kind, sound, row, every)
    except ValidationError as error:
        raise Unanswerable(str(misfit_of(error))) from error
    worker_process.wake_worker()
    return questions.ask_question(question, topic=f"{topic}:{kind}"[:100])


def _question(kind: str, spec: RunSpec, row: int, every: bool) -> Ask:
    if kind == questions.PREVIEW:
        return view.about_data(spec, row)
    if kind == questions.CHECK_DATA:
        return view.about_lengths(spec, every=every)
    return view.about_build(spec) if kind == questions.BUILD else view.about_model(spec)


def ask_to_try(text: str) -> int:
    """Ask for one step to be tried. Raises Unanswerable while the run could not be launched either."""
    spec, problems = launch.spec_and_problems(text)
    if spec is None or problems:
        raise Unanswerable("Mend what blocks the launch first; then one step can be tried.")
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


def confirm(spec: RunSpec, patience: float) -> list[Problem]:
    """What only the worker can tell of a spec, waited for: what TRL itself does not take, and what is wrong with the
    data. The problems that block. Raises Unanswerable, in words, when no answer comes in `patience` seconds."""
    asked = [questions.ask_question(view.about_build(spec)), questions.ask_question(view.about_data(spec))]
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        found = [question for one in asked if (question := questions.get_question(one)) is not None]
        answers = [answer for question in found if (answer := question.read_answer()) is not None]
        if len(answers) == len(asked):
            return [problem for answer in answers for problem in _blocking(answer)]
        worker_process.wake_worker()
        time.sleep(0.05)
    raise Unanswerable(f"The worker said nothing in {patience:.0f} s. {paths.worker_log()} may say why.")


def _blocking(answer: Answer) -> list[Problem]:
    """What an answer says that keeps a run from being launched."""
    if isinstance(answer, Failed):
        return answer.blocking()
    assert isinstance(answer, (BuildAnswer, PreviewAnswer))  # what was asked
    return [one.problem() for one in answer.problems if one.level == BLOCKING]
