"""What became of a question to the worker: its answer, or how far it is. Pages ask for it until it is there."""

import time
from typing import Any

from groupwise.app.core import worker_process
from groupwise.app.pages.new import view
from groupwise.app.pages.new.left_out import LeftOut, read_left_out
from groupwise.app.ui.live import Payload, answer, text, whole_number
from groupwise.storage.home import paths
from groupwise.storage.registry import questions
from groupwise.storage.registry.messages.build import BuildAnswer
from groupwise.storage.registry.messages.call_rewards import CallRewardsAnswer
from groupwise.storage.registry.messages.data_checks import CheckDataAnswer
from groupwise.storage.registry.messages.message import Answer
from groupwise.storage.registry.messages.model import ModelAnswer
from groupwise.storage.registry.messages.preview import PreviewAnswer
from groupwise.storage.registry.messages.problem import Failed, messages_of
from groupwise.storage.spec.words.number_words import count_words

PATIENCE = 4.0  # seconds after which it is said why nobody took a question up
LONG = 45.0  # seconds after which that is no longer usual
LASTING = (questions.TRY, questions.COMPLETIONS, questions.SCORE, questions.RESCORE)  # what others wait behind
# What the worker does with a question of each kind, until it says how far it is.
DOING = {
    questions.PREVIEW: "Reading the data…",
    questions.CHECK_DATA: "Checking the rows…",
    questions.BUILD: "Checking the settings with TRL…",
    questions.MODEL: "Reading the model's files…",
    questions.CALL_REWARDS: "Checking the rewards…",
    questions.TRY: "Loading the libraries…",
    questions.COMPLETIONS: "Preparing the completions…",
    questions.SCORE: "Scoring…",
    questions.RESCORE: "Reading the run's completions…",
}


@answer
def read_answer(payload: Payload) -> dict[str, Any]:
    """What became of a question: {answer}, or {waiting: a sentence, done, total (None: not known)}; {gone: true} where
    it was withdrawn. `left_out`, as it came with the question: what is said is placed in the text with it."""
    question = questions.get_question(whole_number(payload, "question"))
    if question is None:
        return {"gone": True}
    said = question.read_answer()
    if said is not None:
        return {"answer": view.json_value(_place_answer(said, read_left_out(payload.get("left_out"))).as_dict())}
    so_far = question.progress or {}
    # what was said of it while the libraries were loading is over once they are, also where it still waits
    says = so_far.get("sentence") if question.taken or worker_process.loads_libraries() else None
    words = str(says or _waiting_sentence(question))
    return {"waiting": words, "done": so_far.get("done"), "total": so_far.get("total")}


def _place_answer(said: Answer, out: LeftOut) -> Answer:
    """An answer about the rest of a spec, with what it says at the places of the text."""
    changed: dict[str, Any] = {}
    if isinstance(said, (BuildAnswer, PreviewAnswer, CheckDataAnswer, ModelAnswer, CallRewardsAnswer, Failed)):
        changed["problems"] = messages_of(out.problems_as_written(one.problem() for one in said.problems))
    if isinstance(said, Failed):
        changed["field"] = out.path_as_written(said.field)
    return said.model_copy(update=changed) if out.paths else said


@answer
def cancel_question(payload: Payload) -> dict[str, Any]:
    """Withdraw a question, such as a try of one step, that nobody waits for any more."""
    questions.cancel_question(whole_number(payload, "question"))
    return {"cancelled": True}


@answer
def cancel_all(payload: Payload) -> dict[str, Any]:
    """Withdraw all that a page asked, as it is left: what it asks has a topic that begins with its own."""
    topic = text(payload, "topic", 40)
    if topic:
        questions.cancel_topic(topic)
    return {"cancelled": bool(topic)}


def _waiting_sentence(question: questions.Question) -> str:
    """What is being done for a question that does not say so itself; after a while why it waits, and what to do."""
    waited = time.time() - question.asked_at
    if question.taken:
        return DOING[question.kind]
    before = questions.count_before(question)
    if waited < PATIENCE:
        return _words_at_first(question.kind, before)
    is_try = question.kind == questions.TRY  # which the worker starts itself
    if not worker_process.worker_lives():
        why = "The worker is still starting, which takes longer on a busy machine"
    elif not is_try and worker_process.loads_libraries():
        why = "The worker is loading its libraries, which takes longer on a busy machine"
    elif before:
        why = _waiting_for(before)
    else:
        why = "The worker does not answer yet, which takes longer on a busy machine"
    advice = f" If it stays so, {paths.worker_log()} may say why." if waited > LONG else ""
    return f"{why}. Nothing is lost: it continues by itself.{advice}"


def _words_at_first(kind: str, before: int) -> str:
    """What is said of a question that was just asked: of those that take a moment only, none is waited for visibly."""
    if not worker_process.worker_lives():
        return "Starting the worker…"
    return f"{_waiting_for(before)}." if before and kind in LASTING else DOING[kind]


def _waiting_for(before: int) -> str:
    return f"Waiting for {count_words(before, 'other task')} of the worker"
