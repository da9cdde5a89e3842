"""The proxy beside a sandbox with network, as Groupwise holds it: started, handed the sandbox's listener, ended."""

import base64
import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterable

from groupwise.storage.home import paths
from groupwise.storage.home.process import JUDGE_KEYS
from groupwise.worker.sandbox import file_view, spawn, upstream

USER = "groupwise"


class ProxyProcess:
    """A proxy that waits for its listener. `ports` of this machine are open through it. Raises OSError.

    `password` goes into the sandbox: where there are no namespaces, anyone on this machine could ask the proxy.
    """

    def __init__(self, ports: Iterable[int]) -> None:
        self.password = secrets.token_hex(16)
        self._ports = sorted(ports)
        self._line, theirs = socket.socketpair()
        with theirs:
            descriptor = theirs.fileno()
            self._popen: subprocess.Popen[bytes] = spawn.start_process(
                [sys.executable, *spawn.main_of("proxy", str(file_view.REPOSITORY), descriptor)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={"LANG": "C.UTF-8", "MALLOC_ARENA_MAX": "2"},
                pass_fds=[descriptor],
                start_new_session=True,
            )

    def door(self) -> dict[str, str]:
        """As whom the sandbox asks it."""
        return {"user": USER, "password": self.password}

    def variables(self) -> dict[str, str]:
        """What stands in the environment of a sandbox with network, and of no other: a judge's key."""
        return {key: os.environ[key] for key in JUDGE_KEYS if key in os.environ}

    def serve(self, listener: int) -> None:
        """Begin to serve who connects to this listener, a descriptor that may lie in another network namespace, and
        which is closed here. Raises OSError."""
        names = [name for low in upstream.VARIABLES for name in (low, low.upper())]
        secret = base64.b64encode(f"{USER}:{self.password}".encode()).decode()
        settings = {
            "secret": f"Basic {secret}",
            "ports": self._ports,
            "dashboards": str(paths.dashboards_lock()),
            "variables": {name: os.environ[name] for name in names if name in os.environ},
        }
        try:
            socket.send_fds(self._line, [json.dumps(settings).encode()], [listener])
        finally:
            os.close(listener)

    def has_ended(self) -> bool:
        """Whether it is gone without having been asked to."""
        return self._popen.poll() is not None

    def end(self) -> None:
        """End it, and every connection that it holds."""
        self._line.close()
        self._popen.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(5)
