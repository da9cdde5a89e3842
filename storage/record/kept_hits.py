"""What was last found in a record without words, for the next search: whoever types a word has the completions without
it on the page already. A record only grows, so that what was found is true until there is a newer completion."""

import os
import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from pathlib import Path

from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.record.hits import Hits

SEARCHES = 2  # that are kept
LONGEST = 250_000  # hits of one, at about 120 bytes each

_lock = threading.Lock()
_kept: OrderedDict[Hashable, Hits] = OrderedDict()


def key(run: Database, path: Path, where: Sequence[str], values: Sequence[object]) -> Hashable:
    """What a search without words is known by: the file, its newest completion, and the conditions."""
    file = os.stat(path)  # a deleted file's number may be another's now, and a path another file's
    [newest] = run.execute("SELECT max(id) FROM completion").fetchone()
    return str(path), file.st_dev, file.st_ino, newest, tuple(where), tuple(values)


def get(search: Hashable) -> Hits | None:
    """What that search found, the newest first, if it is kept. Not to be changed: others have the same list."""
    with _lock:
        if search in _kept:
            _kept.move_to_end(search)
        return _kept.get(search)


def keep(search: Hashable, hits: Hits) -> None:
    """Keep what a search found, instead of what was asked for longest ago."""
    if len(hits) > LONGEST:
        return
    with _lock:
        _kept[search] = hits
        while len(_kept) > SEARCHES:
            _kept.popitem(last=False)
