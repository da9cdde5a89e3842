"""What the page asks the worker: how the data looks to the model, whether TRL takes these settings, one step tried."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from groupwise.app.pages.new import launch, view
from groupwise.storage.home import paths
from groupwise.storage.registry import questions
from groupwise.storage.spec.problem import BLOCKING, Problem
from groupwise.storage.spec.spec import RunSpec

KINDS: dict[str, Callable[[RunSpec], dict[str, Any]]] = {
    questions.PREVIEW: view.about_data,
    questions.CHECK_DATA: view.about_lengths,
    questions.BUILD: view.about_build,
    questions.MODEL: lambda spec: {"model": spec.model.model_dump()},
}


class CannotAsk(Exception):
    """The question has no sense as things are; the message says why."""


def ask(kind: str, text: str, *, topic: str, **more: Any) -> int:
    """Ask the worker about this text; the question's id. `topic`: one open page, whose newest question counts.

    Raises CannotAsk while the text means no spec, not even in part.
    """
    sound = launch.read_form(text).sound
    if sound is None or kind not in KINDS:
        raise CannotAsk("This is known as soon as the problems above are mended.")
    payload = KINDS[kind](sound) | more
    launch.wake_worker()
    return questions.ask(kind, payload, topic=f"{topic}:{kind}"[:100])


def ask_to_try(text: str) -> int:
    """Ask for one step to be tried. Raises CannotAsk while the run could not be launched either."""
    spec, problems = launch.problems(text)
    if spec is None or problems:
        raise CannotAsk("Mend what blocks the launch first; then one step can be tried.")
    launch.wake_worker()
    return questions.ask(questions.TRY, {"text": text})


def built(spec: RunSpec, question_id: int) -> list[dict[str, Any]] | None:
    """What TRL itself said to exactly these settings: the problems that block; None where it was not asked, or has
    not answered."""
    question = questions.get(question_id)
    if question is None or question.kind != questions.BUILD or question.answer is None:
        return None
    if question.payload != _as_sent(view.about_build(spec)):
        return None
    if "error" in question.answer:
        return [{"field": "", "message": str(question.answer["error"]), "level": BLOCKING, "fixes": []}]
    return [problem for problem in question.answer.get("problems", []) if problem.get("level") == BLOCKING]


def confirm(spec: RunSpec, patience: float) -> list[Problem]:
    """What only the worker can tell of a spec, waited for: what TRL itself does not take, and what is wrong with the
    data. The problems that block. Raises CannotAsk, in words, when no answer comes in `patience` seconds."""
    asked = [
        questions.ask(questions.BUILD, view.about_build(spec)),
        questions.ask(questions.PREVIEW, {**view.about_data(spec), "row": 0}),
    ]
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        answers = [question.answer for one in asked if (question := questions.get(one)) and question.answer is not None]
        if len(answers) == len(asked):
            return [problem for answer in answers for problem in _blocking(answer)]
        launch.wake_worker()
        time.sleep(0.05)
    raise CannotAsk(f"The worker said nothing in {patience:.0f} s. {paths.worker_log()} may say why.")


def _blocking(answer: dict[str, Any]) -> list[Problem]:
    said = answer.get("problems") or []
    if "error" in answer and not said:
        return [Problem(str(answer.get("field") or ""), str(answer["error"]))]
    return [Problem(str(one["field"]), str(one["message"])) for one in said if one.get("level") == BLOCKING]


def _as_sent(payload: dict[str, Any]) -> Any:
    return json.loads(json.dumps(payload))
