"""What the supervisor starts beside trainings leaves the processors to them."""

import os
from pathlib import Path

import pytest

from worker import helpers

MODULE = "import time\ntime.sleep(60)\n"


def test_a_helper_gives_way_to_a_training(registry_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Among the processes of its session, and its session among the others where each gets an equal share."""
    (tmp_path / "waits.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    child = helpers.start("waits")
    try:
        assert os.getsid(child.pid) == child.pid != os.getsid(0)
        assert os.getpriority(os.PRIO_PROCESS, child.pid) == min(19, os.getpriority(os.PRIO_PROCESS, 0) + helpers.NICE)
        shares = Path(f"/proc/{child.pid}/autogroup")
        if shares.exists():
            assert shares.read_text().split()[-2:] == ["nice", str(helpers.NICE)]
    finally:
        child.kill()
        child.wait()
