"""Each way a sandbox is made here: both tiers, as the user who runs the tests and, where that is root, as another."""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from groupwise.worker.sandbox import landlock, network_probe, tiers
from tests.conftest import REPOSITORY
from tests.support import sandbox_job

NOBODY = 65534
WITHOUT_BUBBLEWRAP = "/nonexistent"  # as a PATH
TIERS = ("bubblewrap", "landlock")


@contextlib.contextmanager
def only(tier: str) -> Iterator[None]:
    """This process makes sandboxes of one kind: "none" for a machine that can make none."""
    with pytest.MonkeyPatch.context() as patch:
        if tier != "bubblewrap":
            patch.setenv("PATH", WITHOUT_BUBBLEWRAP)
        if tier == "none":
            patch.setattr(landlock, "abi", lambda: 0)
        tiers.probe.cache_clear()
        assert tiers.probe().name == tier
        yield
    tiers.probe.cache_clear()


@functools.cache
def readable_copy() -> Path:
    """worker/sandbox and what it imports, where every user can read it."""
    folder = Path(tempfile.mkdtemp(prefix="sandbox-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    pyseccomp = importlib.util.find_spec("pyseccomp")
    assert pyseccomp and pyseccomp.origin
    for room, part in (("worker", "sandbox"), ("storage", "home")):
        shutil.copytree(REPOSITORY / room / part, folder / "groupwise" / room / part)
        shutil.copy(REPOSITORY / room / "__init__.py", folder / "groupwise" / room)
    shutil.copy(sandbox_job.__file__, folder / "sandbox_job.py")
    shutil.copy(pyseccomp.origin, folder / "pyseccomp.py")
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755)
    return folder


@functools.cache
def another_users_python() -> str | None:
    """A Python that an ordinary user can read. The one that runs the tests may lie in root's home, which is closed to
    others; worker/sandbox needs only the standard library (and pyseccomp), so the system's will do."""
    check = (  # of an environment that was copied also the Python that it was made with
        "import os, sys; sys.exit(sys.version_info < (3, 11) or "
        "not all(os.access(one, os.X_OK) for one in (sys.executable, sys._base_executable)))"
    )
    for python in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        if (
            os.path.exists(python)
            and subprocess.run([*as_nobody(), python, "-c", check], capture_output=True).returncode == 0
        ):
            return python
    return None


def as_nobody() -> list[str]:
    return [setpriv(), f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


def setpriv() -> str:
    found = shutil.which("setpriv")
    assert found
    return found


@dataclass
class Way:
    """How the sandboxes of one test are made. `environment` is that of the process that makes them."""

    tier: str
    nobody: bool
    monkeypatch: pytest.MonkeyPatch
    environment: dict[str, str] = field(default_factory=dict)
    landlock_abi: int | None = None  # at most this version of Landlock, as an older kernel has it

    def command(self) -> list[str]:
        """The arguments of a process that does a job (see sandbox_job), as this user."""
        if self.nobody:
            return [*as_nobody(), str(another_users_python()), str(readable_copy() / "sandbox_job.py")]
        return [sys.executable, "-m", "tests.support.sandbox_job"]

    def variables(self) -> dict[str, str]:
        path = WITHOUT_BUBBLEWRAP if self.tier == "landlock" else os.environ["PATH"]
        return {"PATH": path, "HOME": "/tmp", **self.environment}

    def do(self, job: dict[str, Any]) -> list[dict[str, Any]]:
        if self.nobody and self.landlock_abi is not None:
            job = {**job, "landlock_abi": self.landlock_abi}
        if not self.nobody:
            for name, value in self.variables().items():
                self.monkeypatch.setenv(name, value)
            if self.landlock_abi is not None:
                self.monkeypatch.setattr(landlock, "abi", lambda: self.landlock_abi)
            tiers.probe.cache_clear()
            network_probe.network_problem.cache_clear()
            try:
                return sandbox_job.do(job)
            finally:
                tiers.probe.cache_clear()
                network_probe.network_problem.cache_clear()
        done = subprocess.run(
            self.command(), input=json.dumps(job), env=self.variables(), cwd="/", text=True,
            capture_output=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        answers: list[dict[str, Any]] = json.loads(done.stdout)
        return answers

    def scores(
        self, *codes: str, rows: int = 1, timeout: float = 20.0, network: bool = False, **more: Any
    ) -> list[Any]:
        """One call of each code with `rows` completions; the same code twice is the same function called twice."""
        batch = {"completions": ["text"] * rows}
        calls = [{"code": textwrap.dedent(code), "batch": batch, "timeout": timeout} for code in codes]
        answers = self.do({"calls": calls, "network": network, **more})
        assert {answer["tier"] for answer in answers} == {self.tier}
        return answers

    def worked(self, *attempts: str, **more: Any) -> list[str]:
        """Those of some lines of Python that ran through in a sandbox, rather than being refused with an OSError."""
        code = f"""
            def score(completions, **rest):
                return [ran(lines) for lines in {attempts!r}]
            def ran(lines):
                try:
                    exec(lines, {{}})
                except OSError:
                    return 0.0
                return 1.0
        """
        answer = self.scores(code, rows=len(attempts), **more)[0]
        assert set(answer["statuses"]) == {"ok"}, answer
        return [lines for lines, value in zip(attempts, answer["values"], strict=True) if value]


def ways() -> list[Any]:
    users = [False, True] if os.geteuid() == 0 and another_users_python() else [False]
    return [
        pytest.param((tier, nobody), id=f"{tier}-{'another-user' if nobody else 'this-user'}")
        for nobody in users
        for tier in TIERS
    ]


def living(memory: int) -> set[int]:
    """The processes, whoever started them, whose address space is limited to just so many bytes: an odd number is the
    mark by which a test knows its own sandboxes."""
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and f" {memory} " in (entry / "limits").read_text():
                found.add(int(entry.name))
        except OSError:
            continue
    return found


def command_of(child: psutil.Process) -> str:
    """What it was started as; "" where it has ended meanwhile, waited for or not."""
    try:
        return " ".join(child.cmdline())
    except psutil.NoSuchProcess:
        return ""
