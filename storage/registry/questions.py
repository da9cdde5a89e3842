"""Short questions the app asks and the worker answers: what a dataset looks like, whether TRL takes these settings,
what one step costs. Rows of the registry, like everything that app and worker say to each other."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from groupwise.storage.home.redaction import to_json
from groupwise.storage.registry import registry

if TYPE_CHECKING:  # the models take time to import: whoever asks or answers has those it needs
    from groupwise.storage.registry.messages.message import Answer, Ask, Progress

# What can be asked. Each is a function of its payload, but for TRY, which runs a training step.
PREVIEW, CHECK_DATA, BUILD, MODEL, TRY = "preview", "check_data", "build", "model", "try"
CALL_REWARDS = "call_rewards"
ABOUT_SPEC = (PREVIEW, CHECK_DATA, BUILD, MODEL, CALL_REWARDS)  # while it is edited
COMPLETIONS, SCORE, RESCORE = "completions", "score", "rescore"  # the reward workbench
KEPT = 3600.0  # seconds an answered question stays readable


@dataclass(frozen=True)
class Question:
    """One question, as its row has it: `payload`, `progress` and `answer` are plain values that nobody has looked at,
    the latter two None until there is something. `read_question` and `read_answer` say what they mean."""

    id: int
    kind: str
    payload: dict[str, Any]
    taken: bool = False
    cancelled: bool = False
    progress: dict[str, Any] | None = None
    answer: dict[str, Any] | None = None
    asked_at: float = 0.0  # seconds since 1970

    def read_question(self) -> Ask:
        """What is asked. Raises messages.message.Misfit where it is no question of its kind."""
        from groupwise.storage.registry.messages import kinds

        return kinds.question(self.kind, self.payload)

    def read_answer(self) -> Answer | None:
        """What the worker said: messages.problem.Failed where it could not answer, None where it has not yet."""
        from groupwise.storage.registry.messages import kinds

        return None if self.answer is None else kinds.answer(self.kind, self.answer)


def ask_question(question: Ask, *, topic: str = "") -> int:
    """Ask; the question's id. What the same topic (one field of one open page, say) asked before and nobody took up
    yet is withdrawn: only its newest question matters."""
    now = time.time()
    with registry.write_registry() as db:
        db.execute("DELETE FROM question WHERE answered_at < ? OR asked_at < ?", [now - KEPT, now - 24 * KEPT])
        if topic:
            db.execute("DELETE FROM question WHERE topic = ? AND taken_at IS NULL AND answered_at IS NULL", [topic])
        row = {"kind": question.kind, "topic": topic, "payload": to_json(question.as_dict()), "asked_at": now}
        cursor = db.execute(
            "INSERT INTO question (kind, topic, payload, asked_at) VALUES (:kind, :topic, :payload, :asked_at)", row
        )
        return int(cursor.lastrowid or 0)


def get_question(question_id: int) -> Question | None:
    """The question as it stands; None where it was withdrawn or is long answered."""
    with registry.read_registry() as db:
        rows = list(db.query(f"{_SELECT} WHERE id = ?", [question_id]))
    return _question(rows[0]) if rows else None


def count_before(question: Question) -> int:
    """How many of its kind were asked before it, and are not answered yet: they are answered one after another."""
    with registry.read_registry() as db:
        sql = "SELECT count(*) AS n FROM question WHERE kind = ? AND id < ? AND answered_at IS NULL"
        return int(next(iter(db.query(sql, [question.kind, question.id])))["n"])


def answered_questions(kind: str, most: int) -> list[Question]:
    """The newest questions of a kind that are answered, the newest first."""
    with registry.read_registry() as db:
        rows = db.query(f"{_SELECT} WHERE kind = ? AND answer IS NOT NULL ORDER BY id DESC LIMIT ?", [kind, most])
        return [_question(row) for row in rows]


def open_ones() -> list[Question]:
    """What nobody has taken up yet, oldest first."""
    with registry.read_registry() as db:
        rows = db.query(f"{_SELECT} WHERE taken_at IS NULL AND answered_at IS NULL ORDER BY id")
        return [_question(row) for row in rows]


def is_any_open(*, but: str) -> bool:
    """Whether there is a question that nobody has taken up yet, of another kind than this."""
    with registry.read_registry() as db:
        sql = "SELECT 1 FROM question WHERE taken_at IS NULL AND answered_at IS NULL AND kind != ? LIMIT 1"
        return db.execute(sql, [but]).fetchone() is not None


def abandoned_questions() -> list[Question]:
    """What was taken up and never answered: by a process that is gone, when a new one asks."""
    with registry.read_registry() as db:
        return [_question(row) for row in db.query(f"{_SELECT} WHERE taken_at IS NOT NULL AND answered_at IS NULL")]


def take_question(question_id: int) -> bool:
    """Take a question up; whether it was still there to be taken."""
    with registry.write_registry() as db:
        cursor = db.execute(
            "UPDATE question SET taken_at = ? WHERE id = ? AND taken_at IS NULL", [time.time(), question_id]
        )
        return cursor.rowcount == 1


def set_progress(question_id: int, progress: Progress) -> None:
    """Note how far the answer to a question is."""
    with registry.write_registry() as db:
        db.execute("UPDATE question SET progress = ? WHERE id = ?", [to_json(progress.as_dict()), question_id])


def answer_question(question_id: int, answer: Answer) -> None:
    """Answer; the first answer stays."""
    with registry.write_registry() as db:
        db.execute(
            "UPDATE question SET answer = ?, answered_at = ? WHERE id = ? AND answered_at IS NULL",
            [to_json(answer.as_dict()), time.time(), question_id],
        )


def cancel_question(question_id: int) -> None:
    """Say that nobody waits for the answer any more: at once where it was not taken up, else whoever works on it
    stops as soon as it looks."""
    with registry.write_registry() as db:
        db.execute("DELETE FROM question WHERE id = ? AND taken_at IS NULL", [question_id])
        db.execute("UPDATE question SET cancelled_at = ? WHERE id = ?", [time.time(), question_id])


def cancel_topic(begins: str) -> None:
    """The same of all that is not answered yet and whose topic begins so."""
    its = "answered_at IS NULL AND substr(topic, 1, ?) = ?"
    with registry.write_registry() as db:
        db.execute(f"DELETE FROM question WHERE taken_at IS NULL AND {its}", [len(begins), begins])
        db.execute(f"UPDATE question SET cancelled_at = ? WHERE {its}", [time.time(), len(begins), begins])


_SELECT = "SELECT id, kind, payload, taken_at, cancelled_at, progress, answer, asked_at FROM question"


def _question(row: dict[str, Any]) -> Question:
    return Question(
        row["id"], row["kind"], json.loads(row["payload"]), row["taken_at"] is not None,
        row["cancelled_at"] is not None, json.loads(row["progress"] or "null"), json.loads(row["answer"] or "null"),
        row["asked_at"],
    )  # fmt: skip
