"""On what kind of file system a folder lies, as the kernel says: SQLite's locks hang on that. How much lies there."""

import os
import re
import time
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
# Of other machines, where locks are not what SQLite needs (sqlite.org/faq.html#q5, sqlite.org/wal.html).
NETWORK = frozenset({
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "lustre", "gpfs", "beegfs", "glusterfs", "davfs",
    "fuse.sshfs", "fuse.glusterfs", "fuse.ceph-fuse", "fuse.s3fs", "fuse.gcsfuse", "fuse.goofys", "fuse.rclone",
    "fuse.juicefs", "fuse.blobfuse2", "fuse.mount-s3", "fuse.davfs2",
})  # fmt: skip
MEMORY = frozenset({"tmpfs", "ramfs"})  # gone with the next boot
LAYER = "overlay"  # a container's own, gone with it
NO_DISK = frozenset({"proc", "sysfs", "cgroup", "cgroup2", "devpts", "debugfs", "tracefs", "securityfs", "configfs"})
_ESCAPED = re.compile(r"\\([0-7]{3})")  # a space is written \040


def nearest_folder(path: Path) -> Path:
    """The path itself where it is a folder, else the nearest one above it that is there."""
    return next((place for place in (path, *path.parents) if os.path.isdir(place)), Path("/"))


def kind_of_file_system(folder: Path) -> str:
    """The type of file system of a folder that is there: ext4, nfs4, overlay; "" where the kernel does not tell."""
    place = os.path.realpath(folder)
    found, longest = "", -1
    try:
        lines = MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    for line in lines:
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        mount = _ESCAPED.sub(lambda octal: chr(int(octal[1], 8)), fields[4]) if len(fields) > 4 else ""
        holds = mount == place or place.startswith(f"{mount.rstrip('/')}/")
        if mount and holds and len(mount) >= longest:  # of two at one place the later lies on top
            found, longest = after.split(" ")[0], len(mount)
    return found


def bytes_below(folder: Path, until: float) -> tuple[int, bool]:
    """Bytes on the disk of all that lies below a folder, and whether that is all of it: by `until` (monotonic) the
    counting ends. No link is followed, and a file of several names counts once."""
    total, counted, waiting = 0, set(), [os.fspath(folder)]
    while waiting:
        if time.monotonic() > until:
            return total, False
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    status = entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif status.st_nlink == 1 or (status.st_dev, status.st_ino) not in counted:
                        counted.add((status.st_dev, status.st_ino))
                        total += status.st_blocks * 512
        except OSError:  # gone meanwhile, or not ours to read
            continue
    return total, True
