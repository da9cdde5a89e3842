"""The data home: where it is, whether it can be written, on what kind of disk, and how much lies there."""

import os
import time
from pathlib import Path

from groupwise.app.cli.doctor.finding import NOTE, OK, PROBLEM, Finding
from groupwise.app.core import format
from groupwise.storage.home import disk, file_system, paths

LITTLE = 5 * 10**9  # bytes under which a checkpoint of a model of half a billion parameters may find no room
COUNTING = 1.5  # seconds for adding up what lies there
KNOWN = ("runs", "trash", "data", "models", "rewards", "uploads")  # folders of the home, which are named


def look_at_home() -> list[Finding]:
    """The home itself, and its disk."""
    try:
        paths.refuse_no_folder()
    except paths.HomeError as error:
        advice = paths.OTHER_HOME
        return [Finding("Data home", PROBLEM, str(error).removesuffix(advice).strip(), advice)]
    except OSError as error:
        return [Finding("Data home", PROBLEM, f"{paths.home()} cannot be reached: {error.strerror}.", paths.OTHER_HOME)]
    place = paths.home()
    there = file_system.nearest_folder(place)
    kind = file_system.kind_of_file_system(there)
    return [_place(place, there, kind), *_kind_of_disk(kind), _room(place, there, kind)]


def _place(place: Path, there: Path, kind: str) -> Finding:
    how = "from GROUPWISE_HOME" if os.environ.get("GROUPWISE_HOME") else "the default: GROUPWISE_HOME is not set"
    where = f"{place} ({how})"
    if there != place:
        if kind in file_system.NO_DISK or not _can_write(there):
            says = f"{where} does not exist and cannot be made in {there}."
            return Finding("Data home", PROBLEM, says, paths.OTHER_HOME)
        return Finding("Data home", OK, f"{where} does not exist yet; the first start makes it.")
    refused = [one for one in _parts(place) if os.path.lexists(one) and not _can_write(one)]
    if refused:
        what = "it" if refused[0] == place else refused[0].name
        do = f"Let this user (id {os.geteuid()}) write there. Or: {paths.OTHER_HOME}"
        return Finding("Data home", PROBLEM, f"{where}: {what} cannot be written.", do)
    return Finding("Data home", OK, f"{where}.")


def _parts(place: Path) -> list[Path]:
    """What has to be written for a run to be started."""
    return [place, *paths.home_folders(), paths.registry_path()]


def _can_write(place: Path) -> bool:
    wanted = os.R_OK | os.W_OK | (os.X_OK if place.is_dir() else 0)
    return os.access(place, wanted, effective_ids=True)


def _kind_of_disk(kind: str) -> list[Finding]:
    """What should be known of the kind of file system; nothing of an ordinary one."""
    elsewhere = "Put the home on a disk of this machine: GROUPWISE_HOME=/some/folder."
    if kind in file_system.NETWORK:
        says = f"The home is on a network file system ({kind}), whose locks SQLite cannot rely on."
        return [Finding("File system", NOTE, says, elsewhere)]
    if kind in file_system.MEMORY:
        says = f"The home is in memory ({kind}): it is gone when this machine starts again."
        return [Finding("File system", NOTE, says, elsewhere)]
    if kind == file_system.LAYER:
        says = f"The home is in the container’s own layer ({kind}): it goes when the container is removed."
        return [Finding("File system", NOTE, says, "Mount a volume there, or set GROUPWISE_HOME to a folder on one.")]
    return []


def _room(place: Path, there: Path, kind: str) -> Finding:
    free = disk.free_bytes(there)
    says = f"{format.size(free)} free{f' ({kind})' if kind else ''}{_sizes(place) if there == place else ''}."
    less = "Delete runs or checkpoints that are not needed, or choose another disk with GROUPWISE_HOME=/some/folder."
    if free < disk.TO_BEGIN:
        return Finding("Disk", PROBLEM, f"{says} No run begins with less than {disk.megabytes(disk.TO_BEGIN)}.", less)
    if free < LITTLE:
        return Finding("Disk", NOTE, f"{says} That is little for checkpoints of all but tiny models.", less)
    return Finding("Disk", OK, says)


def _sizes(place: Path) -> str:
    """How much lies in the home, and what of it is most."""
    until, parts = time.monotonic() + COUNTING, {}
    with os.scandir(place) as entries:
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            alone = entry.stat(follow_symlinks=False).st_blocks * 512, True
            parts[entry.name] = file_system.bytes_below(place / entry.name, until) if is_folder else alone
    more = "" if all(whole for _, whole in parts.values()) else "more than "
    most = sorted(((size, name) for name, (size, _) in parts.items() if size and name in KNOWN), reverse=True)[:3]
    of_it = ", ".join(f"{name} {format.size(size)}" for size, name in most)
    return f"; {more}{format.size(sum(size for size, _ in parts.values()))} in the home{f' ({of_it})' if of_it else ''}"
