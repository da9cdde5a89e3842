"""Questions in tests: ask one, wait for its answer, and see who works on it."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.home import paths
from groupwise.storage.registry import questions, registry
from groupwise.storage.registry.messages.message import Ask
from tests.support.homes import PATIENCE, wait_for

Warm = tuple[Path, "subprocess.Popen[bytes]"]


@contextlib.contextmanager
def warm_server(place: Path, kind: str, payload: dict[str, Any], code: str = "server.main()") -> Iterator[Warm]:
    """A home with a question server that has answered this question, for all tests of a file: warming takes seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUPWISE_HOME", str(place))
        paths.prepare()
        registry.open_registry()
        begin = (
            "import sys; from groupwise.storage.spec.rows import patterns; "
            f"from groupwise.worker.questions import server; sys.exit({code})"
        )
        process = subprocess.Popen([sys.executable, "-c", begin])
        try:
            assert "error" not in ask(kind, payload)
            yield place, process
        finally:
            process.kill()
            process.wait()


def ask(kind: str, payload: dict[str, Any], seconds: float = PATIENCE) -> dict[str, Any]:
    """The answer to a question."""
    return answer_of(put(kind, payload), seconds)


def put(kind: str, payload: Any, topic: str = "") -> int:
    """A question as any version might have put it there, sound or not; its id."""

    class Put(Ask):
        def as_dict(self) -> Any:
            return payload

    Put.kind = kind
    return questions.ask_question(Put(), topic=topic)


def answer_of(question_id: int, seconds: float = PATIENCE) -> dict[str, Any]:
    def answered() -> questions.Question | None:
        question = questions.get_question(question_id)
        return question if question is not None and question.answer is not None else None

    found = wait_for(f"the answer to question {question_id}", answered, seconds).answer
    assert isinstance(found, dict)
    return found


def taken(question_id: int) -> bool:
    question = questions.get_question(question_id)
    return question is not None and question.taken


def children(pid: int) -> set[int]:
    """The living children of a process."""
    return {int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}
