"""Other trackers beside the record: trackio really written to; one that fails or hangs is switched off, and the run
goes on. The failing one is a package of our own that is called wandb and raises: the real one would need its server to
fail, and TRL imports it wherever it finds it, a second in every process of these tests."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.checks.check import check_spec, examine_spec
from groupwise.storage.checks.script import to_script
from groupwise.storage.checks.script_reader import from_script
from groupwise.storage.home import files, process, secret_values
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.record import metrics
from groupwise.storage.spec.spec import from_dict
from groupwise.storage.spec.words.problem import Problem
from groupwise.worker.training import hung_threads, settings, tracker_projects, trackers, train
from tests.support.runs import ask_db, make_spec, queue

pytestmark = pytest.mark.usefixtures("keep_signal_handler")

WANDB = """
import os, time
run = None
def init(**settings):
    {init}
class config:
    @staticmethod
    def update(values, **_): {config}
def log(values):
    {log}
"""
EVENTS = "SELECT message FROM event WHERE kind = 'warning' ORDER BY id"


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Writes the package; it is forgotten afterwards."""

    def write(**calls: str) -> None:
        lib = tmp_path / "beside" / "wandb" / "sdk" / "lib"
        lib.mkdir(parents=True)
        for folder in (lib, lib.parent):
            (folder / "__init__.py").touch()
        (lib / "config_util.py").write_text("class ConfigError(Exception): pass\n")
        said = {"init": "pass", "config": "pass", "log": "pass", **calls}
        (lib.parents[1] / "__init__.py").write_text(WANDB.format(**said))
        monkeypatch.syspath_prepend(str(tmp_path / "beside"))

    yield write
    for name in [name for name in sys.modules if name.split(".")[0] == "wandb"]:
        del sys.modules[name]


def trained(**parts: Any) -> RunFolder:
    folder = queue(make_spec(training={"max_steps": 3, **parts.pop("training")}, **parts))
    train.main(folder.id)
    record = files.read_json(folder.exit)
    assert isinstance(record, dict) and record["outcome"] == "finished" and record["step"] == 3, record
    return folder


def test_trackio_gets_what_the_record_gets(
    registry_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("trackio")
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    monkeypatch.setattr("trackio.utils.TRACKIO_DIR", tmp_path / "trackio", raising=False)
    monkeypatch.setattr("trackio.sqlite_storage.TRACKIO_DIR", tmp_path / "trackio", raising=False)
    folder = trained(training={"report_to": "trackio", "project": "sums"}, name="my run")
    assert ask_db(folder, EVENTS) == []
    ours = metrics.read_metrics(folder.db)["curves"]["reward"]["y"]
    [store] = (tmp_path / "trackio").glob("sums*.db")
    with sqlite3.connect(store) as theirs:
        rows = theirs.execute("SELECT run_name, json_extract(metrics, '$.\"train/reward\"') FROM metrics").fetchall()
    assert [value for _, value in rows if value is not None] == pytest.approx(ours)
    assert {name for name, _ in rows} == {"my run"}


FAILS = [
    ({"init": "raise RuntimeError('api_key not configured (no-tty)')"},
     "wandb failed as it began (RuntimeError: api_key not configured (no-tty))"),
    ({"init": "raise SystemExit(3)"}, "wandb failed as it began (SystemExit: 3)"),
    ({"init": "global run; run = type('Run', (), {'_label': lambda self, **_: None, 'summary': {}})(); "
              "config.__class__.__setitem__ = None"}, "wandb failed as it began (TypeError"),
    ({"init": "time.sleep(600)"}, "wandb did not answer for 1 s as it began"),
]  # fmt: skip


@pytest.mark.parametrize(("calls", "words"), FAILS, ids=["raises", "exits", "breaks", "hangs"])
def test_one_that_fails_is_switched_off_with_an_event_and_the_run_ends_well(
    registry_home: Path, stand_in: Any, monkeypatch: pytest.MonkeyPatch, calls: dict[str, str], words: str
) -> None:
    stand_in(**calls)
    monkeypatch.setitem(trackers.PATIENCE, "on_train_begin", 1.0)
    noted: list[bool] = []
    monkeypatch.setattr(hung_threads, "note", lambda: noted.append(True))  # which would end these tests with it
    folder = trained(training={"report_to": ["wandb"]})
    [(said,)] = ask_db(folder, EVENTS)
    assert str(said).startswith(words)
    assert str(said).endswith("it is switched off for this run. Training goes on, and all of it is recorded here.")
    assert len(metrics.read_metrics(folder.db)["curves"]["reward"]["y"]) == 3
    assert bool(noted) == ("did not answer" in words)


def test_the_project_of_the_spec_is_that_of_wandb(
    registry_home: Path, stand_in: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """transformers hands `project` to trackio alone."""
    monkeypatch.setenv("WANDB_PROJECT", "another")
    stand_in(init="raise RuntimeError(settings['project'])")
    folder = trained(training={"report_to": ["wandb"], "project": "sums"})
    [(said,)] = ask_db(folder, EVENTS)
    assert str(said).startswith("wandb failed as it began (RuntimeError: sums)")


PROJECTS = [
    ("wandb", {}, {}, "groupwise"), ("trackio", {}, {}, "groupwise"), ("mlflow", {}, {}, "groupwise"),
    ("wandb", {"WANDB_PROJECT": "theirs"}, {}, "theirs"), ("trackio", {"TRACKIO_PROJECT": "theirs"}, {}, "theirs"),
    ("wandb", {"WANDB_PROJECT": "theirs"}, {"project": "sums"}, "sums"),
    ("trackio", {"WANDB_PROJECT": "theirs"}, {"project": None}, "groupwise"),
    ("mlflow", {"MLFLOW_EXPERIMENT_NAME": "theirs"}, {"project": "sums"}, "theirs"),
    ("mlflow", {}, {"project": "sums"}, "sums"), ("mlflow", {"MLFLOW_EXPERIMENT_ID": "7"}, {}, ""),
    ("mlflow", {"MLFLOW_TRACKING_URI": "databricks"}, {}, ""),
]  # fmt: skip


@pytest.mark.parametrize(("name", "variables", "training", "project"), PROJECTS)
def test_a_project_that_nobody_names_is_ours(
    monkeypatch: pytest.MonkeyPatch, name: str, variables: dict[str, str], training: dict[str, Any], project: str
) -> None:
    """It was “huggingface”, transformers' own."""
    for known in ("WANDB_PROJECT", "TRACKIO_PROJECT", "MLFLOW_EXPERIMENT_NAME", "MLFLOW_TRACKING_URI"):
        monkeypatch.delenv(known, raising=False)
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    assert tracker_projects.project_of(name, training) == project


def test_one_that_is_switched_off_stays_so_in_later_stages(registry_home: Path, stand_in: Any) -> None:
    stand_in(init="raise RuntimeError('no')")
    stages = [{"training": {"max_steps": 1}}, {"training": {"max_steps": 2}}]
    folder = trained(training={"report_to": "wandb"}, stages=stages)
    assert len(ask_db(folder, EVENTS)) == 1


WHERE = [
    ("tensorboard", {}, "folder /runs/a/tensorboard"),
    ("wandb", {}, "project “groupwise”"),
    ("wandb", {"WANDB_PROJECT": "sums", "WANDB_MODE": "offline"}, "project “sums”, offline"),
    ("wandb", {"WANDB_MODE": "disabled"}, ""),
    ("trackio", {"WANDB_PROJECT": "other"}, "project “mine”"),
    ("mlflow", {"MLFLOW_TRACKING_URI": "https://me:s3cret@example.org:50/x?key=s3", "MLFLOW_EXPERIMENT_NAME": "a"},
     "experiment “a” at https://example.org:50/x"),
    ("mlflow", {"MLFLOW_TRACKING_URI": "sqlite:///home/me/mlflow.db"}, "at sqlite:///home/me/mlflow.db"),
    ("mlflow", {}, ""),
]  # fmt: skip


@pytest.mark.parametrize(("name", "variables", "words"), WHERE)
def test_where_a_tracker_writes_is_told_as_far_as_it_is_known(
    monkeypatch: pytest.MonkeyPatch, name: str, variables: dict[str, str], words: str
) -> None:
    for known in ("WANDB_PROJECT", "WANDB_MODE", "MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME"):
        monkeypatch.delenv(known, raising=False)
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    assert trackers.where_written(name, "mine", "/runs/a/tensorboard") == words


def test_the_log_says_once_where_a_tracker_writes(registry_home: Path, stand_in: Any) -> None:
    """Nothing on the page told where to look for the curves."""
    run = "type('Run', (), {'_label': lambda self, **_: None, 'summary': {}})()"
    stand_in(init=f"global run, config; config = {{}}; run = {run}")
    stages = [{"training": {"max_steps": 1}}, {"training": {"max_steps": 2}}]
    folder = trained(training={"report_to": "wandb", "project": "sums"}, stages=stages)
    told = ask_db(folder, "SELECT message FROM event WHERE kind = 'note'")
    assert told == [("Metrics are also logged to wandb: project “sums”.",)], ask_db(folder, EVENTS)


# --- before a launch


def problems(report_to: Any, **extras: str) -> list[Problem]:
    spec = from_dict({"name": "a", "rewards": [{"name": "format"}], "training": {"report_to": report_to}})
    return examine_spec(spec, Offer(extras=extras or {"scipy": "1"}))


def test_what_is_not_installed_or_not_known_is_said_with_the_command() -> None:
    (missing,) = problems("wandb")
    assert missing.field == "training.report_to" and missing.fixes[0].removed == ("training.report_to",)
    assert missing.message == "needs wandb, which is not installed here: pip install 'groupwise[wandb]'"
    (one,) = problems(["trackio", "mlflow"], trackio="0.43")
    assert "needs mlflow" in one.message and one.fixes[0].settings == {"training.report_to": ["trackio"]}
    (both,) = problems(["wandb", "tensorboard"], datasets="4")
    command = "pip install 'groupwise[wandb,tensorboard]'"
    assert both.message == f"needs wandb and tensorboard, which are not installed here: {command}"
    assert [(fix.label, fix.removed) for fix in both.fixes] == [("Remove it", ("training.report_to",))]
    assert problems(["tensorboard"], tensorboardX="2") == []
    (wrong,) = problems("wandbb", wandb="1")
    known = "There are wandb, trackio, tensorboard, mlflow. Did you mean “wandb”?"
    assert wrong.message == f"“wandbb” is not a tracker that can be used here. {known}"
    assert wrong.fixes[0].settings == {"training.report_to": ["wandb"]}
    (every,) = problems("all", wandb="1")
    assert every.message == (
        "“all” is not a tracker that can be used here. There are wandb, trackio, tensorboard, mlflow."
    )
    for none in ("none", None, [], ["none"]):
        assert problems(none) == []


def test_nothing_is_known_before_the_worker_has_said_what_is_installed() -> None:
    spec = from_dict({"name": "a", "rewards": [{"name": "format"}], "training": {"report_to": "wandb"}})
    assert check_spec(spec, Offer()) == []


def test_trl_itself_reports_nowhere_and_the_plain_script_does(tmp_path: Path) -> None:
    spec = make_spec(training={"report_to": ["wandb"]}, name="mine")
    said = settings.training_settings(spec, tmp_path)
    assert said["report_to"] == "none" and said["run_name"] == "mine" and said["project"] == "groupwise"
    named = settings.training_settings(make_spec(training={"report_to": "wandb", "run_name": "other"}), tmp_path)
    assert named["run_name"] == "other"
    script = to_script(spec)
    assert "report_to=['wandb']" in script.replace('"', "'")
    assert from_script(script)[0]["training"]["report_to"] == ["wandb"]


def test_their_keys_reach_trainings_only_and_are_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {"WANDB_API_KEY": "local-0123456789abcdef", "MLFLOW_TRACKING_PASSWORD": "hunter2-hunter2-hunter2"}
    for name, value in {**keys, "WANDB_MODE": "offline", "TRACKIO_DIR": "/x", "TENSORBOARD_LOGGING_DIR": "/y"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "https://me:s3cret-s3cret-s3cret@example.org")
    given = process.child_environment(trackers=True)
    assert {name: given[name] for name in keys} == keys and given["WANDB_MODE"] == "offline"
    assert not [name for name in process.child_environment() if name.startswith(("WANDB", "MLFLOW", "TRACKIO"))]
    secrets = secret_values.known_secrets(dict(os.environ))
    assert {*keys.values(), "s3cret-s3cret-s3cret"} <= set(secrets)
