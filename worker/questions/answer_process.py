"""A hand of the question server: a process forked from it that answers one question at a time, and can be ended at any
moment."""

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

from groupwise.storage.home.process import go_with
from groupwise.storage.registry import progress
from groupwise.storage.registry.messages.message import Plain
from groupwise.storage.registry.messages.problem import Failed
from groupwise.storage.registry.questions import Question

Answer = Callable[[str, Plain], Plain]
LARGEST = 8 * 2**20  # bytes of JSON an answer may have


class Hand:
    """One forked process. What passes between it and the question server is JSON, never a pickle."""

    def __init__(self, answer: Answer) -> None:
        """Fork. The process must have no threads of its own yet."""
        self.connection, theirs = Pipe()
        server = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            self.connection.close()
            try:
                _work(theirs, answer, server)
            finally:
                os._exit(0)  # whatever happened: nothing of the question server's own ending may run twice
        theirs.close()
        self.question: Question | None = None
        self.until = 0.0
        self._size = self._memory()

    def give(self, question: Question, until: float) -> None:
        """Begin on a question, to be done by this time (of the monotonic clock)."""
        self.question, self.until = question, until
        with suppress(OSError):  # it is gone: receive() will say so
            self.connection.send_bytes(json.dumps([question.id, question.kind, question.payload]).encode())

    def receive(self) -> Plain | None:
        """Its answer; None when it is gone."""
        try:
            found: Plain = json.loads(self.connection.recv_bytes())
        except (OSError, EOFError):
            return None
        return found

    def lives(self) -> bool:
        """Whether it can take a question."""
        if not self.connection.closed and os.waitpid(self.pid, os.WNOHANG) == (0, 0):
            return True
        self.connection.close()
        return False

    def growth(self) -> int:
        """Bytes of its own memory beyond what it was forked with; files that it maps do not count."""
        return self._memory() - self._size

    def _memory(self) -> int:
        with suppress(OSError):
            for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
                if line.startswith("RssAnon:"):
                    return int(line.split()[1]) * 1024
        return 0

    def end(self) -> None:
        """End it at once. It is our own child and not waited for yet, so its pid cannot be another's."""
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        self.connection.close()


def _work(connection: Connection, answer: Answer, server: int) -> None:
    """Answer what comes until the question server is gone."""
    if not go_with(server, signal.SIGKILL):  # even in the middle of a long answer
        return
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    while True:
        try:
            number, kind, payload = json.loads(connection.recv_bytes())
        except (OSError, EOFError):
            return
        progress.about(number)
        connection.send_bytes(_answer_bytes(kind, payload, answer))


def _answer_bytes(kind: str, payload: Plain, answer: Answer) -> bytes:
    """The answer as JSON; an error in a sentence where there is none, with the traceback in the worker's log."""
    try:
        said = json.dumps(answer(kind, payload)).encode()
        if len(said) <= LARGEST:
            return said
        found = Failed(error="The answer is too large to show. Ask for fewer or smaller rows.")
    except Exception as error:  # whatever a question does, the question server answers it and goes on
        traceback.print_exc(file=sys.stderr)
        text = (str(error).strip() or type(error).__name__).splitlines()[0][:400]
        found = Failed(error=f"This could not be answered: {text}", field=str(getattr(error, "field", "")))
    return json.dumps(found.as_dict()).encode()
