"""The commands about runs that exist: list, stop, resume, repair; and following a run until it ends."""

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict

from groupwise.app.core import worker_process
from groupwise.app.core.command_errors import CANCELLED, DONE, FAILED, STOPPED, WRONG_INPUT, CommandError, open_home
from groupwise.storage.home import paths
from groupwise.storage.library import repair as repairs
from groupwise.storage.record import states
from groupwise.storage.registry import commands, registry
from groupwise.storage.registry.registry import Run

LOOK_EVERY = 0.25  # seconds between two looks at a run that is followed
SPEAK_EVERY = 5.0  # seconds between two lines about its steps
CLAIM_SECONDS = 1.5  # how long a living supervisor takes to claim a run, at most, if it is not about to leave
OUTCOMES = {states.FINISHED: DONE, states.STOPPED: STOPPED}
PRIVATE = ("boot", "pid", "started", "tag", "spark")  # what `list --json` leaves out: no one's business, or bulk


def find_run(beginning: str) -> Run:
    """The run whose id is, or alone begins with, this."""
    found = [run for run in registry.list_runs() if run.id.startswith(beginning)] if beginning else []
    exact = [run for run in found if run.id == beginning]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if not found:
        raise CommandError(f"There is no run “{beginning[:80]}”. `groupwise list` shows them all.", WRONG_INPUT)
    some = ", ".join(run.id for run in found[:5]) + (", …" if len(found) > 5 else "")
    raise CommandError(f"“{beginning}” could be any of {len(found)} runs: {some}. Give more of the id.", WRONG_INPUT)


def list_runs(options: argparse.Namespace) -> int:
    """Print the runs as a table, the newest first; the exit code."""
    try:
        open_home()
    except CommandError as error:
        if not isinstance(error.__cause__, registry.Newer):
            raise
        print(f"groupwise: {error} What can be read of it:", file=sys.stderr)
    runs = registry.list_runs()
    if options.json:
        rows = [{key: value for key, value in asdict(run).items() if key not in PRIVATE} for run in runs]
        print(json.dumps(rows, indent=1, ensure_ascii=False))
    elif not runs:
        print("There are no runs yet. `groupwise` opens the dashboard; `groupwise launch SPEC.yaml` starts one.")
    else:
        print(_table([("ID", "NAME", "STATE", "STEP", "REWARD", "AGE"), *map(_row, runs)]))
    return DONE


def _row(run: Run) -> tuple[str, ...]:
    name = printable_line(run.name)
    name = name if len(name) <= 32 else f"{name[:31]}…"
    reward = "–" if run.reward is None else f"{run.reward:.3f}"
    return run.id, name, run.state, step_progress(run), reward, short_age(time.time() - run.created)


def _table(rows: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def printable_line(text: str) -> str:
    """One line without control characters: a name may hold what would move or colour a terminal."""
    return "".join(character if character.isprintable() else " " for character in text)


def step_progress(run: Run) -> str:
    """How far a run is: 12/60; – while the plan is not known."""
    return f"{run.step}/{run.total}" if run.total else "–"


def short_age(seconds: float) -> str:
    """How long ago in the largest unit that fits: 40s, 5m, 3h, 12d."""
    if not abs(seconds) < 1e12:
        return "–"
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= length:
            return f"{int(seconds // length)}{unit}"
    return f"{max(0, int(seconds))}s"


def stop(options: argparse.Namespace) -> int:
    """Ask a run to stop, and with `--wait` follow it until it has; the exit code."""
    open_home()
    run = find_run(options.run)
    kind = commands.KILL if options.now and run.state != states.QUEUED else commands.STOP
    _ask_of_run(run, kind)
    worker_process.ensure_worker()
    print(f"Asked {run.id} to {'end at once' if kind == commands.KILL else 'stop at its next step'}.", file=sys.stderr)
    if not options.wait:
        return DONE
    ended = follow(run.id, attempt=run.attempt)
    return DONE if ended in (DONE, STOPPED) else FAILED


def resume(options: argparse.Namespace) -> int:
    """Ask a run to go on, and with `--wait` follow it until it ends; the exit code."""
    open_home()
    run = find_run(options.run)
    worker_process.hold_app_lock()
    _ask_of_run(run, commands.RESUME)
    worker_process.ensure_worker()
    print(f"Asked {run.id} to go on.", file=sys.stderr)
    return follow(run.id, attempt=run.attempt + 1) if options.wait else DONE


def _ask_of_run(run: Run, kind: str) -> None:
    try:
        commands.ask_of_run(run.id, kind)
    except commands.Refused as error:
        raise CommandError(str(error)) from error


def repair(_: argparse.Namespace) -> int:
    """Make a new registry where it is damaged or missing, and add the folders it does not know; the exit code."""
    paths.prepare()
    try:
        made = repairs.open_or_rebuild()
    except registry.Damaged:
        aside, found = repairs.repair()
        print(f"The damaged registry is kept as {aside}. The new one has {found} runs, from their folders.")
        return DONE
    except registry.RegistryError as error:  # locked, or a newer version's: nothing that is to be set aside
        raise CommandError(str(error)) from error
    if made:
        print(f"There was no registry. The new one has {made} runs, from their folders.")
        return DONE
    found = repairs.adopt_folders()
    print(f"The registry is whole; nothing to repair. {f'{found} run folders were added.' if found else ''}".strip())
    return DONE


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "list": list_runs,
    "stop": stop,
    "resume": resume,
    "repair": repair,
}


def until_claimed(run_id: str) -> None:
    """See that a worker takes the run: one that was about to leave, idle, may have missed it."""
    deadline = time.monotonic() + CLAIM_SECONDS
    while not worker_process.ensure_worker() and time.monotonic() < deadline:
        run = registry.get_run(run_id)
        if run is None or run.state != states.QUEUED:
            return
        time.sleep(LOOK_EVERY)


def follow(run_id: str, *, attempt: int = 1) -> int:
    """Say in short lines how this attempt (or a later one) goes until it ends; the exit code that its end means."""
    watch = worker_process.Watch()
    watch.start()
    said, spoken_at = "", 0.0
    try:
        while True:
            run = registry.get_run(run_id)
            if run is None:
                raise CommandError(f"{run_id} is no longer in the registry.")
            if run.attempt >= attempt and run.state in states.ENDED:
                print(f"{run.state}: {printable_line(run.sentence)}", file=sys.stderr)
                return OUTCOMES.get(run.state, FAILED)
            line = _progress_line(run)
            new_state = not said.startswith(run.state)
            if line != said and (new_state or time.monotonic() - spoken_at >= SPEAK_EVERY):
                print(line, file=sys.stderr, flush=True)
                said, spoken_at = line, time.monotonic()
            time.sleep(LOOK_EVERY)
    except KeyboardInterrupt:
        print(f"\nNo longer following. {run_id} goes on; `groupwise stop {run_id}` stops it.", file=sys.stderr)
        return CANCELLED
    finally:
        watch.stop()


def _progress_line(run: Run) -> str:
    reward = "" if run.reward is None else f", reward {run.reward:.3f}"
    return f"{run.state}: step {step_progress(run)}{reward}" if run.total else run.state
