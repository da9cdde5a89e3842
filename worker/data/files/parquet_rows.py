"""Parquet for training: unpacked once into `datasets`' cache by a process of its own, and then mapped, not held."""

from pathlib import Path

import datasets
from datasets import Dataset

from groupwise.worker.data.files.reading_process import ask_process, file_mark, new_draft

LONGEST = 3600.0  # seconds in which any file is unpacked


def load_parquet(path: Path, first: int | None) -> Dataset:
    """All rows of a file, or only the first so many. Raises DataError, also for a file that unpacks to far more than
    its size lets one expect."""
    cache = Path(datasets.config.HF_DATASETS_CACHE) / "groupwise"
    unpacked = cache / file_mark(path, first) / "rows.arrow"
    if not unpacked.exists():
        with new_draft(cache) as draft:
            ask_process("unpack", path, str(draft), str(first or 0), seconds=LONGEST)
            unpacked.parent.mkdir(exist_ok=True)
            draft.replace(unpacked)
    return Dataset.from_file(str(unpacked))
