"""What became of a question to the worker: its answer, or how far it is. Pages ask for it until it is there."""

from typing import Any

from groupwise.app.pages.new import view
from groupwise.app.ui.live import Payload, answer, whole_number
from groupwise.storage.home import locks, paths
from groupwise.storage.registry import questions


@answer
def read_answer(payload: Payload) -> dict[str, Any]:
    """What became of a question: {answer}, or {waiting: a sentence, done, total (None: not known)}; {gone: true} where
    it was withdrawn."""
    question = questions.get_question(whole_number(payload, "question"))
    if question is None:
        return {"gone": True}
    said = question.read_answer()
    if said is not None:
        return {"answer": view.json_value(said.as_dict())}
    so_far = question.progress or {}
    words = str(so_far.get("sentence") or _waiting_sentence(question))
    return {"waiting": words, "done": so_far.get("done"), "total": so_far.get("total")}


@answer
def cancel_question(payload: Payload) -> dict[str, Any]:
    """Withdraw a question, such as a try of one step, that nobody waits for any more."""
    questions.cancel_question(whole_number(payload, "question"))
    return {"cancelled": True}


def _waiting_sentence(question: questions.Question) -> str:
    if question.taken:
        return "The worker is at it…"
    return "Waiting for the worker…" if locks.is_held(paths.supervisor_lock()) else "The worker is starting…"
