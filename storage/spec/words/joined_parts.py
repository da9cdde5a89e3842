"""A part of a spec under a misspelt name, beside the part that is meant: the buttons that make one of both. Pure."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from groupwise.storage.spec.words.problem import Fix

SHOWN = 30  # characters of a value on a button


def join_fixes(path: str, value: Any, place: str, given: Collection[str]) -> tuple[Fix, ...]:
    """The buttons that put what the part at `path` holds into the part at `place`, one of those that are `given` beside
    it. Of a setting that is in both with another value there is a button for each; none of what are no parts."""
    meant = place.rpartition(".")[2]
    there = given[meant] if isinstance(given, Mapping) else None
    if isinstance(value, list) and isinstance(there, list) and value:
        new = [entry for entry in value if entry not in there]
        return (Fix("Join them", {f"{place}.{len(there) + n}": entry for n, entry in enumerate(new)}, (path,)),)
    if not isinstance(value, dict) or not isinstance(there, dict) or not all(map(_is_name, value)):
        return ()
    added = {f"{place}.{name}": inner for name, inner in value.items() if name not in there}
    others = [name for name, inner in value.items() if name in there and there[name] != inner]
    if not others:
        return (Fix("Join them", added, (path,)),) if value else ()
    taken = {f"{place}.{name}": value[name] for name in others}
    return (
        Fix(f"Join them, {_as_in(meant, there, others)}", added, (path,)),
        Fix(f"Join them, {_as_in(path.rpartition('.')[2], value, others)}", {**added, **taken}, (path,)),
    )


def _is_name(name: Any) -> bool:
    """Whether a setting can be set by its path."""
    return isinstance(name, str) and bool(name) and "." not in name


def _as_in(part: str, settings: dict[str, Any], names: list[str]) -> str:
    """Of the settings that are in both, which are taken."""
    first = settings[names[0]]
    only = first if isinstance(first, str) else json.dumps(first, default=str)
    if len(names) == 1 and len(only) <= SHOWN:
        return f"with “{names[0]}: {only}”"
    return f"with {names[0] if len(names) == 1 else f'{len(names)} settings'} as in {part}"
