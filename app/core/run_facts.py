"""What runs came to, for pages that show many of them: from what is kept, or else worked out beside the answers, so
that no page waits for it."""

import logging
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from groupwise.storage.analysis import outcome
from groupwise.storage.analysis.outcome import Outcome
from groupwise.storage.home import paths
from groupwise.storage.record import states
from groupwise.storage.registry.registry import Run

LOG = logging.getLogger("groupwise")
MOST = 20_000  # runs of which it is remembered
EACH = 1.0  # seconds, at least, between two looks at the record of a run that trains
JUDGE_EVERY = 10.0  # … and between two verdicts on it, each as long as a look (10 ms, and more of a long run)

_known: dict[str, tuple[str, Outcome]] = {}  # run → (mark, what it came to)
_asked: dict[str, str] = {}  # run → the mark under which it waits, or could not be read
_waiting: deque[tuple[str, Run]] = deque()
_live: dict[str, tuple[float, Outcome]] = {}
_verdicts: dict[str, "_Verdict"] = {}
_lock = threading.Lock()


@dataclass
class _Verdict:
    """The last verdict on a run that trains: at which attempt and step it was made, or is being made, and when."""

    at: tuple[int, int | None] = (0, None)
    made: float = -JUDGE_EVERY
    words: str = ""
    level: str = ""
    pending: bool = False


def outcomes_of(runs: Sequence[Run]) -> dict[str, Outcome]:
    """What is known of these runs by now, by id. Those that train are looked at; what has ended is worked out once."""
    found = {run.id: _of_live(run) for run in runs if run.state in states.LIVE}
    rest = [run for run in runs if run.state not in states.LIVE]
    marks = {run.id: _mark(run) for run in rest}
    with _lock:
        unknown = [run for run in rest if marks[run.id] not in (_known.get(run.id, ("",))[0], _asked.get(run.id))]
    if unknown:
        _take_kept(unknown)
    with _lock:
        known = {run.id: _known[run.id] for run in rest if run.id in _known}
    return found | {run_id: told for run_id, (mark, told) in known.items() if mark == marks[run_id]}


def are_all_known(runs: Sequence[Run]) -> bool:
    """Whether nothing of these runs is being worked out."""
    with _lock:
        waiting = {run.id for _, run in _waiting}
    return not any(run.id in waiting for run in runs)


def _mark(run: Run) -> str:
    return f"queued {run.attempt}" if run.state == states.QUEUED else outcome.mark_of(run)


def _take_kept(runs: Sequence[Run]) -> None:
    """What is kept of these runs; the others wait to be worked out."""
    kept = outcome.outcomes_kept(runs)
    with _lock:
        if len(_known) > MOST:
            _known.clear()
            _asked.clear()
        for run in runs:
            if run.id in kept:
                _known[run.id] = _mark(run), kept[run.id]
            elif _asked.get(run.id) != _mark(run):
                _asked[run.id] = _mark(run)
                begin = not _waiting
                _waiting.append((str(paths.home()), run))
                if begin:
                    threading.Thread(target=_work, name="outcomes", daemon=True).start()


def _work() -> None:
    """Work out what waits, one after the other, with a rest after each as long as it took: pages are answered too."""
    while True:
        with _lock:
            home, run = _waiting[0]
        begun, mark = time.monotonic(), _mark(run)  # before it is read
        try:
            found = dict(outcome.work_out([run], keep=False)) if home == str(paths.home()) else {}
        except Exception:  # whatever is wrong with one run's folder, the others are looked at
            LOG.exception("the outcome of %s could not be computed", run.id)
            found = {run.id: Outcome()}
        with _lock:
            if run.id in found:
                _known[run.id] = mark, found[run.id]
            _waiting.popleft()
            if not _waiting:
                return
        time.sleep(time.monotonic() - begun)


def _of_live(run: Run) -> Outcome:
    """How far a run that trains is, looked at now and then."""
    words, level = verdict_so_far(run)
    at, known = _live.get(run.id, (0.0, Outcome()))
    if time.monotonic() - at < EACH:
        return _with_verdict(known, words, level)
    try:
        found = outcome.read_outcome(run, outcome.Surroundings())
    except Exception:  # as below: its row is drawn without
        LOG.exception("how far %s is could not be read", run.id)
        found = Outcome()
    _live.clear()  # one run trains at a time
    _live[run.id] = time.monotonic(), found
    return _with_verdict(found, words, level)


def _with_verdict(found: Outcome, words: str, level: str) -> Outcome:
    return found if found.verdict or not words else replace(found, verdict=words, level=level)


def verdict_beside(run: Run) -> tuple[str, str]:
    """The words that stand beside one run's state, and how grave that is; none of a run that waits."""
    if run.state in (*states.LIVE, states.QUEUED):
        return verdict_so_far(run)
    found = outcomes_of([run]).get(run.id, Outcome())
    return found.verdict, found.level


def verdict_so_far(run: Run) -> tuple[str, str]:
    """What the doctor says against a run that trains, and how grave that is, as it was last worked out: beside the
    answers, now and then, where there are new steps. Nothing before it trains."""
    if run.state not in states.TRAINS:
        return "", ""
    with _lock:
        known = _verdict_of(run)
        is_due = known.at != (run.attempt, run.step) and time.monotonic() - known.made >= JUDGE_EVERY
        if is_due and not known.pending:
            known.pending, known.at = True, (run.attempt, run.step)
            threading.Thread(target=_judge, args=[run, known], name="verdict", daemon=True).start()
        return known.words, known.level


def take_verdict(run: Run, words: str, level: str) -> None:
    """Another, who judged this run that trains just now, found this against it: it counts until the next verdict, also
    where one on an earlier look is still being made."""
    with _lock:
        known = _verdict_of(run)
        known.words, known.level = words, level
        known.at, known.made, known.pending = (run.attempt, run.step), time.monotonic(), False


def _verdict_of(run: Run) -> _Verdict:
    """The last verdict on this attempt, with the lock held."""
    known = _verdicts.get(run.id)
    if known is None or known.at[0] != run.attempt:
        _verdicts.clear()  # one run trains at a time
        known = _verdicts[run.id] = _Verdict((run.attempt, None))
    return known


def _judge(run: Run, known: _Verdict) -> None:
    words, level = known.words, known.level
    try:
        words, level = outcome.verdict_so_far(run, outcome.published_surroundings())
    except Exception:  # as above: its state is shown without
        LOG.exception("%s could not be judged", run.id)
    with _lock:
        if known.pending:
            known.words, known.level = words, level
            known.made, known.pending = time.monotonic(), False
