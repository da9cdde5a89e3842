"""The built-in rewards that ask other models, in a real training: an ensemble of reward models, and a judge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from groupwise.worker.training import train
from tests.support.runs import ask_db, make_spec, queue
from tests.worker.rewards.test_judge import Endpoint, endpoint, says
from tests.worker.rewards.test_reward_model import make

__all__ = ["endpoint"]  # the fixture


pytestmark = pytest.mark.usefixtures("keep_signal_handler")


def test_an_ensemble_and_a_judge_score_a_run(registry_home: Path, tmp_path: Path, endpoint: Endpoint) -> None:
    models = [make(tmp_path / f"judge-{seed}", seed) for seed in range(2)]
    endpoint.answer = says(json.dumps({"score": 8}))
    judge = {"base_url": endpoint.url, "model": "m", "scale": 10, "price_in": 1.0, "price_out": 2.0}
    rewards = [
        {"name": "reward_model", "parameters": {"models": models, "combine": "min"}},
        {"name": "llm_judge", "parameters": judge, "weight": 0.5},
    ]
    folder = queue(make_spec(rewards=rewards, training={"max_steps": 2}))
    assert train.main(folder.id) == 0
    sql = "SELECT name, value, status FROM score JOIN reward_function f ON f.id = function"
    scores = ask_db(folder, sql)
    assert {status for _, _, status in scores} == {"ok"} and len(scores) == 2 * 8
    given = {name: {value for one, value, _ in scores if one == name} for name in ("reward_model", "llm_judge")}
    assert [*given["llm_judge"]] == [pytest.approx(0.8)] and len(given["reward_model"]) > 1
    metrics = {name for (name,) in ask_db(folder, "SELECT name FROM metric_key")}
    assert {"llm_judge/cost", "llm_judge/failures"} <= metrics
    [(first,)] = ask_db(folder, "SELECT columns FROM extra LIMIT 1")
    assert "llm_judge" in json.loads(first)
