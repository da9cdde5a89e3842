"""What lies among the folders of runs and is no run, in words: someone may look for it."""

from collections.abc import Collection

from groupwise.app.core import format
from groupwise.storage.library import repair

NAMED = 3
SETTLED = 10.0  # seconds after which a folder is no longer in the making


def stray_words(known: Collection[str]) -> str:
    """What lies among the folders of the `known` runs, what is wrong with it, and what to do; "" where nothing does."""
    found = repair.stray_folders(known, settled=SETTLED)
    if not found:
        return ""
    told = [f"“{format.shorten(name, 60)}” {why}" for name, why in found[:NAMED]]
    more = [f"and {format.count(len(found) - NAMED)} more"] if len(found) > NAMED else []
    one = "entry in runs/ is not a run" if len(found) == 1 else "entries in runs/ are not runs"
    advice = "Copy the folder of a run again, whole and under its own name."
    return f"{format.count(len(found))} {one}: {', '.join([*told, *more])}. {advice}"
