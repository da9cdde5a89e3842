"""What the doctor's advice asks a person to choose in a new run, which changes nothing by itself: named on arrival."""

import sqlite3
from typing import Any

from groupwise.app.core.errors import Unanswerable
from groupwise.app.pages.run import doctor
from groupwise.storage.registry import registry


def advice_followed(run_id: str, verdict: str, field: str) -> dict[str, Any] | None:
    """What is to be chosen at a field (`label`, `choose`), and `why`: the run's verdict of this key. None where it has
    no such advice by now."""
    try:
        run = registry.get_run(run_id) if run_id and verdict and field else None
        told = doctor.drawn_verdict(run, verdict) if run else None
    except (Unanswerable, registry.RegistryError, sqlite3.Error, OSError, ValueError):
        return None
    choices = [one for one in (told or {}).get("changes", []) if "choose" in one and one.get("at") == field]
    if told is None or not choices:
        return None
    title = told["title"] + ("" if told["title"].endswith("?") else ".")
    return {"label": choices[0]["label"], "choose": choices[0]["choose"], "why": f"{title} {told['sentence']}"}
