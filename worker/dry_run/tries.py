"""“Try one step”, the supervisor's side: starts a dry run for each question that asks one, one at a time, and sees that
it ends and leaves nothing behind."""

import hashlib
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from groupwise.storage.home import paths, process
from groupwise.storage.registry import questions
from groupwise.storage.registry.messages.problem import Failed
from groupwise.storage.registry.questions import TRY, Question
from groupwise.storage.registry.registry import Run
from groupwise.worker.launchers import local

log = logging.getLogger("groupwise.supervisor")

LONGEST = 900.0  # seconds a dry run may take
MIND = 0.25  # seconds between looks at whether it is still wanted


class Tries:
    """One dry run at a time, and none while a run trains: it would take the run's memory and time."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._question = 0
        self._until = self._minded_at = 0.0
        self._swept = False

    @property
    def busy(self) -> bool:
        """Whether a step is being tried."""
        return self._child is not None

    def look(self, waiting: list[Question], ahead: Run | None) -> None:
        """Begin, watch or end a try. `ahead` is the run that trains, or is about to."""
        if not self._swept:
            self._swept = True
            sweep()
        if self._child is not None:
            self._watch(self._child, ahead)
        elif waiting and ahead is not None:
            for question in waiting:
                why = f"{ahead.name} is training on this machine, and a try would take its memory and time"
                _refuse(question.id, f"{why}. Try again when it has ended.", untried=True)
        elif waiting and questions.take_question(waiting[0].id):
            self._start(waiting[0].id)

    def _start(self, question_id: int) -> None:
        folder = folder_of(question_id)
        try:
            folder.mkdir(mode=0o700)
            command = [sys.executable, "-m", "groupwise.worker.dry_run.dry_run", str(question_id)]
            self._child = local.start_with_log(command, folder, folder / "log.txt", dry_run_environment(question_id))
        except OSError as error:
            _refuse(question_id, f"The dry run could not be started: {error.strerror}.")
            shutil.rmtree(folder, ignore_errors=True)
            return
        self._question, self._until = question_id, time.monotonic() + LONGEST
        log.info("started dry run %d as process %d", question_id, self._child.pid)

    def _watch(self, child: subprocess.Popen[bytes], ahead: Run | None) -> None:
        if child.poll() is not None:
            self.end(_ending(child.returncode))
        elif ahead is not None:
            self.end(f"{ahead.name} was launched, so the dry run was ended to make room for it.")
        elif time.monotonic() > self._until:
            self.end(f"One step took more than {LONGEST / 60:.0f} minutes, so the dry run was ended.")
        elif time.monotonic() - self._minded_at > MIND:
            self._minded_at = time.monotonic()
            asked = questions.get_question(self._question)
            if asked is None or asked.cancelled:
                self.end("Cancelled.")

    def end(self, sentence: str) -> None:
        """End what is left of the one under way, if one is. The sentence is the answer where it gave none itself."""
        child, self._child = self._child, None
        if child is None:
            return
        output = _tail(folder_of(self._question) / "log.txt")
        clear(self._question)
        child.wait()
        asked = questions.get_question(self._question)
        if asked is not None and asked.answer is None:
            log.warning("dry run %d: %s\n%s", self._question, sentence, output)
            _refuse(self._question, sentence)


def dry_run_environment(question_id: int) -> dict[str, str]:
    """As a training process's, but what is written for a while goes to the dry run's own folder."""
    folder = str(folder_of(question_id))
    env = {**local.training_environment(tag_of(question_id), 1), "GROUPWISE_HOME": str(paths.home()), "TMPDIR": folder}
    return {**env, "HF_DATASETS_CACHE": f"{folder}/datasets"}


def folder_of(question_id: int) -> Path:
    """Where a dry run keeps what it writes: not in the home, and found again after a crash."""
    return Path(tempfile.gettempdir()) / f"{_mark()}-{question_id}"


def tag_of(question_id: int) -> str:
    """Give the tag that the processes of a dry run carry."""
    return f"try:{_mark()}:{question_id}"


def _mark() -> str:
    """What tells this home's dry runs from another's."""
    return f"groupwise-try-{hashlib.sha256(str(paths.home()).encode()).hexdigest()[:16]}"


def clear(question_id: int) -> None:
    """End the processes of a dry run and remove what it wrote."""
    for _ in range(20):  # what was just forked may carry the tag a moment later
        if not process.signal_tagged(tag_of(question_id), folder_of(question_id), signal.SIGKILL):
            break
        time.sleep(0.01)
    shutil.rmtree(folder_of(question_id), ignore_errors=True)


def sweep() -> None:
    """Clear what an earlier supervisor of this home left, and answer who waits for it."""
    left = {question.id for question in questions.abandoned_questions() if question.kind == TRY}
    names = Path(tempfile.gettempdir()).glob(f"{_mark()}-*")
    left |= {int(path.name.rpartition("-")[2]) for path in names if path.name.rpartition("-")[2].isdigit()}
    for question_id in left:
        clear(question_id)
        _refuse(question_id, "The worker was restarted. Try again.")


def _ending(code: int) -> str:
    if code == -signal.SIGKILL:
        return "The dry run was killed (SIGKILL): by hand, or by the system because memory ran out."
    if code < 0:
        return f"The dry run was ended by {signal.Signals(-code).name}."
    return f"The dry run ended without a reason (exit code {code}); worker.log has its last lines."


def _refuse(question_id: int, sentence: str, *, untried: bool = False) -> None:
    """Answer with an error; a question that is answered keeps its answer."""
    answer = Failed(error=sentence, untried=True) if untried else Failed(error=sentence)
    questions.answer_question(question_id, answer)


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, os.path.getsize(path) - 4000))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""
