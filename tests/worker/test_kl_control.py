"""A KL weight that follows a target: the controller, and the starter model really trained with it, over a resume."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.home.paths import RunFolder
from groupwise.storage.record import metrics
from groupwise.storage.registry import registry
from groupwise.storage.spec.spec import KlSpec
from groupwise.worker.training import kl_control, train
from groupwise.worker.training.kl_control import KlControl, next_beta
from tests.support.runs import ask_db, make_spec, queue

pytestmark = pytest.mark.usefixtures("keep_signal_handler")

TARGET = KlSpec(target=0.1)


@pytest.mark.parametrize(
    ("kl", "factor"),
    [(0.1, 1.0), (0.11, 1.01), (0.09, 0.99), (0.12, 1.02), (5.0, 1.02), (0.0, 0.98)],
)
def test_beta_follows_the_error_and_never_faster_than_a_fifth_of_the_rate(kl: float, factor: float) -> None:
    assert next_beta(0.5, kl, TARGET) == pytest.approx(0.5 * factor)


def test_beta_stays_within_its_bounds() -> None:
    kl_spec = KlSpec(target=0.1, rate=1.0, least=0.09, most=0.11)
    assert next_beta(0.1, 9.0, kl_spec) == 0.11 and next_beta(0.1, 0.0, kl_spec) == 0.09


def test_it_changes_only_as_a_generation_begins_by_the_mean_since_the_last(tmp_path: Path) -> None:
    control = KlControl(TARGET, 0.5)
    assert control.begin_generation() == 0.5  # nothing is known yet
    control.saw(0.10)
    control.saw(0.12)
    assert control.beta == 0.5
    control.save(tmp_path)
    resumed = KlControl(TARGET, 0.5, tmp_path)
    assert control.begin_generation() == resumed.begin_generation() == pytest.approx(0.5 * 1.01)
    (tmp_path / kl_control.FILE).write_text('{"beta": "much"}')
    assert KlControl(TARGET, 0.5, tmp_path).begin_generation() == 0.5  # damaged: as it begins


SETTINGS = {"beta": 0.05, "learning_rate": 1e-2, "max_steps": 6, "save_strategy": "steps", "save_steps": 3}
BETAS = (
    "SELECT m.step, m.value FROM metric m JOIN metric_key ON id = key WHERE name = 'beta' AND attempt = ? ORDER BY 1"
)
KL = {"target": 1e-3, "rate": 1.0, "least": 0.001, "most": 1.0}


def curves(folder: RunFolder) -> dict[str, Any]:
    return metrics.read_metrics(folder.db)["curves"]


@pytest.mark.parametrize("lora", [None, {"r": 4, "target_modules": ["q_proj", "v_proj"]}], ids=["whole", "lora"])
def test_a_run_follows_its_target_from_the_first_step_and_over_a_resume(
    registry_home: Path, lora: dict[str, Any] | None
) -> None:
    folder = queue(make_spec(training=SETTINGS, kl=KL, lora=lora))
    assert train.main(folder.id) == 0
    whole = curves(folder)
    assert whole["beta"]["x"] == [1, 2, 3, 4, 5, 6] and whole["kl/target"]["y"] == [1e-3] * 6
    told = [0.05]
    for measured in whole["kl"]["y"][:-1]:
        told.append(next_beta(told[-1], measured, KlSpec.model_validate(KL)))
    assert whole["beta"]["y"] == pytest.approx(told, rel=1e-4) and len({round(beta, 6) for beta in told}) > 2
    first = dict(ask_db(folder, BETAS, 1))
    shutil.rmtree(folder.checkpoints / "checkpoint-6")
    registry.set_facts(folder.id, attempt=2)
    assert train.main(folder.id) == 0
    again = dict(ask_db(folder, BETAS, 2))
    assert sorted(again) == [4, 5, 6] and again[4] == pytest.approx(first[4])  # as if it had not been cut


def test_without_a_target_beta_stays_and_is_not_charted(registry_home: Path) -> None:
    folder = queue(make_spec(training={"beta": 0.05, "max_steps": 1}))
    assert train.main(folder.id) == 0
    assert not {"beta", "kl/target"} & set(curves(folder)) and registry.get_run(folder.id) is not None
