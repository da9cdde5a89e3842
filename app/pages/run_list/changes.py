"""What the Runs page changes: names, notes and tags of runs; runs are stopped, deleted, restored and erased.

Each function takes `ids`, the runs it is about, and says of those that it could not change why.
"""

from collections.abc import Callable
from typing import Any

from groupwise.app.core import format, worker_process
from groupwise.app.core.errors import Unanswerable
from groupwise.app.ui.live import Payload, answer, text, texts
from groupwise.storage.record import states
from groupwise.storage.registry import commands, labels, registry, trash
from groupwise.storage.registry.commands import Refused
from groupwise.storage.spec.spec import MOST_NAME

MOST = 2000  # runs at once
NAMED = 3  # of those that could not be changed
SHOWN = 300  # characters of a note that somebody else wrote meanwhile
LONGEST = 100_000  # characters of a tag that are read: one that is too long is refused with its length


def runs_asked(payload: Payload) -> list[str]:
    """The runs that a payload names, each once. Raises Unanswerable where it names none, or too many."""
    ids = list(dict.fromkeys(texts(payload, "ids")))
    if not ids:
        raise Unanswerable("Choose a run first.")
    if len(ids) > MOST:
        raise Unanswerable(f"{MOST:,} runs are the most that can be changed at once.")
    return ids


def words_asked(payload: Payload, key: str) -> str:
    """A text of a payload, as it is: what is too long is refused with its length. Raises Unanswerable where there is
    none."""
    value = payload.get(key)
    if not isinstance(value, str):
        raise Unanswerable("Nothing was written.")
    return value


def _gone(payload: Payload) -> dict[str, Any]:
    """What to say where the one run that is written of was deleted meanwhile: by the name that the page shows of it
    (`called`), as nobody sees its id. `deleted`: whether it can be restored. Nothing where it is there."""
    called, ids = text(payload, "called"), runs_asked(payload)
    if not called or len(ids) > 1 or registry.get_run(ids[0]):
        return {}
    name = f"“{format.shorten(called, MOST_NAME)}”"
    if any(gone.run.id == ids[0] for gone in trash.deleted_runs()):
        return {"sentence": f"{name} was deleted in another window.", "deleted": True}
    return {"sentence": f"{name} was deleted for good: it cannot be restored.", "deleted": False}


@answer
def rename_run(payload: Payload) -> dict[str, Any]:
    """Give the one run of `ids` the name `name`; one that another run has only where it is asked for `again`. `was`:
    the name that the page showed, in whose place it is put."""
    if gone := _gone(payload):
        return gone
    run_id, name, was = _only(payload), words_asked(payload, "name"), _shown_before(payload)
    if payload.get("again") is not True and name != was and labels.is_taken(run_id, name):
        words = f"Another run is called “{format.shorten(labels.on_one_line(name), 60)}” already."
        return {"sentence": f"{words} Save again to call this one so too.", "taken": True}
    try:
        labels.rename(run_id, name, read=was)
    except labels.Meanwhile as other:
        return {"sentence": f"It was renamed to “{other.now}” meanwhile.", "meanwhile": other.now}
    return {"done": 1}


@answer
def annotate_run(payload: Payload) -> dict[str, Any]:
    """Say `note` of the one run of `ids`. `was`: the note that the page showed, in whose place it is put."""
    if gone := _gone(payload):
        return gone
    try:
        labels.write_note(_only(payload), words_asked(payload, "note"), read=_shown_before(payload))
    except labels.Meanwhile as other:
        words = f"changed to “{format.shorten(other.now, SHOWN)}”" if other.now else "removed"
        return {"sentence": f"The note was {words} meanwhile.", "meanwhile": other.now}
    return {"done": 1}


def _shown_before(payload: Payload) -> str | None:
    """What the page showed before a person wrote something else there; None where it does not say."""
    was = payload.get("was")
    return was if isinstance(was, str) else None


def _only(payload: Payload) -> str:
    ids = runs_asked(payload)
    if len(ids) > 1:
        raise Unanswerable("One run at a time has a name and a note.")
    return ids[0]


@answer
def tag_runs(payload: Payload) -> dict[str, Any]:
    """Put the tags `add` on the runs, and take `remove` off."""
    if gone := _gone(payload):
        return gone
    ids = runs_asked(payload)
    labels.retag(ids, add=texts(payload, "add", LONGEST), remove=texts(payload, "remove", LONGEST))
    return {"done": len(ids)}


@answer
def stop_runs(payload: Payload) -> dict[str, Any]:
    """Ask the runs among `ids` that train or wait to stop; the others have ended already."""
    active = {run.id for run in registry.list_runs(only={states.QUEUED, *states.LIVE})}
    ids = [run_id for run_id in runs_asked(payload) if run_id in active]
    if not ids:
        raise Unanswerable("None of these runs trains or waits.")
    reply = _each(ids, lambda run_id: commands.ask_of_run(run_id, commands.STOP))
    worker_process.wake_worker()
    return reply


@answer
def delete_runs(payload: Payload) -> dict[str, Any]:
    """Delete the runs, for a day so that they can be restored."""
    return _each(runs_asked(payload), trash.delete_run)


@answer
def restore_runs(payload: Payload) -> dict[str, Any]:
    """Put deleted runs back. One that is put back already needs nothing more."""
    if text(payload, "called"):
        gone = _gone(payload)
        if not gone.get("deleted"):
            return gone or {"done": 1, "runs": runs_asked(payload)}
    return _each(runs_asked(payload), trash.restore_run)


@answer
def erase_runs(payload: Payload) -> dict[str, Any]:
    """Remove deleted runs for good: their disk is free at once."""
    ids = runs_asked(payload)
    return {"done": trash.erase(set(ids)), "runs": ids}


def _each(ids: list[str], change: Callable[[str], None]) -> dict[str, Any]:
    """Change each run: how many were, which, and why the others were not. Raises Refused where none was."""
    done, refused = [], []
    for run_id in ids:
        try:
            change(run_id)
            done.append(run_id)
        except (Refused, ValueError) as reason:
            refused.append(str(reason))
    if not done:
        raise Refused(refused[0] if len(refused) == 1 else f"No run was changed. {_say_refused(refused)}")
    left = f"{format.plural(len(refused), 'run')} not changed: {_say_refused(refused)}" if refused else ""
    return {"done": len(done), "runs": done, "left": left}


def _say_refused(reasons: list[str]) -> str:
    """Why runs were not changed: the first of them, and how many more there are."""
    more = [f"{format.count(len(reasons) - NAMED)} more were not changed either."] if len(reasons) > NAMED else []
    return " ".join([*reasons[:NAMED], *more])


FUNCTIONS = (rename_run, annotate_run, tag_runs, stop_runs, delete_runs, restore_runs, erase_runs)
