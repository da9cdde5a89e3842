"""What a backup holds, by name. Nothing else is put into one, and nothing else is taken out of one.

backup.json            first: its form, which version of Groupwise made it, and when
runs/ID/…              a run's folder; its state.json and notes.json are the registry's rows
data/…  models/…       a person's own data files and models
rewards/NAME/…         every version of their reward functions
presets.json           their presets
contents.json          last: each file with its size and SHA-256. What is not listed there does not count.

There is no registry.db: the registry is an index of the folders, made anew from them (storage.library.repair). So what
else it holds (questions, what was asked of runs, what a machine may do) stays where it is.
"""

import re
from pathlib import PurePosixPath

from groupwise.storage.home import paths
from groupwise.storage.library.rewards import names

FORM = 1
HEAD, PRESETS, CONTENTS = "backup.json", "presets.json", "contents.json"
RUNS, DATA, MODELS, REWARDS = "runs", "data", "models", "rewards"
CHECKPOINTS, FINAL, RECORD = "checkpoints", "final", "run.db"
MOST_FILES = 500_000
MOST_FOLDERS = 12  # within one another
MOST_NAME = 255  # bytes, of one file or folder
ENDINGS = (".tar.gz", ".tgz", ".tar")
_RUN_FILES = frozenset(
    {"spec.yaml", "train.py", "task.py", RECORD, "log.txt", "exit.json", "versions.json", "state.json", "notes.json",
     "run.spill.jsonl", "run.spill.damaged.jsonl"}
)  # fmt: skip
_SET_ASIDE = re.compile(r"run\.damaged-[0-9]{8}-[0-9]{6}\.db")  # a record (storage.record.attempts)
_RUN_FOLDERS = frozenset({"rewards", "groupwise", "tensorboard", CHECKPOINTS, FINAL})
_VERSION = re.compile(r"[0-9a-f]{16}\.py|versions\.json")
_PART = re.compile(r"[^/\x00-\x1f\x7f]+")


class BackupError(Exception):
    """A backup cannot be made, or restored; the message says why and what to do."""


class WrongGiven(BackupError):
    """It cannot, since what was given is wrong: another file or folder has to be."""


def belongs_in_backup(name: str) -> bool:
    """Whether a file of this name, below the home, is one that a backup has."""
    parts = name.split("/")
    if len(parts) > MOST_FOLDERS or not all(map(_is_part, parts)):
        return False
    if len(parts) == 1:
        return name in (HEAD, PRESETS, CONTENTS)
    match parts:
        case ["data", file]:
            return bool(paths.DATA_NAME.fullmatch(file))
        case ["rewards", function, file]:
            return bool(names.NAME.fullmatch(function) and _VERSION.fullmatch(file))
        case ["models", model, _, *_]:
            return model != "starter"  # which ships
        case ["runs", run, file]:
            return bool(paths.RUN_ID.fullmatch(run)) and (file in _RUN_FILES or bool(_SET_ASIDE.fullmatch(file)))
        case ["runs", run, folder, *rest]:
            return bool(paths.RUN_ID.fullmatch(run)) and folder in _RUN_FOLDERS and "__pycache__" not in rest
    return False


def _is_part(part: str) -> bool:
    """Whether this can be the name of a file or a folder, and leads nowhere else."""
    try:
        return bool(_PART.fullmatch(part)) and part not in (".", "..") and len(part.encode()) <= MOST_NAME
    except UnicodeEncodeError:
        return False


def name_of_run(run_id: str, name: str = "") -> str:
    """What something in a run's folder is called in a backup."""
    return str(PurePosixPath(RUNS, run_id, name))
