"""What is done once a run's process is gone: what it kept beside its record is written, its log is searched for
secrets, and what was left behind says how it ended (storage.record.endings)."""

import contextlib
import logging
import sqlite3

from groupwise.storage.home import process, process_log
from groupwise.storage.record import attempts, checkpoint_files, endings, run_files, states
from groupwise.storage.record.step_record import Event
from groupwise.storage.registry import commands, registry
from groupwise.storage.registry.registry import Run

log = logging.getLogger("groupwise.supervisor")


def state_of_end(run: Run, code: int | None, *, elsewhere: bool) -> tuple[str, str]:
    """How it ended: (state, sentence). `code`: of the process, None where it was not our child; `elsewhere`: it lives
    on in another folder, of which this is a copy."""
    saved = _saved_step(run)
    if run.boot is not None and run.boot != process.boot_id():
        sentence = f"The machine restarted at step {run.step}. {endings.resume_words(saved)}"
        return states.INTERRUPTED, sentence
    if elsewhere:
        return states.INTERRUPTED, endings.in_a_copy(saved)
    killed = commands.asked_at(run.id, run.attempt, commands.KILL) is not None
    return endings.ending(
        run_files.exit_record(run.folder, run.attempt), code, step=run.step, saved=saved, killed_on_request=killed,
        stopping=run.state == states.STOPPING,
    )  # fmt: skip


def leave_queue(run: Run) -> None:
    """Remove a run from the queue: one that was to be started again is as it had ended before."""
    if run.ended_state is None or run.ended_sentence is None:
        registry.set_state(run.id, states.STOPPED, states.UNSTARTED)
        return
    try:
        run_files.hand_on_exit(run.folder, run.attempt)
    except OSError as error:
        log.warning("%s: the reason of its end could not be kept: %s", run.id, error)
    sentence = endings.with_resume(run.ended_sentence, _saved_step(run))
    registry.set_state(run.id, run.ended_state, sentence, state_at=run.ended_at)


def _saved_step(run: Run) -> int | None:
    whole = checkpoint_files.latest_sealed(run.folder.checkpoints)
    return checkpoint_files.step_of(whole) if whole else None


def is_drained(run: Run) -> bool:
    """Whether what a run kept beside its record is written, or never can be. It cannot be while the record is locked,
    or its disk is full."""
    try:
        with contextlib.suppress(sqlite3.OperationalError):
            return attempts.drain(run.folder.db)
    except (sqlite3.DatabaseError, OSError) as error:
        log.warning("%s: what was kept beside run.db cannot be written: %s", run.id, error)
        return True
    return False


def note_in_record(run: Run) -> None:
    """Keep how a run ended among its events, as it goes on: until then its page says so by itself."""
    try:
        attempts.note_end(run.folder.db, Event(run.state, run.sentence), run.state_at)
    except (sqlite3.DatabaseError, OSError) as error:
        log.warning("%s: how it ended cannot be written into its record: %s", run.id, error)


def scrub_log(run: Run) -> None:
    """Take out of its log what did not pass Python on its way there, such as the output of a program that it
    started."""
    try:
        if process_log.scrub(run.folder.log):
            log.info("%s: secrets were taken out of its log", run.id)
    except OSError as error:
        log.warning("%s: its log could not be searched for secrets: %s", run.id, error)
