"""Our own JavaScript: ES modules beside the pages that they draw, and the addresses under which a browser imports them.

The addresses hold a digest of all of them, so a browser may keep what it has fetched, and two versions never mix.
"""

import functools
import hashlib
import posixpath
import re
from collections.abc import Iterable
from pathlib import Path

APP = Path(__file__).parents[1]  # the room: modules and styles are named from there
PREFIX = "/modules/"
IMPORTED = re.compile(r'^import\b[^;]*?"(\.[^"]+)";', re.MULTILINE)


@functools.cache
def sources() -> dict[str, bytes]:
    """Every module's text, by its path as seen from app."""
    return {path.relative_to(APP).as_posix(): path.read_bytes() for path in sorted(APP.rglob("*.js"))}


@functools.cache
def digest() -> str:
    """16 hexadecimal digits that change with any module."""
    read = hashlib.sha256()
    for name, text in sources().items():
        read.update(f"{name} {len(text)}\n".encode() + text)
    return read.hexdigest()[:16]


def address(name: str) -> str:
    """Where a browser finds the module of this path: /modules/DIGEST/ui/poll.js."""
    return f"{PREFIX}{digest()}/{name}"


def with_imports(names: Iterable[str]) -> list[str]:
    """These modules and all that they import, each once."""
    found: dict[str, None] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = None
            waiting += [posixpath.normpath(posixpath.join(posixpath.dirname(name), other)) for other in imports(name)]
    return list(found)


def imports(name: str) -> list[str]:
    """What a module imports, as it names it: relative to itself. Raises KeyError where there is no such module."""
    return IMPORTED.findall(sources()[name].decode())
