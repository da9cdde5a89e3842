"""Parquet for training: unpacked once into `datasets`' cache by a process of its own, and then mapped, not held."""

import hashlib
import json
import logging
import os
import secrets
import subprocess
import sys
from pathlib import Path

import datasets
from datasets import Dataset

from groupwise.storage.home.process import child_environment
from groupwise.worker.data.data_error import DataError

log = logging.getLogger("groupwise.data")
LONGEST = 3600.0  # seconds in which any file is unpacked


def load_parquet(path: Path, first: int | None) -> Dataset:
    """All rows of a file, or only the first so many. Raises DataError, also for a file that unpacks to far more than
    its size lets one expect."""
    unpacked = _cache_path(path, first)
    if not unpacked.exists():
        unpacked.parent.mkdir(parents=True, exist_ok=True)
        draft = unpacked.with_name(f".{os.getpid()}-{secrets.token_hex(4)}")
        try:
            _unpack(path, draft, first)
            draft.replace(unpacked)
        finally:
            draft.unlink(missing_ok=True)
    return Dataset.from_file(str(unpacked))


def _cache_path(path: Path, first: int | None) -> Path:
    """Where the rows of this file, as it is now, are kept."""
    now = path.stat()
    about = f"{path.resolve()}\0{now.st_ino}\0{now.st_mtime_ns}\0{now.st_size}\0{first}"
    name = hashlib.sha256(about.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return Path(datasets.config.HF_DATASETS_CACHE) / "groupwise" / name / "rows.arrow"


def _unpack(path: Path, target: Path, first: int | None) -> None:
    words = [sys.executable, "-m", "groupwise.worker.data.unpack", str(path), str(target), str(first or 0)]
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=LONGEST, env=child_environment(), check=False
        )
    except subprocess.TimeoutExpired as error:
        raise DataError(f"{path.name} was not unpacked in {LONGEST / 60:.0f} minutes. Make it smaller.") from error
    if done.returncode:
        log.warning("%s cannot be unpacked: %s", path.name, done.stderr.decode("utf-8", "replace")[-2000:])
        raise DataError(
            f"{path.name} cannot be unpacked: what does that ended with code {done.returncode}. The "
            "file may be damaged: save it again, as .csv if you can."
        )
    answer = json.loads(done.stdout)
    if "error" in answer:
        raise DataError(answer["error"])
