"""The supervisor: one per data home. It starts queued runs, watches them, passes on what people ask, and takes over
living runs when it was restarted. worker.run_start makes a run's folder ready, worker.run_end sees to what a run left,
worker.helpers looks after the rest. It never trains, and imports neither torch nor trl.
"""

import logging
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from groupwise.storage.home import files, locks, logs, paths, process
from groupwise.storage.library import repair
from groupwise.storage.record import endings, log_notes, metrics, run_files, states
from groupwise.storage.registry import commands, registry
from groupwise.storage.registry.commands import Command
from groupwise.storage.registry.registry import Run
from groupwise.storage.spec.words.number_words import count_words
from groupwise.worker import run_end, run_start
from groupwise.worker.chores import Chores
from groupwise.worker.helpers import Helpers
from groupwise.worker.training import checkpoints
from groupwise.worker.warm_start import WarmStart

log = logging.getLogger("groupwise.supervisor")

GLANCE = 0.02  # seconds between glances at whether something was written into the registry: a launch, say
REST, RESTED_AFTER = 0.05, 10.0  # … and how many, once nothing was written for so many seconds
TICK = 0.1  # seconds between looks at what changes without that
CALM = 1.0  # … where no run lives and nothing was asked
PROGRESS_EVERY = 1.0  # seconds between looks at a run's record, once it trains
STOP_GRACE = 300.0  # seconds a stop may take before it is enforced, unless a step is known to take longer
TERM_GRACE = 30.0  # seconds between SIGTERM and SIGKILL
DRAINING = 600.0  # seconds for which a dead run's locked record is waited for; a resume writes it all the same
SETTLED = 3.0  # seconds without a change after which a folder was copied to its end
FINISHES = "Finishing the current step, then saving a checkpoint."
LOADED = "Loading. It ends after its first step, with a checkpoint."  # before one there is nothing to go on from
IDLE = 30.0  # seconds with no run and no app after which it leaves


class Supervisor:
    """Holds no truth of its own: everything it needs is in the registry, the run folders and /proc."""

    def __init__(self, lock: int | None = None) -> None:
        self.lock = lock  # the descriptor of the home's
        self.children: dict[str, subprocess.Popen[bytes]] = {}
        self.looked: dict[str, float] = {}
        self.since: dict[tuple[str, int, str], float] = {}  # when (monotonic) a run's attempt was first seen in a phase
        self.helpers = Helpers()
        self.warm_start = WarmStart()
        self.chores = Chores()
        self.looked_at_folders = 0.0
        self.busy_at = time.monotonic()
        self.leaving = False
        self._is_calm = False  # whether the last look found nothing to look after
        self._looked_at, self._seen = 0.0, registry.change_stamp()
        self._written_at = time.monotonic()  # when that was last seen to change

    def run(self) -> None:
        """Look after everything until told to leave, or idle."""
        while not (self.leaving or self._has_lost_home()):
            if self._is_due():
                self.tick()
            time.sleep(GLANCE if time.monotonic() - self._written_at < RESTED_AFTER else REST)
        self.helpers.end()
        self.warm_start.end()

    def _is_due(self) -> bool:
        """Whether to look: whatever is asked for is written into the registry, so that of one that is as it was there
        is less to see, and next to nothing where no run lives."""
        stamp, now = registry.change_stamp(), time.monotonic()
        if stamp != self._seen:
            self._written_at = now
        is_due = stamp != self._seen or now - self._looked_at >= (CALM if self._is_calm else TICK)
        if is_due:
            self._seen, self._looked_at = stamp, now
        return is_due

    def _has_lost_home(self) -> bool:
        """Whether its home was removed, or moved away: one that is made in its place may have a worker of its own."""
        lost = self.lock is not None and not locks.is_at(paths.supervisor_lock(), self.lock)
        if lost:
            log.warning("%s is not there any more, or was made anew: leaving", paths.home())
        return lost

    def tick(self) -> None:
        """Look once at commands, runs, questions and helpers."""
        try:
            for command in commands.open_commands():
                self._safely(command.run, self.obey, command)
            self._look_for_copied_folders()
            self.chores.look()
            active = registry.list_runs(only={states.QUEUED, *states.LIVE})
            live = [run for run in active if run.state in states.LIVE]
            for run in live:
                self._safely(run.id, self.watch, run)
            queued = [run for run in active if run.state == states.QUEUED]
            ahead = next(iter([*live, *queued[-1:]]), None)
            working = self.helpers.look(ahead)
            self.warm_start.look(ahead, busy=working or self.helpers.reader is not None)
            if queued and not live:
                self.launch(queued[-1])
            line = [*live, *reversed(queued)]
            for before, run in enumerate(line):
                if before and run.state == states.QUEUED:
                    self._wait_in_line(run, line[:before])
        except (sqlite3.Error, OSError) as error:
            log.warning("the registry could not be used this time: %s", error)
            self._is_calm = False
            return
        self._is_calm = not (active or working)
        if active or working or locks.is_held(paths.app_lock()):
            self.busy_at = time.monotonic()
        self.leaving = self.leaving or time.monotonic() - self.busy_at > IDLE

    def _wait_in_line(self, run: Run, before: list[Run]) -> None:
        first = before[0].name
        sentence = f"Waiting for {first} to end: one run trains at a time."
        if len(before) > 1:
            sentence = (
                f"Waiting: {count_words(len(before), 'run')} are before it, {first} first. One run trains at a time."
            )
        if run.sentence != sentence:
            registry.set_state(run.id, states.QUEUED, sentence)

    # --- what people ask

    def obey(self, command: Command) -> None:
        """Do what was asked of a run, where it is still to be done."""
        run = registry.get_run(command.run)
        if run is None or run.attempt != command.attempt or run.state not in commands.ALLOWED[command.action]:
            commands.take_command(command, "too late")
            return
        if command.action == commands.RESUME:
            if command.step is not None and not self._goes_on_from(run, command.step):
                commands.take_command(command, "no such checkpoint")
                return
            self._queue_again(run, command)
            return
        if run.state == states.QUEUED:
            run_end.leave_queue(run)
        elif command.action == commands.KILL:
            registry.set_state(run.id, states.STOPPING, "Stopping at once, without saving.")
            log_notes.append_note(run.folder.log, "Asked to stop at once, without saving.")
            self._signal(run, signal.SIGKILL)
        elif run.state != states.STOPPING:
            registry.set_state(run.id, states.STOPPING, LOADED if run.state == states.STARTING else FINISHES)
            log_notes.append_note(run.folder.log, "Asked to stop and save.")
        commands.take_command(command, commands.DONE)

    @staticmethod
    def _queue_again(run: Run, command: Command) -> None:
        """Queue a run that has ended, to be started again; or for the first time, where it never was."""
        attempt = commands.next_attempt(run)
        is_first = attempt == run.attempt
        if is_first:
            commands.forget_taken(run.id, attempt)
        run_end.note_in_record(run)
        gone = {"boot": None, "pid": None, "started": None, "tag": None}
        ended = {"ended_state": run.state, "ended_sentence": run.sentence, "ended_at": run.state_at}
        sentence = f"Waiting for the worker to start it{'' if is_first else ' again'}."
        registry.set_state(run.id, states.QUEUED, sentence, attempt=attempt, **gone, **ended)
        commands.take_command(command, commands.NOT_COUNTED if is_first else commands.DONE)

    @staticmethod
    def _goes_on_from(run: Run, step: int) -> bool:
        """Make the checkpoint of a step the one that the next attempt finds; where it is gone meanwhile, say so."""
        if checkpoints.set_newer_aside(run.folder.checkpoints, step, run.attempt + 1):
            return True
        registry.set_state(run.id, run.state, f"The checkpoint of step {step} is gone. {run.sentence}")
        return False

    # --- launching

    def launch(self, run: Run) -> None:
        """Start the next run; where something keeps it from starting, conclude it with that as its sentence."""
        try:
            run_spec = run_start.prepare_folder(run)
        except Exception as error:  # whatever is wrong with one run's folder, the others go on
            log.exception("%s could not be prepared", run.id)
            sentence = f"Could not be started: {run_start.why_not_started(error)}"
            if not isinstance(error, run_files.OddFolder):  # through a link it would be written elsewhere
                log_notes.append_note(run.folder.log, endings.end_words(states.FAILED, sentence))
            registry.set_state(run.id, states.FAILED, sentence)
            return
        tag = f"{run.id}:{run.attempt}:{os.urandom(8).hex()}"
        # The tag is on record before the process exists: a supervisor that is killed between the two leaves
        # nothing that the next one cannot find.
        if not registry.set_state(run.id, states.STARTING, "Loading the model and the data.", tag=tag):
            return  # it is queued no more: a process that no row tells of would train unseen
        log_notes.append_note(run.folder.log, f"Attempt {run.attempt} starts: loading the model and the data.")
        child = self.warm_start.begin(run, tag, run_spec.launch.processes)
        self.children[run.id] = child
        identity = process.identity_of(child.pid)
        if identity is not None:
            registry.set_facts(run.id, **identity.as_dict())
        log.info("started %s (attempt %d) as process %d", run.id, run.attempt, child.pid)

    def _look_for_copied_folders(self) -> None:
        """Folders that were copied into the home appear by themselves, once they are whole."""
        changed = paths.runs_folder().stat().st_mtime
        if time.monotonic() - self.looked_at_folders > SETTLED and time.time() - changed < 4 * SETTLED:
            self.looked_at_folders = time.monotonic()
            self.chores.unjudged |= adopt_folders(SETTLED)

    # --- watching

    def _safely(self, run_id: str, act: Callable[[Any], None], about: Run | Command) -> None:
        """Do something about one run: whatever is wrong with its folder, the others are seen to all the same. Raises
        sqlite3.Error where the registry cannot be used."""
        try:
            act(about)
        except Exception as error:
            if is_of_registry(error):
                raise
            log.exception("%s could not be seen to this time", run_id)

    def watch(self, run: Run) -> None:
        """Look at a run that trains: how far it is, whether it has ended, whether a stop takes too long."""
        child = self.children.get(run.id)
        if child is not None:
            if child.poll() is not None:
                self._conclude_safely(run, child.returncode)
                return
        elif not self._is_alive(run):
            self._conclude_safely(run, None)
            return
        if run.state == states.STARTING or time.monotonic() - self.looked.get(run.id, 0.0) > PROGRESS_EVERY:
            self.looked[run.id] = time.monotonic()
            self._note_progress(run)
            self._mind_the_end(run)
        if run.state == states.STOPPING:
            self._enforce_stop(run)

    def _is_alive(self, run: Run) -> bool:
        """Whether a run we did not start ourselves still has its process, which works in this home's folder of it;
        found by its tag where it was started so shortly before a crash that its identity was not recorded."""
        if run.identity is not None:
            pid = run.identity.pid
            own = process.carries(pid, run.tag or "") and process.works_in(pid, run.folder.path)
            return own and process.is_alive(run.identity)
        pids = process.tagged_pids(run.tag, run.folder.path) if run.tag else []
        identity = process.identity_of(min(pids)) if pids else None
        if identity is None:
            return False
        registry.set_facts(run.id, **identity.as_dict())
        log.info("took over %s from its tag, process %d", run.id, identity.pid)
        return True

    def _note_progress(self, run: Run) -> None:
        now = metrics.progress_if_readable(run.folder.db)
        if now is None or now["attempt"] != run.attempt:
            return
        if run.state == states.STARTING and now["begun"]:
            registry.set_state(run.id, states.RUNNING, "Training. It goes on when this page is closed.")
        if (now["at"], now["total"]) != (run.seen_at, run.total):  # a step's log comes after the step itself
            facts = {name: now[name] for name in ("step", "total", "reward", "spark")}
            registry.set_facts(run.id, **facts, seen_at=now["at"])

    def _mind_the_end(self, run: Run) -> None:
        """A process that has written its exit record but does not go (a hanging teardown) is ended."""
        if run_files.exit_record(run.folder, run.attempt) and self._seconds_in(run, "its end") > 2 * TERM_GRACE:
            self._signal(run, signal.SIGKILL)

    def _enforce_stop(self, run: Run) -> None:
        try:
            longest = metrics.pace(run.folder.db)["longest"] or 0.0
        except sqlite3.DatabaseError:
            longest = 0.0
        late = self._seconds_in(run, "its stop") - max(STOP_GRACE, 3 * longest)
        if late > TERM_GRACE:
            self._signal(run, signal.SIGKILL)
        elif late > 0:
            self._signal(run, signal.SIGTERM)

    def _seconds_in(self, run: Run, phase: str) -> float:
        """For how long this attempt has been seen in a phase: by the clock that nobody can set, so that a machine
        whose time jumps by an hour ends no run that is saving. It begins anew with a new supervisor."""
        since = self.since.setdefault((run.id, run.attempt, phase), time.monotonic())
        return time.monotonic() - since

    def _signal(self, run: Run, number: signal.Signals) -> None:
        """Reach all processes of a run, in whatever sessions its ranks are, and nothing else."""
        reached = process.signal_tagged(run.tag, run.folder.path, number) if run.tag else 0
        log.info("sent %s to %d processes of %s", number.name, reached, run.id)

    def _conclude_safely(self, run: Run, code: int | None) -> None:
        """Its process is gone, so it ends here, whatever its folder holds: it would keep the others in the queue."""
        try:
            self.conclude(run, code)
        except Exception as error:
            if is_of_registry(error):
                raise
            log.exception("%s could not be concluded from what it left", run.id)
            reason = f"its record could not be read ({type(error).__name__}); worker.log says more."
            registry.set_state(run.id, states.INTERRUPTED, f"Its process is gone, and {reason}")
            self.children.pop(run.id, None)

    def conclude(self, run: Run, code: int | None) -> None:
        """Its process is gone: say how it ended, and leave nothing of it behind."""
        elsewhere = code is None and bool(run.tag) and process.is_elsewhere(run.tag or "", run.folder.path)
        if run.tag:
            process.signal_tagged(run.tag, run.folder.path, signal.SIGKILL)
        if not run_end.is_drained(run) and self._seconds_in(run, "its draining") <= DRAINING:
            return
        run_end.scrub_log(run)
        self._note_progress(run)
        run = registry.get_run(run.id) or run
        state, sentence = run_end.state_of_end(run, code, elsewhere=elsewhere)
        log_notes.append_note(run.folder.log, endings.end_words(state, sentence))
        registry.set_state(run.id, state, sentence)
        self.chores.unjudged = True
        self.children.pop(run.id, None)  # only now: while the registry takes nothing, its exit code is nowhere else
        files.reserved_for(run.folder.exit).unlink(missing_ok=True)
        log.info("%s: %s. %s", run.id, state, sentence)


def adopt_folders(settled: float) -> bool:
    """Take in the run folders that are new here, but for those that changed in the last so many seconds; whether there
    were any."""
    found = repair.adopt_folders(settled=settled)
    if found:
        log.info("%d run folders were new here", found)
    return found > 0


def is_of_registry(error: Exception) -> bool:
    """Whether this says that the registry cannot be used, and not that it cannot take what one run would put there."""
    return isinstance(error, (sqlite3.OperationalError, registry.RegistryError)) or type(error) is sqlite3.DatabaseError


def main() -> int:
    """Supervise until told to leave, or idle with no app. 0; 1 when the home cannot be used or has a supervisor."""
    logs.begin("%(asctime)s %(message)s")
    try:
        paths.prepare()
        lock = locks.hold(paths.supervisor_lock())
        if lock is None:
            print(f"groupwise: {paths.home()} already has a worker.", file=sys.stderr)
            return 1
        repair.open_or_rebuild()
    except (paths.HomeError, registry.RegistryError) as error:
        print(f"groupwise: {error}", file=sys.stderr)
        return 1
    supervisor = Supervisor(lock)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: setattr(supervisor, "leaving", True))
    repair.adopt_trash()
    adopt_folders(0.0)
    supervisor.helpers.publish()
    supervisor.run()
    return 0
