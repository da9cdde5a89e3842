"""Answers that are the same for all who watch a run: worked out once, until something is written to its files."""

import functools
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from groupwise.app.core.run_stamp import stamp_of_answer
from groupwise.storage.home import files

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
                stamp = stamp_of_answer(payload.get("run"))
                if stamp is None or stamp != answer.stamp:
                    said = function(payload)
                    if stamp is None or said.get(large):
                        return said
                    answer.stamp, answer.said = stamp, said
                return answer.said

        return once

    return decorate
