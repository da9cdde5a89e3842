"""Questions in tests: ask one, wait for its answer, and see who works on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.homes import wait_for
from storage import questions


def ask(kind: str, payload: dict[str, Any], seconds: float = 90.0) -> dict[str, Any]:
    """The answer to a question."""
    return answer_of(questions.ask(kind, payload), seconds)


def answer_of(question_id: int, seconds: float = 90.0) -> dict[str, Any]:
    def answered() -> questions.Question | None:
        question = questions.get(question_id)
        return question if question is not None and question.answer is not None else None

    found = wait_for(f"the answer to question {question_id}", answered, seconds).answer
    assert isinstance(found, dict)
    return found


def taken(question_id: int) -> bool:
    question = questions.get(question_id)
    return question is not None and question.taken


def children(pid: int) -> set[int]:
    """The living children of a process."""
    return {int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}
