"""The commands about runs that exist: list, stop, resume, rename, tag, delete, restore, repair; and following a run
until it ends."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from groupwise.app.core import format, gone_runs, run_query, strays, worker_process
from groupwise.app.core.command_errors import CANCELLED, DONE, FAILED, STOPPED, WRONG_INPUT, CommandError, open_home
from groupwise.app.core.end_reason import reason_of
from groupwise.app.core.terminal import print_outcome
from groupwise.storage.home import paths
from groupwise.storage.library import repair as repairs
from groupwise.storage.record import checkpoint_files, states
from groupwise.storage.registry import commands, labels, registry, trash
from groupwise.storage.registry.registry import Run
from groupwise.storage.spec.words.number_words import count_words, join_words
from groupwise.storage.spec.words.unseen_signs import JOINERS, show_signs

if TYPE_CHECKING:  # takes time to import, and not every command needs it
    from groupwise.storage.analysis.outcome import Outcome

LOOK_EVERY = 0.25  # seconds between two looks at a run that is followed
SPEAK_EVERY = 5.0  # seconds between two lines about its steps
CLAIM_SECONDS = 1.5  # how long a living supervisor takes to claim a run, at most, if it is not about to leave
OUTCOMES = {states.FINISHED: DONE, states.STOPPED: STOPPED}
HEAD = ("ID", "NAME", "STATE", "STEP", "REWARD", "AGE")
LONGEST_NAME, LONGEST_STATE = 32, 48  # characters of them in a table on a terminal
LONGEST_REASON = 80  # characters of why a run did not end as planned, in any table; --json has all of it
NO_RUNS = "There are no runs yet. `groupwise` opens the dashboard; `groupwise launch SPEC.yaml` starts one."
REPAIRED = "The registry is in order now."
# What `list --json` leaves out: no one's business, or bulk.
PRIVATE = ("boot", "pid", "started", "tag", "spark", "number", "ended_state", "ended_sentence", "ended_at")


def find_run(given: str, among: Sequence[Run] | None = None) -> Run:
    """The run of this id, or of this name, or whose id begins so, where it is the only one. `among`: of these runs, not
    of those that there are. Raises CommandError."""
    runs = registry.list_runs(curves=False) if among is None else among
    named = [run for run in runs if run.name == given]
    begun = [run for run in runs if given and run.id.startswith(given)]
    found = [run for run in begun if run.id == given] or named or begun
    if len(found) == 1:
        return found[0]
    if not found:
        kind, option = ("run", "") if among is None else ("deleted run", " --deleted")
        raise CommandError(f"There is no {kind} “{given[:80]}”. `groupwise list{option}` shows them all.", WRONG_INPUT)
    some = ", ".join(run.id for run in found[:5]) + (", …" if len(found) > 5 else "")
    what, advice = ("is the name of", "Give the id of one.") if named else ("could be any of", "Give more of the id.")
    raise CommandError(f"“{given[:80]}” {what} {len(found)} runs: {some}. {advice}", WRONG_INPUT)


def list_runs(options: argparse.Namespace) -> int:
    """Print runs as a table, the newest first or in another order; the exit code."""
    try:
        open_home()
    except CommandError as error:
        if not isinstance(error.__cause__, registry.Newer):
            raise
        print(f"groupwise: {error} What can be read of it:", file=sys.stderr)
    noted = [gone.run for gone in trash.deleted_runs()] if options.deleted else registry.list_runs()
    everything = noted if options.deleted else gone_runs.judge_runs(noted)
    words = run_query.words_of(options.text)
    found = [run for run in everything if run_query.matches(run, words, any_of_id=True)]
    found = [run for run in found if not options.states or run.state in options.states]
    listed = {run.id for run in found}
    facts = {} if options.deleted else _outcomes([run for run in noted if run.id in listed])  # kept: as they are noted
    runs = _sorted(found, facts, options.sort) if options.sort != "-created" else found
    if options.json:
        print(json.dumps([_as_json(run, facts.get(run.id)) for run in runs], indent=1, ensure_ascii=False))
    elif not everything:
        print(trash.NONE_DELETED if options.deleted else NO_RUNS)
    elif not runs:
        print("No run matches.")
    else:
        whole = not os.isatty(1)  # what reads it there has no width
        print(_table([HEAD, *(_row(run, facts.get(run.id), whole=whole) for run in runs)]))
    odd = [] if options.deleted else strays.found_strays({run.id for run in everything})
    for told in filter(None, (gone_runs.gone_words(noted, found), strays.stray_words(odd, strays.MOST))):
        print(f"groupwise: {told}", file=sys.stderr)
    return DONE


def _outcomes(runs: Sequence[Run]) -> dict[str, Outcome]:
    """What the ended ones of these runs came to: as it is kept, or else worked out now, and kept where it can be."""
    ended = [run for run in runs if run.state in states.ENDED]
    if not ended:
        return {}
    from groupwise.storage.analysis import outcome  # takes time to import, and a home of queued runs needs none of it

    found = outcome.outcomes_kept(ended)
    with contextlib.suppress(sqlite3.DatabaseError):  # a newer version's registry, or one that is held
        for run_id, came_to in outcome.work_out([run for run in ended if run.id not in found]):
            found[run_id] = came_to
    return found


def _sorted(runs: Sequence[Run], facts: Mapping[str, Outcome], sort: str) -> list[Run]:
    key = sort.removeprefix("-")
    values = [
        facts[run.id].seconds if key == "duration" and run.id in facts else getattr(run, key, None) for run in runs
    ]
    return run_query.in_order(runs, values, sort.startswith("-"))


def _as_json(run: Run, came_to: Outcome | None) -> dict[str, Any]:
    """Every field of a run, with what it came to: the verdict on its end (null: none), why it did not end as planned
    (null: it did, or goes on) and its seconds of training."""
    row = {key: value for key, value in asdict(run).items() if key not in PRIVATE}
    verdict, seconds = (came_to.verdict or None, came_to.seconds) if came_to else (None, None)
    return {**row, "verdict": verdict, "reason": reason_of(run) or None, "seconds": seconds}


def _row(run: Run, came_to: Outcome | None, *, whole: bool) -> tuple[str, ...]:
    """`whole`: nothing is cut to a column's width, other than a reason, which all rows would be as wide as."""
    name, said = printable_line(run.name), state_words(run, came_to)
    if not whole:
        name = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
        said = format.shorten(said, LONGEST_STATE)
    return run.id, name, said, step_progress(run), format.number(run.reward), short_age(time.time() - run.created)


def state_words(run: Run, came_to: Outcome | None) -> str:
    """A run's state and what it came to: why it failed, was killed or interrupted, or the verdict on it."""
    if not came_to or not came_to.verdict:
        why = format.mid_sentence(printable_line(format.shorten_sentence(reason_of(run), LONGEST_REASON)))
        if why.startswith(f"{run.state} "):  # killed at step 12
            return why
        return f"{run.state}: {why}" if why else run.state
    from groupwise.app.ui import state_badge

    return state_badge.with_verdict(run.state, came_to.verdict).replace(" · ", ", ", 1)


def _table(rows: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def printable_line(text: str) -> str:
    """One line without control characters: a name may hold what would move or colour a terminal. What nobody sees in it
    is shown by its name; joiners that join are part of letters."""
    shown = show_signs(text)
    return "".join(one if one.isprintable() or one in JOINERS else " " for one in shown)


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
    print(_asked_words(run, kind), file=sys.stderr)
    if not options.wait:
        return DONE
    ended = follow(run.id, attempt=run.attempt)
    return DONE if ended in (DONE, STOPPED) or _is_as_before(run.id) else FAILED


def _is_as_before(run_id: str) -> bool:
    """Whether a run that waited to be started again was removed from the queue."""
    run = registry.get_run(run_id)
    return run is not None and (run.state, run.state_at) == (run.ended_state, run.ended_at)


def _asked_words(run: Run, kind: str) -> str:
    if run.state == states.QUEUED:
        return f"Removed {run.id} from the queue."
    return f"Asked {run.id} to {'end at once' if kind == commands.KILL else 'stop at its next step'}."


def resume(options: argparse.Namespace) -> int:
    """Ask a run to go on, and with `--wait` follow it until it ends; the exit code."""
    open_home()
    run = find_run(options.run)
    worker_process.hold_app_lock()
    run = gone_runs.settle_gone(run)
    turn = run_query.turn_words(run, registry.list_runs(only={states.QUEUED, *states.LIVE}, curves=False))
    advice = _advice_instead(run)
    _ask_of_run(run, commands.RESUME, options.step)
    worker_process.ensure_worker()
    asked = f"Asked {run.id} to {_resume_words(run, options.step)}. {turn}"
    for line in filter(None, (asked, advice)):
        print(printable_line(line), file=sys.stderr)
    return follow(run.id, attempt=commands.next_attempt(run)) if options.wait else DONE


def _advice_instead(run: Run) -> str:
    """What the run's page advises where it offers no resume; "" where it does."""
    from groupwise.app.pages.run import ending  # takes time to import, and no other command about runs needs it

    return ending.say_instead_of_resume(run)


def _resume_words(run: Run, step: int | None) -> str:
    """What a resume does: without a checkpoint it begins anew."""
    if step is not None:
        return f"go on from step {step:,}"
    return "go on" if checkpoint_files.latest_sealed(run.folder.checkpoints) else "start again: it has no checkpoint"


def _ask_of_run(run: Run, kind: str, step: int | None = None) -> None:
    try:
        commands.ask_of_run(run.id, kind, step)
    except commands.Refused as error:
        raise CommandError(str(error)) from error


def rename(options: argparse.Namespace) -> int:
    """Give a run another name; the exit code."""
    open_home()
    run = find_run(options.run)
    _change([run.id], lambda run_id: labels.rename(run_id, options.name), "Renamed", WRONG_INPUT)
    return DONE


def tag(options: argparse.Namespace) -> int:
    """Put tags on runs, or take them off; the exit code."""
    open_home()
    try:
        ids = [find_run(beginning).id for beginning in options.runs]
    except CommandError as error:
        raise CommandError(f"{error}{_say_order(options.tags)}", error.code) from error
    try:
        tags = labels.tags_named(options.tags)
    except commands.Refused as error:
        raise CommandError(printable_line(str(error)), WRONG_INPUT) from error
    if not options.remove:
        _change(ids, lambda run_id: labels.retag([run_id], add=tags), "Tagged", WRONG_INPUT)
        return DONE
    for run_id in dict.fromkeys(ids):
        _untag(run_id, tags)
    return DONE


def _say_order(tags: str) -> str:
    """That the tags come first, where what stands in their place names a run."""
    is_run = any(run.name == tags or (tags and run.id.startswith(tags)) for run in registry.list_runs(curves=False))
    return f" “{tags[:80]}” names a run. Tags come before runs: `groupwise tag TAG[,TAG…] RUN…`." if is_run else ""


def _untag(run_id: str, tags: Sequence[str]) -> None:
    """Take those of the tags off a run that it has, and say which it does not have: it is then as was asked."""
    run = registry.get_run(run_id)
    had = {tag.casefold() for tag in run.tags} if run else set()
    missing = [tag for tag in tags if tag.casefold() not in had]
    if missing:
        named = join_words([f"“{printable_line(tag)}”" for tag in missing])
        print(f"{run_id} has no tag {named}.", file=sys.stderr)
    if len(missing) < len(tags):
        _change([run_id], lambda one: labels.retag([one], remove=tags), "Untagged", WRONG_INPUT)


def delete(options: argparse.Namespace) -> int:
    """Delete runs; the exit code."""
    open_home()
    _change([find_run(beginning).id for beginning in options.runs], trash.delete_run, "Deleted")
    print("`groupwise restore RUN` brings a run back within a day.", file=sys.stderr)
    return DONE


def restore(options: argparse.Namespace) -> int:
    """Bring deleted runs back; the exit code. What names no run but a file is meant as a backup."""
    open_home()
    gone = [one.run for one in trash.deleted_runs()]
    try:
        ids = [find_run(beginning, gone).id for beginning in options.runs]
    except CommandError:
        if not any(os.path.isfile(paths.expand_home(name)) for name in options.runs):
            raise
        from groupwise.app.cli.backup import restore_file  # which imports from here

        return restore_file(options)
    _change(ids, trash.restore_run, "Restored")
    if any(run.state == states.QUEUED for run in gone if run.id in ids):
        worker_process.ensure_worker()
    return DONE


def _change(ids: Sequence[str], change: Callable[[str], None], done: str, code: int = FAILED) -> None:
    """Change each of these runs, and say so. Raises CommandError, with this exit code, for those that cannot be."""
    refused = []
    for run_id in dict.fromkeys(ids):
        try:
            change(run_id)
        except commands.Refused as error:
            refused.append(printable_line(str(error)))
            continue
        print(f"{done} {run_id}.", file=sys.stderr)
    if refused:
        raise CommandError(" ".join(refused), code)


def _added(folders: int) -> str:
    if not folders:
        return ""
    return f"{count_words(folders, 'run folder')} {'was' if folders == 1 else 'were'} added."


def repair(_: argparse.Namespace) -> int:
    """Make a new registry where it is damaged or missing, and add the folders it does not know; the exit code."""
    paths.prepare()
    try:
        made = repairs.open_or_rebuild()
    except registry.Damaged:
        aside, found = repairs.repair()
        new = f"The new one has {count_words(found, 'run')}, from their folders."
        print_outcome(f"The damaged registry is kept as {aside}. {new}", REPAIRED)
        return DONE
    except registry.RegistryError as error:  # locked, or a newer version's: nothing that is to be set aside
        raise CommandError(str(error)) from error
    if made:
        told = f"There was no registry. The new one has {count_words(made, 'run')}, from their folders."
        print_outcome(told, REPAIRED)
        return DONE
    found = repairs.adopt_folders()
    print_outcome(f"The registry is intact; nothing to repair. {_added(found)}".strip(), REPAIRED)
    return DONE


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "list": list_runs,
    "stop": stop,
    "resume": resume,
    "rename": rename,
    "tag": tag,
    "delete": delete,
    "restore": restore,
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
            waits = commands.waiting_action(run_id, attempt) == commands.RESUME
            run = registry.get_run(run_id)  # after that: what did not wait any more is seen in it
            if run is None:
                raise CommandError(f"{run_id} is no longer in the registry.")
            is_begun = run.attempt > attempt or (run.attempt == attempt and not waits)
            if is_begun and run.state in states.ENDED:
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
    reward = "" if run.reward is None else f", reward {format.number(run.reward)}"
    return f"{run.state}: step {step_progress(run)}{reward}" if run.total else run.state
