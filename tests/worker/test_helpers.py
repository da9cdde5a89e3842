"""What the supervisor starts beside trainings leaves the processors to them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from groupwise.storage.record import states
from groupwise.storage.registry import registry
from groupwise.worker import niceness
from groupwise.worker.helpers import Helpers
from tests.support.runs import make_spec, queue

WAITS = "import subprocess, sys\nsubprocess.run([sys.executable, '-S', '-c', 'print(0, flush=True); input()'])\n"


@pytest.fixture
def helper() -> Iterator[subprocess.Popen[str]]:
    """A helper in a session of its own, which has a process of its own there."""
    child = subprocess.Popen(
        [sys.executable, "-S", "-c", WAITS],
        start_new_session=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None and child.stdout.readline() == "0\n"
    yield child
    if child.poll() is None:
        child.communicate("done\n")


def shares(pid: int) -> list[int]:
    """The niceness of a session's processes, beyond ours, and that of the session where it has one."""
    own = os.getpriority(os.PRIO_PROCESS, 0)
    members = [int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit() and _session(each) == pid]
    assert len(members) == 2
    group = Path(f"/proc/{pid}/autogroup")
    of_session = [int(group.read_text().split()[-1])] if group.exists() else []
    return sorted({os.getpriority(os.PRIO_PROCESS, each) - own for each in members}) + of_session


def _session(entry: Path) -> int | None:
    try:
        return os.getsid(int(entry.name))
    except ProcessLookupError:
        return None


def test_helpers_give_way_to_a_run_most_while_it_is_loaded(registry_home: Path, helper: subprocess.Popen[str]) -> None:
    """And have what they had when no run is left, where they may."""
    found = registry.get_run(queue(make_spec()).id)
    assert found is not None
    helpers = Helpers()
    helpers.reader = helper  # type: ignore[assignment]  # which of the helpers it is makes no difference
    helpers.look(None)
    before = shares(helper.pid)
    assert before[0] == 0
    for state, expected in {
        states.QUEUED: niceness.LOADING, states.STARTING: niceness.LOADING, states.RUNNING: niceness.TRAINING,
    }.items():  # fmt: skip
        helpers.look(replace(found, state=state))
        assert shares(helper.pid) == [niceness.TRAINING, expected][: len(before)]
    helpers.look(None)
    if os.geteuid() == 0:
        assert shares(helper.pid) == before
    assert shares(helper.pid)[1:] == before[1:]


def test_a_helper_that_is_gone_is_no_error(registry_home: Path, helper: subprocess.Popen[str]) -> None:
    helper.communicate("done\n")
    assert niceness.set_of_session(helper.pid, niceness.LOADING)
