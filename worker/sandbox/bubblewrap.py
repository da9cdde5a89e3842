"""The sandbox made of namespaces: bubblewrap's command line."""

import os
import shutil
from pathlib import Path

from groupwise.worker.sandbox import file_view
from groupwise.worker.sandbox.limits import Limits

CODE = "/code"  # where the sandboxed process finds this folder's files
CODE_TESTS = Path(__file__).resolve().parent / "code_tests"  # what scripts import
_SHARED_MEMORY = 16 << 20  # bytes of /dev/shm, where multiprocessing's locks are
_FOR_FUNCTIONS = ("--proc", "/proc", "--remount-ro", "/proc", "--size", str(_SHARED_MEMORY), "--tmpfs", "/dev/shm")

# What the sandboxed process is made of.
PARTS = (
    "__init__", "contract", "door", "faults", "functions", "host", "landlock", "seccomp", "used_columns", "wire",
)  # fmt: skip


def binary() -> str | None:
    """Where bubblewrap is; None where it is not installed."""
    return shutil.which("bwrap")


def bubblewrap_command(bwrap: str, limits: Limits, network: bool, script: bool, information: int) -> list[str]:
    """The arguments up to the program to run. bubblewrap writes to the descriptor `information` which process it made.

    The host is process 1 of its own namespace, so that what kills it leaves nothing behind. Folders come after /tmp:
    an environment that lies there would be hidden otherwise.

    /proc is read-only as a whole. Who may write the kernel's settings below /proc/sys is asked of the user's number
    outside, not of capabilities: code started by root could change them for the machine. Nothing else there needs to
    be written from within either: not its own oom_score_adj, nor what is shared with others in /proc/pressure. A script
    has none, nor memory to share: it starts no processes.
    """
    sees = file_view.view()
    return [
        bwrap, "--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts",
        "--unshare-cgroup-try", "--disable-userns", "--as-pid-1", "--uid", "65534", "--gid", "65534",
        "--hostname", "reward", "--cap-drop", "ALL", "--die-with-parent", "--new-session",
        "--info-fd", str(information),
        "--ro-bind", "/usr", "/usr", *_libraries(), *_try_binds(file_view.SYSTEM_FILES),
        *(_try_binds(file_view.NETWORK_FILES) if network else []),
        "--dev", "/dev", *([] if script else _FOR_FUNCTIONS), "--remount-ro", "/dev",
        "--size", str(limits.temporary), "--tmpfs", "/tmp",
        *(word for folder in sees.folders for word in ("--ro-bind", folder, folder)), *_own_code(script),
        "--remount-ro", "/", "--chdir", "/tmp",
    ]  # fmt: skip


def _libraries() -> list[str]:
    """/lib and its kin: links into /usr as they are here, or folders where a system still has them."""
    words: list[str] = []
    for path in file_view.LIBRARY_LINKS:
        if os.path.islink(path):
            words += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            words += ["--ro-bind", path, path]
    return words


def _try_binds(paths: tuple[str, ...]) -> list[str]:
    return [word for path in paths for word in ("--ro-bind-try", path, path)]


def _own_code(script: bool) -> list[str]:
    here = Path(__file__).resolve().parent
    files = {f"worker/sandbox/{part}.py": here / f"{part}.py" for part in PARTS}
    files["worker/__init__.py"] = here.parent / "__init__.py"
    if script:
        files["worker/sandbox/code_tests"] = CODE_TESTS
    return [word for name, file in files.items() for word in ("--ro-bind", str(file), f"{CODE}/{name}")]
