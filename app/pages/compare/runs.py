"""The runs that are compared: which ones a payload names, how each is drawn, and why one of them cannot be."""

import contextlib
import sqlite3
from collections.abc import Iterator
from typing import Any

from groupwise.app.core.errors import Unanswerable
from groupwise.app.ui import figures
from groupwise.app.ui.live import Payload, is_ongoing, texts
from groupwise.app.ui.safe_text import visible_text
from groupwise.app.ui.state_badge import kind
from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.record import record_check, run_files, states
from groupwise.storage.registry import registry
from groupwise.storage.spec import spec as specs
from groupwise.storage.spec.problem import SpecError
from groupwise.storage.spec.spec import RunSpec

MOST = 20
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")  # Plotly's; for runs of one colour


def run_ids(payload: Payload) -> list[str]:
    """The ids that a payload names, each once, in its order; more than can be compared are cut off."""
    return list(dict.fromkeys(texts(payload, "ids")[: 10 * MOST]))[:MOST]


@contextlib.contextmanager
def open_run_record(run: registry.Run) -> Iterator[Database]:
    """The run's record, opened once. Raises Unanswerable, in words that stand beside the run's name, for what is wrong
    with this run alone."""
    if not run.folder.path.is_dir():
        raise Unanswerable("Its folder was deleted.")
    if not run.folder.db.is_file():
        raise Unanswerable("Nothing is recorded yet.")
    try:
        record = record_check.open_record(run.folder.db)
        try:
            yield record
        finally:
            record.close()
    except sqlite3.DatabaseError as error:
        if "no such table" in str(error) and run.state in states.LIVE:
            raise Unanswerable("Nothing is recorded yet.") from error
        if "no such" in str(error):
            raise Unanswerable("Its record lacks a part: it was copied half, or an older version made it.") from error
        raise Unanswerable(f"Its record cannot be read ({error}).") from error


def run_spec(run: registry.Run) -> RunSpec:
    """What was asked of the run. Raises Unanswerable."""
    try:
        return specs.parse_spec(run_files.spec_text(run.folder))
    except FileNotFoundError as error:
        raise Unanswerable("Its settings (spec.yaml) are not there.") from error
    except (OSError, UnicodeDecodeError, SpecError) as error:
        raise Unanswerable("Its settings (spec.yaml) cannot be read.") from error


def line_styles(runs: list[tuple[str, registry.Run | None]]) -> list[dict[str, Any]]:
    """How each run is called and drawn: its own colour, a line of another kind where an earlier one has that colour,
    and the end of its id where an earlier one has its name."""
    colours: dict[str, int] = {}
    names = [visible_text(run.name if run else run_id[:80]) for run_id, run in runs]
    found = []
    for (run_id, run), name in zip(runs, names, strict=True):
        colour = figures.identity(run_id)
        nth = colours.setdefault(colour, 0)
        colours[colour] += 1
        about = {"state": run.state, "kind": kind(run.state), "label": states.LABELS.get(run.state, run.state),
                 "live": is_ongoing(run)} if run else {}  # fmt: skip
        called = f"{name} · {run_id.rpartition('-')[2]}" if names.count(name) > 1 else name
        found.append(
            {"id": run_id, "name": called, "colour": colour, "dash": DASHES[nth % len(DASHES)], "there": bool(run)}
            | about
        )
    return found
