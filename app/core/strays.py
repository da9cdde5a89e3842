"""What lies among the folders of runs and is no run, in words: someone may look for it."""

import os
from collections.abc import Collection, Sequence

from groupwise.app.core import format
from groupwise.storage.home import paths
from groupwise.storage.library import repair

NAMED, MOST = 3, 200  # in the sentence; where all are shown
ADVICE = "Copy the folder of a run again, whole and under its own name."
SETTLED = 10.0  # seconds after which a folder is no longer in the making


def found_strays(known: Collection[str]) -> list[str]:
    """What lies among the folders of the `known` runs, each with what is wrong with it."""
    return [f"“{format.shorten(name, 60)}” {why}" for name, why in repair.stray_folders(known, settled=SETTLED)]


def stray_words(found: Sequence[str], named: int = NAMED) -> str:
    """The same in a sentence, which names so many, and what to do; "" where there are none."""
    if not found:
        return ""
    told = found[:named]
    more = [f"and {format.count(len(found) - named)} more"] if len(found) > named else []
    one = "entry in runs/ is not a run" if len(found) == 1 else "entries in runs/ are not runs"
    return f"{format.count(len(found))} {one}: {', '.join([*told, *more])}. {ADVICE}"


def why_stray(name: str) -> str:
    """What is wrong with the one that was copied there under this name, and what to do; "" where there is none."""
    if name.startswith(".") or name not in os.listdir(paths.runs_folder()):
        return ""
    why = repair.why_no_run(path := paths.runs_folder() / name)
    return f"{path} is not a run: it {why}. {ADVICE}" if why else ""
