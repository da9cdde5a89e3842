"""Names, notes and tags of runs, as they are written on Runs and on a run's own page.

Each function takes `ids`, the runs it is about, and says of those that it could not change why.
"""

from collections.abc import Callable
from typing import Any

from groupwise.app.core import format
from groupwise.app.core.errors import Unanswerable
from groupwise.app.ui.live import Payload, answer, text, texts
from groupwise.storage.registry import commands, labels, registry, trash
from groupwise.storage.spec.spec import MOST_NAME
from groupwise.storage.spec.words.run_names import on_one_line

MOST = 2000  # runs at once
SHOWN = 300  # characters of a note that somebody else wrote meanwhile
LONGEST = 100_000  # characters of a tag that are read: one that is too long is refused with its length


def runs_asked(payload: Payload) -> list[str]:
    """The runs that a payload names, each once. Raises Unanswerable where it names none, or too many."""
    ids = list(dict.fromkeys(texts(payload, "ids")))
    if not ids:
        raise Unanswerable("Choose a run first.")
    if len(ids) > MOST:
        raise Unanswerable(f"At most {MOST:,} runs can be changed at once.")
    return ids


def words_asked(payload: Payload, key: str) -> str:
    """A text of a payload, as it is: what is too long is refused with its length. Raises Unanswerable where there is
    none."""
    value = payload.get(key)
    if not isinstance(value, str):
        raise Unanswerable("Nothing was written.")
    return value


def say_gone(payload: Payload) -> dict[str, Any]:
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
    if gone := say_gone(payload):
        return gone
    run_id, name, was = _only(payload), words_asked(payload, "name"), _shown_before(payload)
    if taken := _say_taken(run_id, payload):
        return taken
    try:
        labels.rename(run_id, name, read=was)
    except labels.Meanwhile as other:
        return _say_why("name", other)
    return {"done": 1}


def _say_taken(run_id: str, payload: Payload) -> dict[str, Any]:
    """What to say where another run has the `name`, and it is not asked for `again`; nothing else."""
    name = words_asked(payload, "name")
    if payload.get("again") is True or name == _shown_before(payload) or not labels.is_taken(run_id, name):
        return {}
    words = f"Another run is called “{format.shorten(on_one_line(name), 60)}” already."
    return {"sentence": f"{words} Save again to call this one so too.", "taken": True}


def _say_why(what: str, refused: commands.Refused) -> dict[str, Any]:
    """Why the `name`, the `note` or the `tags` were not saved, in words."""
    if not isinstance(refused, labels.Meanwhile):
        return {"sentence": str(refused)}
    now = refused.now
    if what == "name":
        return {"sentence": f"It has since been renamed to “{now}”.", "meanwhile": now}
    words = f"changed to “{format.shorten(now, SHOWN)}”" if now else "removed"
    return {"sentence": f"The note has since been {words}.", "meanwhile": now}


@answer
def label_run(payload: Payload) -> dict[str, Any]:
    """Give the one run of `ids` what is written of its `name`, `note` and `tags`, each as its own function takes it:
    all of it, or where any is refused nothing, and why, by what it is of (`refused`)."""
    if gone := say_gone(payload):
        return gone
    run_id = _only(payload)
    parts = {what: part for what in ("name", "tags", "note") if isinstance(part := payload.get(what), dict)}
    if taken := _say_taken(run_id, parts["name"]) if "name" in parts else {}:
        return {"refused": {"name": taken}}
    refused = labels.relabel(run_id, {what: _maker(run_id, what, part) for what, part in parts.items()})
    if refused:
        return {"refused": {what: _say_why(what, why) for what, why in refused.items()}}
    return {"done": 1}


def _maker(run_id: str, what: str, part: Payload) -> Callable[[], labels.Change]:
    """What makes the change that a part of a payload asks for."""
    if what == "tags":
        add, remove = texts(part, "add", LONGEST), texts(part, "remove", LONGEST)
        return lambda: labels.retagging([run_id], add=add, remove=remove)
    words, read = words_asked(part, what), _shown_before(part)
    make = labels.renaming if what == "name" else labels.annotating
    return lambda: make(run_id, words, read=read)


@answer
def annotate_run(payload: Payload) -> dict[str, Any]:
    """Say `note` of the one run of `ids`. `was`: the note that the page showed, in whose place it is put."""
    if gone := say_gone(payload):
        return gone
    try:
        labels.write_note(_only(payload), words_asked(payload, "note"), read=_shown_before(payload))
    except labels.Meanwhile as other:
        return _say_why("note", other)
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
    if gone := say_gone(payload):
        return gone
    ids = runs_asked(payload)
    labels.retag(ids, add=texts(payload, "add", LONGEST), remove=texts(payload, "remove", LONGEST))
    return {"done": len(ids)}


LABELLERS = (rename_run, annotate_run, tag_runs)
