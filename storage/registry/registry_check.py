"""Whether registry.db can be used, looked at without changing anything; and when something was published in it."""

import contextlib
import sqlite3
from dataclasses import dataclass

from groupwise.storage.home import db, files, migrations, paths
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import Fact

ABSENT = "absent"  # there is none yet
SOUND = "sound"
OLDER = "older"  # an older version's: brought up to date at the next start
CUT_SHORT = "cut short"  # a write was: the next to write takes it back
NEWER = "newer"
DAMAGED = "damaged"
REFUSED = "refused"  # it is locked, or cannot be opened
READABLE = frozenset({SOUND, NEWER})
PATIENCE = 2.0  # seconds for whoever holds it


@dataclass(frozen=True)
class RegistryLook:
    """How the registry is: one of the words above, and a sentence where it cannot be used."""

    state: str
    sentence: str = ""


def look_at_registry() -> RegistryLook:
    """How the registry of this home is. It is opened for reading alone, so that not even a write that was cut short is
    taken back."""
    path = paths.registry_path()
    if not files.exists(path):
        return RegistryLook(ABSENT)
    try:
        with contextlib.closing(db.open_reader(path, journal="delete", untouched=True, patience=PATIENCE)) as found:
            registry.refuse_newer(found)
            word = str(found.execute("PRAGMA quick_check(1)").fetchone()[0])
            if word != "ok":
                raise registry.damage_error(word.splitlines()[-1])
            applied = migrations.applied_migrations(found, migrations.registry)
    except registry.Newer as error:
        return RegistryLook(NEWER, str(error))
    except registry.Damaged as error:
        return RegistryLook(DAMAGED, str(error))
    except sqlite3.DatabaseError as error:
        return _look_of(error)
    if not applied:
        return RegistryLook(ABSENT)
    return RegistryLook(SOUND if set(migrations.names(migrations.registry)) <= set(applied) else OLDER)


def _look_of(error: sqlite3.DatabaseError) -> RegistryLook:
    if db.is_damage(error):
        return RegistryLook(DAMAGED, str(registry.damage_error(str(error))))
    if getattr(error, "sqlite_errorname", "") == "SQLITE_READONLY_ROLLBACK":
        return RegistryLook(CUT_SHORT)
    return RegistryLook(REFUSED, f"The registry {paths.registry_path()} cannot be used just now ({error}).")


def time_of_fact(fact: type[Fact]) -> float | None:
    """When this was last published; None where it never was."""
    with registry.read_registry() as found:
        row = found.execute("SELECT at FROM published WHERE key = ?", [fact.key]).fetchone()
    return float(row[0]) if row else None
