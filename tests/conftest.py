"""What every test stands on: a data home of its own, and processes that are ended when the test is."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from storage import home, registry

REPOSITORY = Path(__file__).parents[1]

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data home that exists for this test only, and that nothing has made yet."""
    place = tmp_path / "home"
    monkeypatch.setenv("GROUPWISE_HOME", str(place))
    monkeypatch.delenv("GROUPWISE_TOKEN", raising=False)
    return place


@pytest.fixture
def registry_home(own_home: Path) -> Path:
    """The same home, prepared, with an open registry."""
    home.prepare()
    registry.open_registry()
    return own_home


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a Python process in the repository, with its output in pipes, and ends it (only it) after the test."""
    begun: list[subprocess.Popen[str]] = []

    def begin(*arguments: str, **options: Any) -> subprocess.Popen[str]:
        settings: dict[str, Any] = {
            "cwd": REPOSITORY, "text": True, "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": dict(os.environ),
        }  # fmt: skip
        begun.append(subprocess.Popen([sys.executable, *arguments], **settings | options))
        return begun[-1]

    yield begin
    for process in begun:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=10)
