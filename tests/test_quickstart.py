"""The quickstart, whole: one real run through the supervisor serves every test here."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.configure import launch
from bench.homes import wait_for
from storage import groups, home, process, registry, series, spec, states
from storage.checks.check import check
from storage.home import RunFolder
from storage.offer import Offer
from tests.runs import WITHOUT_GROUPWISE, ask_db, make_spec, queue, state_of
from worker.training import checkpoints, train

QUICKSTART = Path(launch.__file__).parents[1] / "presets" / "quickstart.yaml"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunFolder]:
    """The folder of a finished quickstart, made in a home that outlives the single test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUPWISE_HOME", str(tmp_path_factory.mktemp("quickstart")))
        home.prepare()
        registry.open_registry()
        run_spec = spec.parse(QUICKSTART.read_text())
        supervisor = subprocess.Popen([sys.executable, "-m", "worker"], stderr=subprocess.DEVNULL)
        try:
            wait_for("the catalogue", lambda: registry.published("catalogue"))
            assert check(run_spec, Offer.published()) == []
            run_id = registry.create(
                spec.to_yaml(run_spec), name=run_spec.name, model=run_spec.model.id, data=run_spec.data.source
            )
            wait_for("the quickstart to end", lambda: state_of(run_id) in states.ENDED, 300)
            run = registry.get(run_id)
            assert run is not None and run.state == states.FINISHED, (run, run and run.folder.log.read_text()[-3000:])
            yield run.folder
        finally:
            supervisor.kill()
            supervisor.wait()
            for run in registry.runs():
                process.signal_tagged(run.tag or "", 9)


def test_it_learns(finished: RunFolder) -> None:
    """The mean reward of the last ten steps is at least half a point above the first ten's."""
    rewards = series.read(finished.db)["curves"]["reward"]["y"]
    assert len(rewards) == 60
    assert sum(rewards[-10:]) / 10 - sum(rewards[:10]) / 10 >= 0.5


def test_everything_it_scored_is_stored(finished: RunFolder) -> None:
    by_mode = "SELECT mode, count(*) FROM completion JOIN grp ON grp.id = grp GROUP BY mode ORDER BY mode"
    assert ask_db(finished, by_mode) == [("eval", 3 * 16 * 4), ("train", 60 * 64)]
    assert groups.span(finished.db) == (1, 60)
    assert len(groups.at_step(finished.db, 60)) == 8


def test_every_metric_has_trls_name(finished: RunFolder) -> None:
    names = set(series.read(finished.db)["curves"])
    assert names >= {
        "loss", "grad_norm", "learning_rate", "num_tokens", "epoch", "step_time", "reward", "reward_std", "kl",
        "frac_reward_zero_std", "entropy", "clip_ratio/region_mean", "rewards/format/mean", "rewards/correctness/std",
        "completions/mean_length", "completions/clipped_ratio", "completions/mean_terminated_length", "eval_reward",
    }  # fmt: skip


def test_it_left_whole_checkpoints_a_model_and_a_record_of_its_end(finished: RunFolder) -> None:
    assert [saved["step"] for saved in series.checkpoints(finished.db)] == [60, 40, 20]
    assert all(checkpoints.problem(finished.path / saved["path"]) is None for saved in series.checkpoints(finished.db))
    assert (finished.final / "model.safetensors").is_file()
    assert json.loads(finished.exit.read_text())["outcome"] == "finished"
    kinds = [event["kind"] for event in series.events(finished.db)]
    assert kinds == ["begin", "checkpoint", "checkpoint", "checkpoint"]


def test_the_progress_the_runs_page_shows(finished: RunFolder) -> None:
    seen = series.progress(finished.db)
    assert (seen["step"], seen["total"], seen["begun"], len(seen["spark"])) == (60, 60, True, 40)
    assert json.loads(finished.state.read_text())["state"] == states.FINISHED


def test_the_plain_script_makes_the_same_first_steps_with_no_groupwise(registry_home: Path) -> None:
    folder = queue(make_spec(training={"max_steps": 4, "per_device_train_batch_size": 8, "max_completion_length": 24}))
    assert train.main(folder.id) == 0
    plain = subprocess.run(
        [sys.executable, "-c", WITHOUT_GROUPWISE],
        cwd=folder.path,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert plain.returncode == 0, plain.stderr[-3000:]
    printed = [float(value) for value in re.findall(r"'reward': '?([-0-9.e+]+)", plain.stdout)]
    recorded = series.read(folder.db)["curves"]["reward"]["y"]
    assert len(printed) == len(recorded) == 4
    assert printed == pytest.approx(recorded, rel=1e-3)
    lengths = [float(value) for value in re.findall(r"'completions/mean_length': '?([-0-9.e+]+)", plain.stdout)]
    assert lengths == pytest.approx(series.read(folder.db)["curves"]["completions/mean_length"]["y"], rel=1e-3)
