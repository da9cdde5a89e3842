"""Reading a file in a process that may be ended: a few megabytes can mean as many gigabytes as their writer likes. Both
sides of it: who asks, and what the process does around its work (convert.py, unpack.py)."""

import contextlib
import hashlib
import json
import logging
import os
import resource
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from groupwise.storage.home import disk
from groupwise.storage.home.process import child_environment, go_with
from groupwise.worker.data.files.data_error import DataError

log = logging.getLogger("groupwise.data")
ABANDONED = 2 * 3600.0  # seconds after which a draft is no one's: no process reads a file for so long
MEMORY = 4 * 2**30  # bytes of address space
TIMES = 50  # of its own size that a file may mean
MOST = 64 * 2**30  # bytes that any may


def file_mark(path: Path, *about: object) -> str:
    """What is another for another file, for one that was written to, and for another way to read it (`about`)."""
    now = path.stat()
    words = "\0".join(map(str, (path.resolve(), now.st_ino, now.st_mtime_ns, now.st_size, *about)))
    return hashlib.sha256(words.encode("utf-8", "surrogateescape")).hexdigest()[:32]


@contextlib.contextmanager
def new_draft(cache: Path) -> Iterator[Path]:
    """Where to write what is to be moved to its place in a cache once it is whole. What killed processes left goes."""
    cache.mkdir(parents=True, exist_ok=True)
    for draft in cache.glob(".*-*"):
        with contextlib.suppress(FileNotFoundError):  # another process removes it
            if time.time() - draft.lstat().st_mtime > ABANDONED:
                _remove(draft)
    draft = cache / f".{os.getpid()}-{secrets.token_hex(4)}"
    try:
        yield draft
    finally:
        _remove(draft)


def _remove(draft: Path) -> None:
    if draft.is_dir():
        shutil.rmtree(draft, ignore_errors=True)
    else:
        draft.unlink(missing_ok=True)


def ask_process(module: str, path: Path, *words: str, seconds: float) -> dict[str, Any]:
    """What `python -m groupwise.worker.data.files.MODULE PATH WORDS…` says it read. Raises DataError."""
    command = [sys.executable, "-m", f"groupwise.worker.data.files.{module}", str(path), *words]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, env=child_environment(),
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise DataError(f"{path.name} was not read in {seconds / 60:.0f} minutes. Make it smaller.") from error
    if done.returncode < 0:
        raise DataError(f"{path.name} does not fit in memory: it unpacks to far more than its size. Save it again.")
    if done.returncode:
        log.warning("%s cannot be read: %s", path.name, done.stderr.decode("utf-8", "replace")[-2000:])
        raise DataError(
            f"{path.name} cannot be read: the reading process ended with code {done.returncode}. The "
            "file may be damaged: save it again, as .csv if you can."
        )
    answer: dict[str, Any] = json.loads(done.stdout)
    if "error" in answer:
        raise DataError(answer["error"], answer["field"], sheets=tuple(answer["sheets"]))
    return answer


def answer_asker(name: str, read: Callable[[], dict[str, Any]]) -> int:
    """The process's side: read a file of this name within bounds of memory, and print what came of it; 0. It goes with
    whoever asked."""
    go_with(os.getppid(), signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        said = read()
    except DataError as error:
        said = {"error": str(error), "field": error.field, "sheets": error.sheets}
    except MemoryError:
        message = f"{name} does not fit in {MEMORY >> 30} GB of memory. Make it smaller."
        said = {"error": message, "field": "data.source", "sheets": []}
    print(json.dumps(said))
    return 0


def unpacked_limit(size: int, always: int) -> int:
    """Bytes that a file of this size may mean; `always`: that any file may."""
    return min(max(always, TIMES * size), MOST)


def refuse_full_disk(target: Path, source: Path) -> None:
    """Raises DataError where the disk has no room for what is being written."""
    if disk.lacks(target.parent, disk.TO_BEGIN):
        raise DataError(f"the disk has no room for what {source.name} unpacks to. Free some space.")
