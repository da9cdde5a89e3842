"""The supervisor's helpers: the process that reads the catalogue, the question server, and the dry runs."""

import importlib
import logging
import sqlite3
import subprocess
import sys
import time

from groupwise.storage.home import locks, paths
from groupwise.storage.home.process import child_environment
from groupwise.storage.registry import questions, registry
from groupwise.storage.registry.messages.facts import Catalogue, Shipped
from groupwise.storage.registry.messages.message import Progress
from groupwise.storage.registry.messages.problem import Failed
from groupwise.storage.registry.questions import TRY, Question
from groupwise.storage.registry.registry import Run
from groupwise.worker import niceness
from groupwise.worker.builtin import models, shipped
from groupwise.worker.capabilities import catalogue, extras, hardware, installation, sandbox
from groupwise.worker.dry_run.tries import Tries
from groupwise.worker.questions import server

log = logging.getLogger("groupwise.supervisor")

PACKAGES_EVERY = 60.0  # seconds between looks at which packages are installed
PAUSE = 10.0  # seconds before another question server is started where one could not start
STARTING = "The first answer takes some seconds: the libraries are being loaded."
NOT_STARTED = "The worker could not start the process that answers this; worker.log says why."


class Helpers:
    """Looked after at each tick of the supervisor; none of them is needed for a run to go on."""

    def __init__(self) -> None:
        self.reader: subprocess.Popen[bytes] | None = None  # of the catalogue
        self.question_server = QuestionServerKeeper()
        self.tries = Tries()
        self._not_before = 0.0
        self._published_at = time.monotonic()
        self._has_tried_sandbox = False
        self._niceness: dict[int, int] = {}  # by pid; none: as it was started

    def look(self, ahead: Run | None) -> bool:
        """See to all of them; whether one has work. `ahead` is the run that trains, or is about to. Raises
        sqlite3.Error only: runs must be watched whatever is wrong here."""
        if time.monotonic() < self._not_before:
            return False
        try:
            return self._look(ahead)
        except sqlite3.Error:
            raise
        except Exception:  # no process can be made, a folder cannot be removed
            log.exception("the helpers could not be seen to; again in %d s", PAUSE)
            self._not_before = time.monotonic() + PAUSE
            return False

    def _look(self, ahead: Run | None) -> bool:
        self._look_at_reader()
        self._give_way(niceness.beside(ahead))
        if not self._has_tried_sandbox and ahead is None:  # it takes a moment, which a run that waits has not to wait
            self._has_tried_sandbox = True
            registry.publish_fact(sandbox.describe_sandbox())
        if time.monotonic() - self._published_at > PACKAGES_EVERY:
            self._publish_packages()
        waiting = questions.open_ones()
        self.question_server.look([question for question in waiting if question.kind in server.KINDS])
        self.tries.look([question for question in waiting if question.kind == TRY], ahead)
        return bool(waiting) or self.tries.busy

    def _give_way(self, wanted: int) -> None:
        living = [child.pid for child in (self.reader, self.question_server.child) if child is not None]
        self._niceness = {pid: self._niceness.get(pid, 0) for pid in living}
        for pid, given in self._niceness.items():
            if given != wanted and niceness.set_of_session(pid, wanted):
                self._niceness[pid] = wanted

    def end(self) -> None:
        """The supervisor leaves. A question server sees that itself."""
        self.tries.end("The worker has ended. Try again.")

    def publish(self) -> None:
        """Say what this machine and this installation offer."""
        registry.publish_fact(installation.describe_worker())
        registry.publish_fact(hardware.describe_hardware())
        self._publish_packages()
        try:
            models.install_starter()
        except OSError as error:  # a full disk; a run with the starter will say it again
            log.warning("the starter model could not be put into the home: %s", error)

    def _publish_packages(self) -> None:
        """What ships, what optional packages there are, and the catalogue; again where one was installed meanwhile.
        Reading TRL takes seconds: a process of its own does it, and only when another version is installed than was
        last published."""
        self._published_at = time.monotonic()
        importlib.invalidate_caches()
        ships = shipped.describe_shipped(extras.installed_versions())
        if ships != registry.read_fact(Shipped):
            registry.publish_fact(ships)
        known = registry.read_fact(Catalogue)
        if self.reader is None and (known is None or known.versions != catalogue.versions()):
            self.reader = start_helper("groupwise.worker.capabilities.catalogue")

    def _look_at_reader(self) -> None:
        if self.reader is not None and self.reader.poll() is not None:
            log.info("the catalogue is published" if self.reader.returncode == 0 else "the catalogue failed")
            self.reader = None


class QuestionServerKeeper:
    """Starts a question server when there is a question and none lives, and answers what a dead one left."""

    def __init__(self) -> None:
        self.child: subprocess.Popen[bytes] | None = None
        self._settled = False  # whether what earlier question servers left is answered
        self._not_before = 0.0

    def look(self, waiting: list[Question]) -> None:
        """Start one where a question waits for it, and see whether it has ended."""
        if self.child is not None and self.child.poll() is not None:
            self._note_end(self.child.returncode)
            self.child = None
        if self.child is not None or locks.is_held(server.lock()):
            return  # it sees its questions itself; one of an earlier supervisor leaves by itself
        if not self._settled:
            self._settled = True
            settle(server.KINDS, server.GONE.error)
        if waiting and time.monotonic() < self._not_before:
            for question in waiting:
                questions.answer_question(question.id, Failed(error=NOT_STARTED))
        elif waiting:
            self.child = start_helper("groupwise.worker.questions.server", {"CUDA_VISIBLE_DEVICES": ""})
            log.info("started the question server as process %d", self.child.pid)
            for question in waiting:
                questions.set_progress(question.id, Progress(sentence=STARTING))

    def _note_end(self, code: int) -> None:
        log.info("the question server left" if code == 0 else f"the question server ended with code {code}")
        self._settled = False
        if code > 0:
            self._not_before = time.monotonic() + PAUSE


def settle(kinds: tuple[str, ...], sentence: str) -> None:
    """Answer what was taken up by a process that is gone, so that nobody waits for ever."""
    for question in questions.abandoned_questions():
        if question.kind in kinds:
            questions.answer_question(question.id, Failed(error=sentence))


def start_helper(module: str, environment: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    """A helper in a session of its own, with the allow-listed environment. What it prints goes where the supervisor's
    goes."""
    return subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.DEVNULL, start_new_session=True,
        env={**child_environment(), "TOKENIZERS_PARALLELISM": "false", "GROUPWISE_HOME": str(paths.home()),
             **(environment or {})},
    )  # fmt: skip
