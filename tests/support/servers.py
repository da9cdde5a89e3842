"""Real dashboards for tests, each with a test standing in for its worker."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import Start, ending


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

    def memory(self) -> int:
        """Bytes of memory that it has now."""
        found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{self.process.pid}/status").read_text())
        assert found
        return int(found[1]) * 1024

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def changed(start: Start, **constants: object) -> Start:
    """Starts the command with other constants of the server ("brake.EACH": 0.1), where the real ones would take a test
    minutes."""
    lines = [f"{name} = {value!r}" for name, value in constants.items()]
    modules = ", ".join(sorted({name.partition(".")[0] for name in constants}))
    imports = ["import sys", "from groupwise.app.__main__ import main", f"from groupwise.app.server import {modules}"]
    script = "\n".join([*imports, *lines, "sys.exit(main())"])
    return lambda *words, **options: start("-c", script, *words[2:], **options)


def begin(start: Start, place: Path, *options: str, **environment: str) -> Server:
    """Start a dashboard, with a test standing in for its worker, and wait until it accepts."""
    port = free_port()
    process = start(
        "-m", "groupwise.app", "--no-open", "--port", str(port), *options,
        env={**os.environ, "GROUPWISE_HOME": str(place), **environment},
    )  # fmt: skip
    assert process.stdout is not None
    said = process.stdout.readline()
    assert "Groupwise is at" in said, process.communicate(timeout=30)
    return Server(f"http://127.0.0.1:{port}", place, process, said)


def routes(server: Server) -> set[tuple[str, str]]:
    """Every (method, path) that the application answers, its parameters filled in, read from the application itself."""
    script = """
import json
from groupwise.app.server.server import Settings, create_app
def walk(routes, prefix=""):
    for route in routes:
        path = prefix + getattr(route, "path", "")
        inner = getattr(route, "routes", None) or getattr(getattr(route, "app", None), "routes", None)
        if inner: yield from walk(inner, path)
        elif hasattr(route, "original_router"): yield from walk(route.original_router.routes, prefix)
        else: yield from ((method, path) for method in sorted(getattr(route, "methods", None) or {"GET"}))
print(json.dumps(sorted(set(walk(create_app(Settings(token="x" * 20)).routes)))))
"""
    with ending() as start:
        process = start("-c", script, env={**os.environ, "GROUPWISE_HOME": str(server.home)})
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return {(method, re.sub(r"\{[^}]*\}", "x", path)) for method, path in json.loads(out)}
