"""Real dashboards for tests, each with a test standing in for its worker."""

from __future__ import annotations

import os
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import Start


@dataclass
class Server:
    """A running dashboard: where it is, its home, its process and what it said when it began to accept."""

    url: str
    home: Path
    process: subprocess.Popen[str]
    said: str

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def begin(start: Start, place: Path, *options: str, **environment: str) -> Server:
    """Start a dashboard, with a test standing in for its worker, and wait until it accepts."""
    port = free_port()
    process = start(
        "-m", "app", "--no-open", "--port", str(port), *options,
        env={**os.environ, "GROUPWISE_HOME": str(place), **environment},
    )  # fmt: skip
    assert process.stdout is not None
    said = process.stdout.readline()
    assert "Groupwise is at" in said, process.communicate(timeout=30)
    return Server(f"http://127.0.0.1:{port}", place, process, said)
