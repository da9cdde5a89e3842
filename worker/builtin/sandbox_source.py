"""The sandbox's source in a run's folder, for the run's plain script: that runs where there is no Groupwise."""

import contextlib
import os
import shutil
from pathlib import Path

from groupwise.storage.home import files
from groupwise.storage.home.paths import RunFolder
from groupwise.worker.sandbox import bubblewrap, syscall_filter

ROOMS = Path(__file__).resolve().parents[2]
# What worker/sandbox/one_shot.py imports, of this folder and others, and what it shows to a program.
OUTSIDE = ("bubblewrap", "file_view", "launch", "limits", "one_shot", "process", "spawn", "syscall_filter", "tiers")
SANDBOX = [f"worker/sandbox/{name}.py" for name in (*OUTSIDE, *bubblewrap.PARTS)]
OTHERS = ["worker/__init__.py", "storage/__init__.py", "storage/home/__init__.py", "storage/home/paths.py"]


def carried_files() -> list[str]:
    """The files, by their place below the package groupwise."""
    code_tests = [str(path.relative_to(ROOMS)) for path in sorted(bubblewrap.CODE_TESTS.glob("*.py"))]
    return [*OTHERS, *SANDBOX, *code_tests]


def copy(folder: RunFolder) -> None:
    """Put them beside the script, whole or not at all; what is there already is kept. No process of Groupwise's imports
    them: it has its own, and the run's folder is not where it looks for modules."""
    if files.exists(folder.carried_source):
        return
    part = folder.path / f"{folder.carried_source.name}.part"
    shutil.rmtree(part, ignore_errors=True)
    for name in carried_files():
        (part / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOMS / name, part / name)
    with contextlib.suppress(syscall_filter.NoFilter):  # then it has to be made where the script is run
        files.write_whole(part / "worker/sandbox" / syscall_filter.CARRIED, syscall_filter.to_carry())
    os.rename(part, folder.carried_source)
