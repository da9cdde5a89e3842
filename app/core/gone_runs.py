"""Runs whose process is gone while no worker is there to notice: what the next one will make of them. Only reads."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from groupwise.app.core import worker_process
from groupwise.storage.home import locks, process
from groupwise.storage.record import checkpoint_files, endings, run_files, states
from groupwise.storage.registry import commands, registry
from groupwise.storage.registry.registry import Run
from groupwise.storage.spec.words.number_words import join_words

NAMED = 3  # of such runs, in a line
SETTLES_WITHIN = 60.0  # seconds in which a worker that starts has noticed, also on a busy machine
LOOK_EVERY = 0.1  # seconds between two looks at whether it has


def judge_runs(runs: Sequence[Run]) -> list[Run]:
    """These runs, those that no worker watches and whose process is gone as they ended."""
    if worker_process.worker_lives() or not any(run.state in states.LIVE for run in runs):
        return list(runs)
    return [_judge(run) if is_gone(run) else run for run in runs]


def is_gone(run: Run) -> bool:
    """Whether a run that should train has no process any more: none holds its folder's lock, and the one that was
    started for it, which takes the lock a moment later, is not there."""
    if run.state not in states.LIVE or locks.is_held(run.folder.lock):
        return False
    if run.identity is not None:
        return not process.is_alive(run.identity)
    return not (run.tag and process.tagged_pids(run.tag, run.folder.path))


def _judge(run: Run) -> Run:
    whole = checkpoint_files.latest_sealed(run.folder.checkpoints)
    saved = checkpoint_files.step_of(whole) if whole else None
    state, sentence = endings.ending(
        run_files.exit_record(run.folder, run.attempt), None, step=run.step, saved=saved,
        killed_on_request=commands.asked_at(run.id, run.attempt, commands.KILL) is not None,
        stopping=run.state == states.STOPPING,
    )  # fmt: skip
    if state == states.INTERRUPTED:
        sentence = f"Its process is gone. {endings.resume_words(saved)}"
    return replace(run, state=state, sentence=sentence)


def gone_words(before: Sequence[Run], judged: Sequence[Run]) -> str:
    """What to do with those of the runs that were judged interrupted; "" where there are none."""
    was = {run.id: run.state for run in before}
    gone = [run.id for run in judged if run.state == states.INTERRUPTED and was[run.id] != run.state]
    if not gone:
        return ""
    named = join_words(gone, NAMED)
    what, name = ("its process is", gone[0]) if len(gone) == 1 else ("their processes are", "RUN")
    return f"{named}: {what} gone, and no worker is running. Continue with `groupwise resume {name}`."


def settle_gone(run: Run) -> Run:
    """The run, as a worker that is started for it found it, where its process is gone and none had noticed. Raises
    OSError where no worker can be started."""
    if worker_process.worker_lives() or not is_gone(run):
        return run
    worker_process.ensure_worker()
    until = time.monotonic() + SETTLES_WITHIN
    while run.state in states.LIVE and time.monotonic() < until:
        time.sleep(LOOK_EVERY)
        run = registry.get_run(run.id) or run
    return run
