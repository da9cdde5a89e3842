"""Starts processes that are killed when the thread that started them ends: all from one thread, which lasts."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Any

PYTHON = ("-I", "-S", "-B", "-X", "utf8")  # Python with nothing of this process's environment, and no packages
# Code for `-c` that runs MODULE's main(descriptor): its arguments are the folder that holds `worker`, as the process
# sees it, and the descriptor. Groupwise need not be installed for the process, only there.
MAIN = (
    "import sys, types; groupwise = sys.modules['groupwise'] = types.ModuleType('groupwise'); "
    "groupwise.__path__ = [sys.argv[1]]; from groupwise.worker.sandbox.MODULE import main; main(int(sys.argv[2]))"
)


def main_of(module: str, folder: str, descriptor: int) -> list[str]:
    """Arguments for Python to run the main() of a module of this folder."""
    return [*PYTHON, "-c", MAIN.replace("MODULE", module), folder, str(descriptor)]


def start_process(argv: list[str], **options: Any) -> subprocess.Popen[bytes]:
    """As subprocess.Popen, from a thread that lives as long as this process. Raises OSError."""

    def begin() -> subprocess.Popen[bytes]:
        return subprocess.Popen(argv, **options)

    return _STARTER.thread.submit(begin).result()


class _Starter:
    """The kernel counts threads as parents, and those that call `start_process` come and go."""

    def __init__(self) -> None:
        self._renew()
        os.register_at_fork(after_in_child=self._renew)  # a fork has no threads but its own

    def _renew(self) -> None:
        self.thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sandbox-starter")


_STARTER = _Starter()
