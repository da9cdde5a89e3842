"""The runs that are compared: which ones a payload names, how each is drawn, and why one of them cannot be."""

import contextlib
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from groupwise.app.core import format, run_facts
from groupwise.app.core.end_reason import reason_of, shorten_reason
from groupwise.app.core.errors import Unanswerable
from groupwise.app.ui import run_colours
from groupwise.app.ui.live import Payload, is_ongoing, texts
from groupwise.app.ui.safe_text import visible_text
from groupwise.app.ui.state_badge import against, kind, label, verdict_words
from groupwise.storage.analysis.outcome import Outcome
from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.record import record_check, run_files, states
from groupwise.storage.registry import registry, trash
from groupwise.storage.spec import spec as specs
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.problem import SpecError

MOST = run_colours.PALETTE
DELETED = "Deleted. It can be restored on the Runs page, under Deleted."
UNKNOWN = "There is no run of this id here."


def run_ids(payload: Payload) -> list[str]:
    """The ids that a payload names, each once, in its order; more than can be compared are cut off."""
    return list(dict.fromkeys(texts(payload, "ids")[: 10 * MOST]))[:MOST]


@contextlib.contextmanager
def open_run_record(run: registry.Run) -> Iterator[Database]:
    """The run's record, opened once. Raises Unanswerable, in words that stand beside the run's name, for what is wrong
    with this run alone."""
    if not run.folder.path.is_dir():
        raise Unanswerable("Its folder is not where it was.")
    try:
        record_check.refuse_lost(run.folder, run.state, run.step)
    except record_check.LostRecord as lost:
        raise Unanswerable(f"Its {lost.how}.") from lost
    if not run.folder.db.is_file():
        is_live = run.state in states.LIVE
        raise Unanswerable("Nothing is recorded yet." if is_live else "It ended before anything was recorded.")
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
            raise Unanswerable(
                "Its record is incomplete: it was copied in part, or an older version made it."
            ) from error
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
    """How each run is called and drawn: a colour that no other of them has, and the end of its id where another has its
    name."""
    there = [run for _, run in runs if run is not None]
    colours = run_colours.colours_of(there)
    verdicts = run_facts.outcomes_of(there)
    gone = deleted_among([run_id for run_id, run in runs if run is None])
    names = [visible_text(run.name if run else gone.get(run_id, format.shorten(run_id, 80))) for run_id, run in runs]
    found = []
    for (run_id, run), name in zip(runs, names, strict=True):
        colour = colours.get(run_id, run_colours.NONE)
        about = about_run(run, verdicts) if run else {"problem": DELETED if run_id in gone else UNKNOWN}
        called = f"{name} · {run_id.rpartition('-')[2]}" if names.count(name) > 1 else name
        drawn = {"id": run_id, "name": called, "colour": colour, "dash": run_colours.dash_of(colour)}
        other = bool(run and not run_colours.has_its_own(run, colour))
        found.append(drawn | {"there": bool(run), "other_colour": other} | about)
    return found


def deleted_among(run_ids: Collection[str]) -> dict[str, str]:
    """The names of those of these runs that were deleted and can be restored, by id."""
    deleted = trash.deleted_runs() if run_ids else []
    return {one.run.id: one.run.name for one in deleted if one.run.id in run_ids}


def about_run(run: registry.Run, verdicts: Mapping[str, Outcome]) -> dict[str, Any]:
    """A run's state, how it is shown, and why it did not end as planned, in short (`brief`) and in full (`reason`)."""
    reason = visible_text(reason_of(run))
    told = {"brief": shorten_reason(reason), "reason": reason}
    return {"state": run.state, **badge_of(run, verdicts), "live": is_ongoing(run), **told}


def badge_of(run: registry.Run, facts: Mapping[str, Outcome]) -> dict[str, str]:
    """The kind of a run's state and its words (`label`): the state alone (`short`) and what is said against the run
    (`against`, "" for nothing); and the verdict on its end, as it stands in a sentence ("" for none)."""
    told = facts.get(run.id, Outcome())
    said, alone = label(run.state, told.verdict), verdict_words(told.verdict)
    words = {"label": said, "short": label(run.state), "against": against(told.verdict), "verdict": alone}
    return {"kind": kind(run.state, told.level), **{name: visible_text(each) for name, each in words.items()}}
