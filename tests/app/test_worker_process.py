"""The app keeps a worker alive, and neither takes the other along when it goes: real supervisors, real kills."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from groupwise.app.core import worker_process
from groupwise.storage.home import paths
from groupwise.storage.record import states
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import Catalogue, Worker
from groupwise.worker.capabilities import installation
from tests.conftest import Start, holder_of

ENSURE = (
    "from groupwise.app.core import worker_process; import time; print(worker_process.ensure_worker(), flush=True); "
    "time.sleep(60)"
)
WATCH = (
    "from groupwise.app.core import worker_process as s; import time; s.Watch().start(); print(1, flush=True); "
    "time.sleep(99)"
)
SPEC = """\
name: long
data: {source: task:arithmetic, limit: 64}
rewards: [{name: format}]
training: {num_generations: 4, per_device_train_batch_size: 4, max_completion_length: 8, max_steps: 5000,
  learning_rate: 1e-4, save_strategy: 'no', logging_steps: 1}
"""


def wait_for(true: Callable[[], object], seconds: float = 180.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, (paths.home() / "worker.log").read_text()[-2000:]
        time.sleep(0.05)


def supervisor() -> int | None:
    return holder_of(paths.supervisor_lock())


def pid_of_supervisor() -> int:
    wait_for(supervisor)
    pid = supervisor()
    assert pid is not None
    return pid


@pytest.fixture
def known(worker_home: Path) -> Path:
    """A home that knows what TRL offers already: reading it again is not what these tests are about."""
    from groupwise.worker.capabilities import catalogue

    registry.publish_fact(Catalogue(versions=catalogue.versions()))
    return worker_home


@pytest.fixture
def none_starting(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process has started no worker yet, whatever its other tests did."""
    monkeypatch.setattr(worker_process, "_child", None)


def environment_of(pid: int) -> dict[str, str]:
    pairs = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


def test_the_worker_is_a_process_of_its_own_that_outlives_the_app(
    known: Path, start: Start, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("GROUPWISE_TOKEN", "a-secret-of-the-dashboard")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    app = start("-c", ENSURE)
    assert app.stdout is not None and app.stdout.readline() == "True\n"
    pid = pid_of_supervisor()
    assert os.getsid(pid) == pid != os.getsid(app.pid)
    environment = environment_of(pid)
    wait_for(lambda: registry.read_fact(Worker) is not None)
    assert registry.read_fact(Worker) == installation.describe_worker()
    assert environment["GROUPWISE_HOME"] == str(known) and "CUDA_VISIBLE_DEVICES" in environment
    assert "GROUPWISE_TOKEN" not in environment
    assert os.readlink(f"/proc/{pid}/fd/0") == "/dev/null"
    assert os.readlink(f"/proc/{pid}/fd/1") == os.readlink(f"/proc/{pid}/fd/2") == str(known / "worker.log")
    app.kill()
    app.wait()
    second = start("-c", ENSURE)
    assert second.stdout is not None and second.stdout.readline() == "False\n"
    assert supervisor() == pid


def test_a_home_named_from_where_one_stands_is_the_same_home_for_the_worker(
    known: Path, start: Start, monkeypatch: pytest.MonkeyPatch
):
    app = start("-c", ENSURE, cwd=known.parent, env={
        **os.environ, "GROUPWISE_HOME": known.name, "PYTHONPATH": str(worker_process.ROOT),
    })  # fmt: skip
    assert app.stdout is not None and app.stdout.readline() == "True\n"
    assert environment_of(pid_of_supervisor())["GROUPWISE_HOME"] == str(known)


def test_a_killed_worker_is_back_in_seconds_and_the_run_never_noticed(known: Path, start: Start):
    run_id = registry.create_run(SPEC, name="long", model="starter", data="task:arithmetic")
    app = start("-c", WATCH)
    assert app.stdout is not None and app.stdout.readline()
    first = pid_of_supervisor()

    def step() -> int:
        run = registry.get_run(run_id)
        assert run is not None and run.state not in states.ENDED, run
        return run.step

    wait_for(lambda: step() >= 3)
    trainer = registry.get_run(run_id)
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: supervisor() not in (None, first))
    seen = step()
    wait_for(lambda: step() > seen + 3)
    after = registry.get_run(run_id)
    assert trainer is not None and after is not None and after.pid == trainer.pid and after.attempt == 1


def test_a_worker_that_ends_at_once_is_started_ever_more_seldom(
    registry_home: Path, none_starting: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    starts = tmp_path / "starts"
    package = tmp_path / "groupwise"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "worker.py").write_text(f"open({str(starts)!r}, 'a').write('x')\nraise SystemExit('I cannot')\n")
    monkeypatch.setattr(worker_process, "ROOT", tmp_path)
    monkeypatch.setattr(worker_process, "EVERY", 0.1)
    watch = worker_process.Watch()
    watch.start()
    time.sleep(4)
    watch.stop()
    watch.join()
    assert 2 <= len(starts.read_text()) <= 8  # 40 looks
    assert "I cannot" in paths.worker_log().read_text()


def test_a_worker_that_cannot_be_started_is_said_and_tried_again(
    registry_home: Path, none_starting: None, capsys: pytest.CaptureFixture[str]
):
    paths.worker_log().mkdir()
    watch = worker_process.Watch()
    watch._check_worker()
    watch._check_worker()
    assert "the worker could not be started" in capsys.readouterr().err
