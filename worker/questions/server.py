"""Answers the app's short questions: `python -m groupwise.worker.questions.server`, a warm process that the supervisor
keeps.

It imports what answers need once, and forks a hand per kind of question from itself (worker.questions.answer_process).
So a question that hangs, grows or crashes costs one hand, which is forked anew in milliseconds, and a long question
holds up no other kind.
"""

import contextlib
import logging
import os
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from groupwise.storage.home import locks, logs, paths, process_log
from groupwise.storage.home.large_imports import no_collections
from groupwise.storage.home.process import go_with
from groupwise.storage.registry import questions, registry
from groupwise.storage.registry.messages import kinds
from groupwise.storage.registry.messages.message import Answer, Misfit, Plain
from groupwise.storage.registry.messages.problem import Failed
from groupwise.storage.registry.questions import (
    BUILD,
    CALL_REWARDS,
    CHECK_DATA,
    COMPLETIONS,
    MODEL,
    PREVIEW,
    RESCORE,
    SCORE,
    Question,
)
from groupwise.worker.questions.answer_process import Hand
from groupwise.worker.questions.workbench.request import Refused

log = logging.getLogger("groupwise.questions")

KINDS = (PREVIEW, CHECK_DATA, BUILD, MODEL, CALL_REWARDS, COMPLETIONS, SCORE, RESCORE)
# What works through a lot, waits for functions that have time limits of their own, or loads a model's weights.
LONG = (COMPLETIONS, SCORE, RESCORE)
POLL = 0.01  # seconds between looks at the registry file's time
REST, RESTED_AFTER = 0.05, 10.0  # … and how many, once nothing was asked for so many seconds
MIND = 0.05  # seconds between looks at a busy hand
LOOK_ANYWAY = 0.5  # seconds after which the registry is read though its time has not changed
YOUNG = 20_000_000  # ns: a file changed so shortly before it was read may have changed again in the same clock tick
LONGEST = {"default": 60.0, "all": 300.0}  # seconds an answer may take; one about all rows, or a model, gets more
GROWTH = 2 * 2**30  # bytes of memory a hand may take beyond what it was forked with
ROOM = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4  # the same for one that loads a model
IDLE = 600.0  # seconds without a question after which it leaves
GONE = Failed(error="The helper process ended before it could answer. Try again.")
CANCELLED = Failed(error="Cancelled.")
TOO_LONG = Failed(error="This took too long and was stopped. Ask for less: fewer rows, a simpler pattern.")


def lock() -> Path:
    """Held by the one question server of this home for as long as it lives."""
    return paths.questions_lock()


def answer_question(kind: str, payload: Plain) -> Plain:
    """The answer to a question of one kind, worked out in this process; both as JSON holds them."""
    try:
        question = kinds.question(kind, payload)
    except Misfit as error:
        return Failed.of(error).as_dict()
    try:
        return _import_answerer(kind)(question).as_dict()
    except Refused as error:
        return Failed(error=str(error), field=error.field).as_dict()


def _import_answerer(kind: str) -> Callable[[Any], Answer]:
    """What answers this kind; imported only when it is wanted, so that one that is broken breaks no other."""
    if kind == PREVIEW:
        from groupwise.worker.data.preview import answer_preview

        return answer_preview
    if kind == CHECK_DATA:
        from groupwise.worker.data.data_checks import answer_data_checks

        return answer_data_checks
    if kind == BUILD:
        from groupwise.worker.questions.build import answer_build

        return answer_build
    if kind == CALL_REWARDS:
        from groupwise.worker.questions.call_rewards import answer_call_rewards

        return answer_call_rewards
    if kind == COMPLETIONS:
        from groupwise.worker.questions.workbench.completions import answer_completions

        return answer_completions
    if kind == SCORE:
        from groupwise.worker.questions.workbench.score import answer_score

        return answer_score
    if kind == RESCORE:
        from groupwise.worker.questions.workbench.rescore import answer_rescore

        return answer_rescore
    from groupwise.worker.questions.describe_model import answer_model

    return answer_model


def warm_up() -> None:
    """Import what answers need, so that hands are forked with it."""
    from transformers import AutoConfig, AutoTokenizer  # noqa: F401
    from transformers import logging as chatter

    chatter.set_verbosity_error()  # what is wrong is said at the field; the log is read by people
    for kind in KINDS:
        try:
            _import_answerer(kind)
        except Exception:  # its questions will be answered with the reason
            log.exception("%s cannot be answered", kind)
    answer_question(BUILD, {"spec": {"name": "warm", "rewards": [{"name": "format"}]}})


def _prefer_others() -> None:
    """When memory runs out, let the system end this before a training."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500")


class QuestionServer:
    """Holds no truth: a question is the registry's, and taken once, so none can end two question servers."""

    def __init__(self) -> None:
        self.hands: dict[str, Hand] = {}
        self.asked_at = time.monotonic()
        self.supervisor = os.getppid()
        self.leaving = False
        self._unsaid: list[tuple[int, Answer]] = []  # answers that the registry has not taken yet
        self._read: tuple[int, int] | None = None  # the registry file and its time when it was last read
        self._read_at = self._minded_at = 0.0

    def run(self) -> None:
        """Until told to leave, idle, or without its supervisor; what is under way then is answered with an error."""
        try:
            while not self.leaving:
                self.turn()
                idle = not self._busy() and time.monotonic() - self.asked_at > IDLE
                self.leaving = self.leaving or idle or os.getppid() != self.supervisor
        finally:
            for hand in self._busy():
                self._drop(hand, GONE)
            self._send_answers()

    def turn(self) -> None:
        """Wait a moment, or until a hand is done; then see to everything."""
        try:
            done = self._wait()
            for hand in done:
                self._finish(hand)
            if self._busy() and time.monotonic() - self._minded_at > MIND:
                self._minded_at = time.monotonic()
                self._watch_busy_hands()
            self._send_answers()
            if done or self._has_changed():
                self._take_up()
        except (sqlite3.Error, OSError) as error:
            log.warning("the registry could not be used this time: %s", error)
            time.sleep(LOOK_ANYWAY)

    def _wait(self) -> list[Hand]:
        """The hands that have answered, or are gone, after a moment at most."""
        busy = self._busy()
        if not busy:
            time.sleep(POLL if time.monotonic() - self.asked_at < RESTED_AFTER else REST)
            return []
        ready = wait([hand.connection for hand in busy], timeout=POLL)
        return [hand for hand in busy if hand.connection in ready]

    def _busy(self) -> list[Hand]:
        return [hand for hand in self.hands.values() if hand.question is not None]

    def _has_changed(self) -> bool:
        """Whether someone wrote to the registry since it was last read, by the file's time; true now and then anyway:
        a write in the same tick of the clock as our reading leaves no trace."""
        now, status = time.monotonic(), paths.registry_path().stat()
        mark = status.st_ino, status.st_mtime_ns
        if mark == self._read and now - self._read_at < LOOK_ANYWAY:
            return False
        self._read_at = now
        self._read = None if time.time_ns() - status.st_mtime_ns < YOUNG else mark
        return True

    def _take_up(self) -> None:
        """Give each kind's free hand its oldest question. What waits stays open: a newer one may replace it."""
        for question in questions.open_ones():
            hand = self.hands.get(question.kind)
            if (
                question.kind in KINDS
                and (hand is None or hand.question is None)
                and questions.take_question(question.id)
            ):
                self.asked_at = time.monotonic()
                self._give(question)

    def _give(self, question: Question) -> None:
        hand = self.hands.get(question.kind)
        if hand is None or not hand.lives():
            hand = self.hands[question.kind] = Hand(answer_question)
        about_all = question.kind == CHECK_DATA and question.payload.get("all") is True  # rows, however many there are
        seconds = LONGEST["all" if question.kind in LONG or about_all else "default"]
        hand.give(question, until=time.monotonic() + seconds)

    def _finish(self, hand: Hand) -> None:
        """A hand has answered, or is gone."""
        found = hand.receive()
        if found is None:
            self._drop(hand, GONE)
        else:
            assert hand.question is not None  # it has answered one
            self._reply(hand, kinds.answer(hand.question.kind, found))

    def _watch_busy_hands(self) -> None:
        """End what takes too long, takes too much memory, or is not wanted any more."""
        for hand in self._busy():
            assert hand.question is not None  # it is busy
            asked = questions.get_question(hand.question.id)
            if asked is None or asked.cancelled:
                self._drop(hand, CANCELLED)
            elif time.monotonic() > hand.until:
                self._drop(hand, TOO_LONG)
            elif hand.growth() > (room := max(ROOM, GROWTH) if hand.question.kind in LONG else GROWTH):
                words = f"This took more than {room >> 30} GB of memory and was stopped."
                self._drop(hand, Failed(error=f"{words} Ask for less: fewer rows, smaller cells."))

    def _drop(self, hand: Hand, found: Failed) -> None:
        hand.end()
        assert hand.question is not None  # only busy hands are dropped
        log.warning("%s %d: %s", hand.question.kind, hand.question.id, found.error)
        del self.hands[hand.question.kind]
        self._reply(hand, found)

    def _reply(self, hand: Hand, found: Answer) -> None:
        assert hand.question is not None
        self._unsaid.append((hand.question.id, found))
        hand.question = None

    def _send_answers(self) -> None:
        while self._unsaid:
            questions.answer_question(*self._unsaid[0])
            self._unsaid.pop(0)


def main() -> int:
    """Answer until idle; 1 where another question server of this home lives."""
    logs.begin("%(asctime)s questions: %(message)s")
    if locks.hold(lock()) is None or not go_with(os.getppid(), signal.SIGTERM):
        return 1
    registry.open_registry()
    _prefer_others()
    with no_collections():
        warm_up()
    locks.hold(paths.questions_ready_lock())
    question_server = QuestionServer()
    signal.signal(signal.SIGTERM, lambda *_: setattr(question_server, "leaving", True))
    log.info("warm")
    question_server.run()
    return 0


if __name__ == "__main__":
    process_log.keep_secrets()
    sys.exit(main())
