"""The command with an output that is closed, full, or without a reader: no traceback, and what was done is said."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from groupwise.app.__main__ import main
from groupwise.storage.registry import registry
from tests.conftest import REPOSITORY
from tests.support import offer
from tests.support.launching import SPEC, write

CLOSED, FULL, UNREAD = ">&-", ">/dev/full", "| head -0"
WHY = {CLOSED: "it is closed", FULL: "No space left on device", UNREAD: "Broken pipe"}


@pytest.fixture
def offered(registry_home: Path, no_worker: None) -> Iterator[Path]:
    """A home whose worker (played by the test) has said what it offers, and takes every setting."""
    offer.publish()
    with offer.answering():
        yield registry_home


def run_in_shell(arguments: str, outputs: str) -> tuple[int, str]:
    """The command's exit code, also before a pipe, and what it says on standard error."""
    line = f"set -o pipefail; '{sys.executable}' -m groupwise.app {arguments} {outputs}"
    done = subprocess.run(
        ["bash", "-c", line], cwd=REPOSITORY, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, timeout=60,
    )  # fmt: skip
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr, done.stderr
    return done.returncode, done.stderr


@pytest.mark.parametrize("arguments", ["list", "list --json", "doctor", "--help", "launch --help", "--version"])
@pytest.mark.parametrize("outputs", [CLOSED, FULL, UNREAD])
def test_what_cannot_be_printed_is_a_sentence(registry_home: Path, arguments: str, outputs: str) -> None:
    code, said = run_in_shell(arguments, outputs)
    gone = (0, "")  # as it is where `head` has seen enough
    sentence = (1, f"groupwise: Standard output could not be written: {WHY[outputs]}.\n")
    assert (code, said) == (gone if outputs == UNREAD else sentence)


@pytest.mark.parametrize("errors", ["2>&-", "2>/dev/full"])
def test_errors_that_nobody_can_read_change_no_exit_code(registry_home: Path, errors: str) -> None:
    assert run_in_shell("list", errors) == (0, "")
    assert run_in_shell("--help", errors) == (0, "")
    assert run_in_shell("stop nothing", errors) == (2, "")
    assert run_in_shell("lunch", errors) == (2, "")
    assert run_in_shell("list", f"{CLOSED} {errors}") == (1, "")


@pytest.mark.parametrize("outputs", [CLOSED, FULL, UNREAD])
def test_a_run_whose_id_cannot_be_printed_is_said_to_be_started(offered: Path, tmp_path: Path, outputs: str) -> None:
    code, said = run_in_shell(f"launch {write(tmp_path, SPEC)}", outputs)
    [run] = registry.list_runs()
    assert code == 0
    line = f"groupwise: The run was started: {run.id}. Standard output could not be written: {WHY[outputs]}."
    assert line in said.splitlines()


@pytest.mark.parametrize("outputs", ["2>&-", "2>/dev/full", ">&- 2>&-", ">/dev/full 2>&1", ">&- 2>&- <&-"])
def test_a_run_is_started_once_whatever_can_be_printed(offered: Path, tmp_path: Path, outputs: str) -> None:
    assert run_in_shell(f"launch {write(tmp_path, SPEC)}", outputs) == (0, "")
    assert len(registry.list_runs()) == 1


def test_a_backup_that_cannot_be_told_of_is_made(registry_home: Path, tmp_path: Path) -> None:
    place = tmp_path / "home.tar.gz"
    code, said = run_in_shell(f"backup {place}", FULL)
    assert code == 0 and place.is_file() and f"The backup was written: {place}. Standard output could not" in said


def test_the_versions_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    wanted = f"groupwise {version('groupwise')}, TRL {version('trl')}\n"
    assert capsys.readouterr() == (wanted, "")
