"""What people call a run and say of it: its name, a note, its tags. Columns of its row, of which a copy lies in its
folder; its id and what it was asked to do stay as they are."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.record.run_files import LONGEST_NOTE, LONGEST_TAG, MOST_TAGS
from groupwise.storage.registry import registry
from groupwise.storage.registry.commands import Refused
from groupwise.storage.spec.spec import MOST_NAME
from groupwise.storage.spec.words.run_names import NEEDED, name_fault, on_one_line

Change = Callable[[Database], None]


class Meanwhile(Refused):
    """Somebody else wrote something else there since it was read: it is `now`."""

    def __init__(self, now: str) -> None:
        super().__init__(f"It has been changed to “{now}” since.")
        self.now = now


def rename(run_id: str, name: str, *, read: str | None = None) -> None:
    """Give a run another name, on one line. `read`: the name that it is to take the place of. Raises Refused, and
    Meanwhile where the run has another than `read` by now."""
    _change([run_id], renaming(run_id, name, read=read))


def renaming(run_id: str, name: str, *, read: str | None = None) -> Change:
    """What `rename` does in the registry."""
    line = on_one_line(name)
    if fault := name_fault(line):
        raise Refused(fault if fault.startswith(NEEDED) else f"The name {fault}")
    if len(line) > MOST_NAME:
        raise Refused(f"A run's name has at most {MOST_NAME} characters; this one has {len(line):,}.")
    return _writing_over(run_id, "name", line, read)


def is_taken(run_id: str, name: str) -> bool:
    """Whether a run other than this one has the name."""
    return any(run.id != run_id and run.name == on_one_line(name) for run in registry.list_runs(curves=False))


def write_note(run_id: str, note: str, *, read: str | None = None) -> None:
    """Say something of a run; nothing takes back what was said. `read`: the note that it is to take the place of.
    Raises Refused, and Meanwhile where the run has another than `read` by now."""
    _change([run_id], annotating(run_id, note, read=read))


def annotating(run_id: str, note: str, *, read: str | None = None) -> Change:
    """What `write_note` does in the registry."""
    words = note.strip()
    if len(words) > LONGEST_NOTE:
        raise Refused(f"A note has at most {LONGEST_NOTE:,} characters; this one has {len(words):,}.")
    return _writing_over(run_id, "note", words, read)


def _writing_over(run_id: str, column: str, words: str, read: str | None) -> Change:
    """Put words in the place of what was `read` there (None: of whatever is there). Who changed nothing of it changes
    nothing that somebody else wrote."""

    def change(index: Database) -> None:
        [now] = _read_row(index, run_id, column)
        if read is not None and now not in (read, words):
            if words == read:
                return
            raise Meanwhile(now)
        index.execute(f"UPDATE run SET {column} = ? WHERE id = ?", [words, run_id])

    return change


def retag(run_ids: Sequence[str], *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> None:
    """Add tags to runs, and take some off; what others add or take off at the same time stays so. Raises Refused; then
    no run was changed."""
    _change(run_ids, retagging(run_ids, add=add, remove=remove))


def retagging(run_ids: Sequence[str], *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> Change:
    """What `retag` does in the registry."""
    added, removed = _tidy(add), {tag.casefold() for tag in _tidy(remove)}

    def change(index: Database) -> None:
        for run_id in run_ids:
            tags = _merge(json.loads(_read_row(index, run_id, "tags")[0]), added, removed)
            if len(tags) > MOST_TAGS:
                raise Refused(f"A run has at most {MOST_TAGS} tags.")
            index.execute("UPDATE run SET tags = ? WHERE id = ?", [json.dumps(tags, ensure_ascii=False), run_id])

    return change


def relabel(run_id: str, makers: Mapping[str, Callable[[], Change]]) -> dict[str, Refused]:
    """Make all of these changes of a run, or none of them where any is refused: why, by what it is of."""
    refused: dict[str, Refused] = {}

    def change(index: Database) -> None:
        for what, make in makers.items():
            try:
                make()(index)
            except Refused as why:
                refused[what] = why
        if refused:
            raise next(iter(refused.values()))  # which takes back the others

    try:
        _change([run_id], change)
    except Refused:
        if not refused:
            raise
    return refused


def tags_named(words: str) -> list[str]:
    """The tags that a person names, as they are kept. Raises Refused where there is none."""
    if not (found := _tidy([words])):
        raise Refused("A tag needs a name.")
    return found


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


def _read_row(index: Database, run_id: str, column: str) -> tuple[str]:
    row: tuple[str] | None = index.execute(f"SELECT {column} FROM run WHERE id = ?", [run_id]).fetchone()
    if row is None:
        raise Refused(f"There is no run “{run_id[:80]}”.")
    return row


def _change(run_ids: Sequence[str], change: Change) -> None:
    """Read and write in one transaction, so that nobody else writes in between; then copy it into the folders."""
    with registry.write_registry() as index:
        change(index)
    for run_id in run_ids:
        registry.keep_beside(run_id)
