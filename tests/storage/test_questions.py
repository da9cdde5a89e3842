"""Questions between app and worker: what is withdrawn, by one or by all that a page asked."""

from __future__ import annotations

from pathlib import Path

from groupwise.storage.registry import questions
from groupwise.storage.registry.messages.data_checks import CheckDataQuestion
from groupwise.storage.registry.messages.problem import Failed
from groupwise.storage.spec.spec import DataSpec


def ask(topic: str) -> int:
    return questions.ask_question(CheckDataQuestion(data=DataSpec()), topic=topic)


def test_of_a_page_that_is_left_what_is_open_goes_and_what_is_worked_on_is_told(registry_home: Path) -> None:
    waits, worked_on, answered, anothers = ask("ab try"), ask("ab rows"), ask("ab model"), ask("ba try")
    assert questions.take_question(worked_on) and questions.take_question(answered)
    questions.answer_question(answered, Failed(error="no"))
    questions.cancel_topic("ab")
    assert questions.get_question(waits) is None
    told, kept, other = (questions.get_question(one) for one in (worked_on, answered, anothers))
    assert told and told.cancelled and kept and not kept.cancelled and other and not other.cancelled
