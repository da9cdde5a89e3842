"""Starts processes that are killed when the thread that started them ends: all from one thread, which lasts."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def start(argv: list[str], **options: Any) -> subprocess.Popen[bytes]:
    """As subprocess.Popen, from a thread that lives as long as this process. Raises OSError."""

    def begin() -> subprocess.Popen[bytes]:
        return subprocess.Popen(argv, **options)

    return _STARTER.thread.submit(begin).result()


class _Starter:
    """The kernel counts threads as parents, and those that call `start` come and go."""

    def __init__(self) -> None:
        self._renew()
        os.register_at_fork(after_in_child=self._renew)  # a fork has no threads but its own

    def _renew(self) -> None:
        self.thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sandbox-starter")


_STARTER = _Starter()
