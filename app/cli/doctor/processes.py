"""The worker and the dashboards of this home: whether they run, and what the worker last complained of."""

import contextlib
import os
import re
import sys
import time
from collections.abc import Sequence

from groupwise.app.cli.doctor import packages
from groupwise.app.cli.doctor.finding import NOTE, OK, Finding
from groupwise.app.core import format, gone_runs, worker_process
from groupwise.storage.home import files, locks, paths
from groupwise.storage.record import states
from groupwise.storage.registry import registry, registry_check
from groupwise.storage.registry.messages.facts import Worker
from groupwise.storage.spec.words.number_words import are_words, join_words

ROOMS = ("worker", "storage")  # whose code a worker has in memory
AGAIN = "It ends by itself when no run trains and no dashboard is open; the next start uses the new one."
READ = 256 * 1024  # bytes of the end of its log
RECENT = 24 * 3600  # seconds
LONGEST = 300  # characters of a line of it
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
_RAISED = re.compile(r"[A-Za-z_][\w.]*(?:Error|Exception)\b")  # the end of a traceback
_FAILED = re.compile(r"\b(?:(?:could not|cannot|failed)\b|ended with code (?!0\b))")  # what is logged with its time


def look_at_processes(readable: bool) -> list[Finding]:
    """The worker, its log and the dashboards. `readable`: whether the registry can be read."""
    lives = worker_process.worker_lives()
    return [*_worker(lives, readable), *_log(), _dashboards()]


def _worker(lives: bool, readable: bool) -> list[Finding]:
    if not lives:
        noted = registry.list_runs(only={*states.LIVE, states.QUEUED}, curves=False) if readable else []
        waiting = [run for run in gone_runs.judge_runs(noted) if run.state not in states.ENDED]
        if waiting:
            says = f"None runs, and {format.plural(len(waiting), 'run')} {are_words(len(waiting))} queued or training."
            return [Finding("Worker", NOTE, says, "Start `groupwise`: its worker then runs them.")]
        return [Finding("Worker", OK, "None runs; the first launch, or the dashboard, starts it.")]
    return [_whose_worker() if readable else Finding("Worker", OK, "One runs.")]


def _whose_worker() -> Finding:
    """Whether the one that runs is of this installation."""
    fact, begun = registry.read_fact(Worker), registry_check.time_of_fact(Worker)
    own = packages.installed_version(packages.US) or ""
    if fact is None or begun is None:
        return Finding("Worker", NOTE, "One runs, without a version: perhaps an older one.", AGAIN)
    says = f"One runs, which began {_since(begun)}"
    if fact.version != own:
        return Finding("Worker", NOTE, f"{says}, of version {fact.version or '?'}; this is {own or '?'}.", AGAIN)
    if os.path.realpath(fact.environment) != os.path.realpath(sys.prefix):
        do = "Start Groupwise from one environment only, or give each a home of its own (GROUPWISE_HOME)."
        return Finding("Worker", NOTE, f"{says}, in {fact.environment}; this is {sys.prefix}.", do)
    if _newest_code() > begun:
        return Finding("Worker", NOTE, f"{says}; files of Groupwise have changed since then.", AGAIN)
    return Finding("Worker", OK, f"{says}, of this version ({own}).")


def _since(begun: float) -> str:
    said = format.age(begun)
    return "just now" if said == "now" else said


def _newest_code() -> float:
    """When a file of what a worker imports was last changed."""
    places = (path for room in ROOMS for path in (worker_process.ROOT / room).rglob("*.py"))
    return max((path.stat().st_mtime for path in places), default=0.0)


def _log() -> list[Finding]:
    path = paths.worker_log()
    if not files.is_file(path):
        return []
    with files.open_file(path) as log:
        log.seek(max(0, path.stat().st_size - READ))
        lines = log.read(READ).decode("utf-8", "replace").splitlines()
    if (last := _last_error(lines)) is None:
        return [Finding("Worker log", OK, f"No error at the end of {path}.")]
    at, line = last
    says = f"Its last error{f', {at}' if at else ''}: {format.shorten(line, LONGEST)}"
    if _is_old(at):
        return [Finding("Worker log", OK, f"No error in the last day. {says}")]
    return [Finding("Worker log", NOTE, says, f"{path} says more.")]


def _is_old(at: str) -> bool:
    """Whether a time of the log is known, and long ago."""
    with contextlib.suppress(ValueError, OverflowError):  # what looks like a time may be none
        return time.time() - time.mktime(time.strptime(at, "%Y-%m-%d %H:%M:%S")) > RECENT
    return False


def _last_error(lines: Sequence[str]) -> tuple[str, str] | None:
    """(when, what) of the last error in these lines of the log; "" where no line before it has a time."""
    at, found = "", None
    for line in lines:
        stamp = _TIME.match(line)
        at = stamp[0] if stamp else at
        if _RAISED.match(line) or (stamp and _FAILED.search(line)):
            found = at, line[len(at) + 4 :].strip() if stamp else line  # a stamp ends with milliseconds
    return found


def _dashboards() -> Finding:
    ports = [port for port in locks.bytes_held(paths.dashboards_lock()) if 0 < port <= 65535]
    if not ports:
        return Finding("Dashboard", OK, "None runs for this home; `groupwise` starts one.")
    return Finding("Dashboard", OK, f"Runs at port {join_words([str(port) for port in ports], 5)} of this machine.")
