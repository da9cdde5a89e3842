"""What lies among the folders of runs and is no run, in words: someone may look for it."""

from collections.abc import Collection, Sequence

from groupwise.app.core import format
from groupwise.storage.library import repair

NAMED, MOST = 3, 200  # in the sentence; where all are shown
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
    advice = "Copy the folder of a run again, whole and under its own name."
    return f"{format.count(len(found))} {one}: {', '.join([*told, *more])}. {advice}"
