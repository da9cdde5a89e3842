"""How far the answer to a question is, said while it is worked out: a hand answers one question at a time."""

import logging
import sqlite3
import time

from groupwise.storage.registry import questions
from groupwise.storage.registry.messages.message import Progress

log = logging.getLogger("groupwise.questions")
EVERY = 0.2  # seconds between what is said, and before the first: most answers come sooner
_question: int | None = None
_said_at = 0.0


def about(question_id: int | None) -> None:
    """Name the question that is worked on from now on."""
    global _question, _said_at
    _question, _said_at = question_id, time.monotonic()


def report(sentence: str, done: int | None = None, total: int | None = None, *, at_once: bool = False) -> None:
    """Say how far it is, now and then, or `at_once` before what takes long; nothing where no question is asked (a
    test, a measurement)."""
    global _said_at
    if _question is None or (time.monotonic() - _said_at < EVERY and not at_once):
        return
    _said_at = time.monotonic()
    try:
        questions.set_progress(_question, Progress(sentence=sentence, done=done, total=total))
    except sqlite3.Error as error:  # nobody's answer depends on it
        log.warning("the progress could not be said: %s", error)
