"""What people call a run and say of it: its name, a note, its tags. Columns of its row, of which a copy lies in its
folder; its id and what it was asked to do stay as they are."""

from collections.abc import Iterable, Sequence
from typing import Any

from groupwise.storage.record.run_files import LONGEST_NOTE, LONGEST_TAG, MOST_TAGS
from groupwise.storage.registry import registry
from groupwise.storage.registry.commands import Refused
from groupwise.storage.spec.spec import MOST_NAME


def rename(run_id: str, name: str) -> None:
    """Give a run another name, on one line. Raises Refused."""
    line = on_one_line(name)
    if not line:
        raise Refused("A run needs a name.")
    if len(line) > MOST_NAME:
        raise Refused(f"A run's name has at most {MOST_NAME} characters; this one has {len(line):,}.")
    _change(run_id, name=line)


def on_one_line(name: str) -> str:
    """A name as it is kept."""
    return " ".join(name.split())


def is_taken(run_id: str, name: str) -> bool:
    """Whether a run other than this one has the name."""
    return any(run.id != run_id and run.name == on_one_line(name) for run in registry.list_runs(curves=False))


def write_note(run_id: str, note: str) -> None:
    """Say something of a run; nothing takes back what was said. Raises Refused."""
    words = note.strip()
    if len(words) > LONGEST_NOTE:
        raise Refused(f"A note has at most {LONGEST_NOTE:,} characters; this one has {len(words):,}.")
    _change(run_id, note=words)


def retag(run_ids: Sequence[str], *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> None:
    """Add tags to runs, and take some off. Raises Refused; then no run was changed."""
    added, removed = _tidy(add), {tag.casefold() for tag in _tidy(remove)}
    changes = {run.id: _merge(run.tags, added, removed) for run in map(_existing, run_ids)}
    if any(len(tags) > MOST_TAGS for tags in changes.values()):
        raise Refused(f"A run has at most {MOST_TAGS} tags.")
    for run_id, tags in changes.items():
        _change(run_id, tags=tags)


def _merge(tags: Sequence[str], added: Sequence[str], removed: set[str]) -> list[str]:
    """The tags that a run has then, each once however it is written."""
    found = {tag.casefold(): tag for tag in [*added[::-1], *tags[::-1]]}
    return sorted((tag for key, tag in found.items() if key not in removed), key=str.casefold)


def _tidy(tags: Iterable[str]) -> list[str]:
    """Tags as they are kept. A comma stands between tags, so none is in one. Raises Refused."""
    found = [" ".join(part.split()) for tag in tags for part in tag.split(",")]
    for tag in found:
        if len(tag) > LONGEST_TAG:
            named = f"“{tag[: LONGEST_TAG - 10].rstrip()}…” has {len(tag):,}"
            raise Refused(f"A tag has at most {LONGEST_TAG} characters; {named}.")
    return [tag for tag in found if tag]


def _existing(run_id: str) -> registry.Run:
    run = registry.get_run(run_id)
    if run is None:
        raise Refused(f"There is no run “{run_id[:80]}”.")
    return run


def _change(run_id: str, **columns: Any) -> None:
    if not registry.set_facts(run_id, **columns):
        raise Refused(f"There is no run “{run_id[:80]}”.")
    registry.keep_beside(run_id)
