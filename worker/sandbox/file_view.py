"""What of this machine's files a sandbox sees: Python, its packages and the system's libraries; nothing of anyone's."""

import functools
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from groupwise.storage.home import paths

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE_FOLDERS = ("site-packages", "dist-packages")

# Files under /etc that libraries need. Debian's alternatives are where numpy's own libraries lie.
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives")
# Whom to trust on the internet, and none of the private keys that lie beside it. Names are looked up by the proxy.
NETWORK_FILES = (
    "/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/pki/tls/cert.pem",
    "/etc/pki/ca-trust", "/etc/ca-certificates", "/var/lib/ca-certificates",
)  # fmt: skip
LIBRARY_LINKS = ("/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin")  # into /usr on today's systems


@dataclass(frozen=True)
class View:
    """python: the interpreter's real path. folders: what is visible besides /usr. paths: where packages are found."""

    python: str
    folders: tuple[str, ...]
    paths: tuple[str, ...]


@functools.cache
def view() -> View:
    """What this interpreter needs. sys.executable may be a link in a virtual environment, or a version manager's: what
    it really is gets shown, and of each prefix only the parts that Python uses."""
    python = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    prefixes = {os.path.dirname(os.path.dirname(python)), sys.base_prefix, sys.exec_prefix, sys.prefix}
    parts = [os.path.join(prefix, part) for prefix in prefixes for part in ("bin", "lib", "lib64", "pyvenv.cfg")]
    paths = _package_paths()
    return View(python, tuple(_outermost(path for path in [*parts, *paths] if os.path.exists(path))), paths)


def _package_paths() -> tuple[str, ...]:
    """The folders of installed packages, and those that .pth files in them name (packages under development). The
    current folder, PYTHONPATH and Groupwise's own repository are none of them."""
    sites = [path for path in sys.path if os.path.basename(path) in PACKAGE_FOLDERS and os.path.isdir(path)]
    named = [path for site in sites for path in _named_by_pth(site)]
    return tuple(dict.fromkeys([*sites, *(path for path in named if path in sys.path and not _is_private(path))]))


def _named_by_pth(site: str) -> list[str]:
    try:
        files = [path for path in Path(site).glob("*.pth") if path.is_file()]
        lines = [line.strip() for path in files for line in path.read_text("utf-8", "replace").splitlines()]
    except OSError:
        return []
    places = [
        os.path.normpath(os.path.join(site, line)) for line in lines if line and not line.startswith(("#", "import"))
    ]
    return [place for place in places if os.path.isdir(place)]


def _is_private(path: str) -> bool:
    """Whether a folder holds, or is in, what reward code may not see."""
    place, data = Path(path).resolve(), paths.home().resolve()
    holds = any(secret.is_relative_to(place) for secret in (data, Path.home().resolve(), REPOSITORY))
    return holds or place.is_relative_to(data)


def _outermost(paths: Iterable[str]) -> list[str]:
    """The paths that lie in none of the others, nor in /usr, which is there anyway."""
    kept: list[str] = []
    for path in sorted(set(paths)):
        if not any(path == other or path.startswith(other + "/") for other in ["/usr", *kept]):
            kept.append(path)
    return kept
