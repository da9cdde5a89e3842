"""Answers that are the same for all who watch a run: worked out once, until something is written to its files.

The files are looked at with `stat` only: to open a file that SQLite has open, and close it, would drop its locks.
"""

import functools
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from groupwise.storage.home import db, files, paths

KEPT = 256  # answers of one function
# Answers a second, whatever the files say: ages go on, and a commit shows some time after it is written where its disk
# is slow.
A_SECOND = 4
LONGEST_KEY = 200  # characters
Function = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass
class _Answer:
    """The last answer to one question, and what the files were when it was worked out."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    stamp: files.Stamp | None = None
    said: dict[str, Any] = field(default_factory=dict)


def share_answers(*names: str, large: str = "") -> Callable[[Function], Function]:
    """Share a function's answers among all who give the same payload, as far as `run` and `names` of it go.

    An answer may depend on the registry, the run's folder and its record, and on the time. `large`: not kept where
    this is set in it. What is raised is not kept either. Nobody may change an answer.
    """

    def decorate(function: Function) -> Function:
        answers: OrderedDict[str, _Answer] = OrderedDict()
        lock = threading.Lock()

        def answer_to(key: str) -> _Answer:
            with lock:
                found = answers.setdefault(key, _Answer())
                answers.move_to_end(key)
                while len(answers) > KEPT:
                    answers.popitem(last=False)
                return found

        @functools.wraps(function)
        def once(payload: dict[str, Any]) -> dict[str, Any]:
            key = json.dumps(
                [int(time.time() * A_SECOND), *(payload.get(name) for name in ("run", *names))], default=str
            )
            if len(key) > LONGEST_KEY:
                return function(payload)
            answer = answer_to(key)
            with answer.lock:  # twenty who ask at once have it worked out once
                stamp = _stamp(payload.get("run"))
                if stamp is None or stamp != answer.stamp:
                    said = function(payload)
                    if stamp is None or said.get(large):
                        return said
                    answer.stamp, answer.said = stamp, said
                return answer.said

        return once

    return decorate


def _stamp(run_id: object) -> files.Stamp | None:
    """Of everything that an answer about this run is drawn from; None where it cannot be told."""
    try:
        folder = paths.run_folder(run_id if isinstance(run_id, str) else "")
    except ValueError:
        return None
    return files.stamp(folder.path, *db.files_of(folder.db), *db.files_of(paths.registry_path()))
