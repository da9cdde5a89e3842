"""The capture contract: every scored completion is stored exactly once, whatever the settings, with its group."""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.home import paths
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.record import groups
from groupwise.worker.launchers import local
from groupwise.worker.training import train
from tests.support.runs import ask_db, make_spec, queue

LORA = {"r": 4, "target_modules": ["q_proj", "v_proj"], "task_type": "CAUSAL_LM"}


pytestmark = pytest.mark.usefixtures("keep_signal_handler")


def run_here(**parts: Any) -> RunFolder:
    folder = queue(make_spec(**parts))
    assert train.main(folder.id) == 0
    return folder


def counts(folder: RunFolder, mode: str = "train") -> tuple[int, int]:
    """(completions, distinct (group, index))"""
    sql = "SELECT count(*), count(DISTINCT grp || '.' || idx) FROM completion JOIN grp ON grp.id = grp WHERE mode = ?"
    return ask_db(folder, sql, mode)[0]  # type: ignore[return-value]


@pytest.mark.parametrize("lora", [None, LORA], ids=["full", "lora"])
@pytest.mark.parametrize("steps_per_generation", [1, 4])
@pytest.mark.parametrize("logging_steps", [1, 4])
def test_8_steps_of_4_completions_are_32_stored(
    registry_home: Path, logging_steps: int, steps_per_generation: int, lora: dict[str, Any] | None
) -> None:
    folder = run_here(
        training={"logging_steps": logging_steps, "steps_per_generation": steps_per_generation}, lora=lora
    )
    assert counts(folder) == (32, 32)
    assert ask_db(folder, "SELECT count(*) FROM score") == [(64,)]
    assert ask_db(folder, "SELECT count(*), min(size), max(size) FROM grp") == [(8, 4, 4)]
    # steps_per_generation=4 makes four steps' groups at once, before the first of them
    steps = [step for (step,) in ask_db(folder, "SELECT step FROM grp ORDER BY id")]
    assert steps == ([1, 2, 3, 4, 5, 6, 7, 8] if steps_per_generation == 1 else [1, 1, 1, 1, 5, 5, 5, 5])
    assert ask_db(folder, "SELECT max(step) FROM acknowledged") == [(8,)]


def test_each_step_says_what_its_groups_and_its_time_came_to(registry_home: Path) -> None:
    folder = run_here(training={"logging_steps": 4, "per_device_train_batch_size": 8, "eval_strategy": "steps",
                                "eval_steps": 4, "per_device_eval_batch_size": 16}, data={"holdout": 6})  # fmt: skip
    metrics = ask_db(folder, "SELECT name, step, value FROM metric JOIN metric_key ON id = key ORDER BY step")
    steps: dict[str, list[int]] = {}
    for name, step, _ in metrics:
        steps.setdefault(name, []).append(step)
    by_step = ["groups/tied", "groups/bearing", "groups/solved", "time/generation", "time/rewards", "time/update"]
    assert all(steps[name] == list(range(1, 9)) for name in by_step), steps
    assert steps["time/elapsed"] == steps["system/memory_share"] == steps["reward"] == [4, 8]
    assert steps["eval_groups/tied"] == [4, 8]
    values = {(name, step): value for name, step, value in metrics}
    assert values["groups/tied", 3] + values["groups/bearing", 3] == 1.0
    assert 0 < values["time/generation", 3] < values["time/elapsed", 4] < values["time/elapsed", 8]
    low, high = ask_db(folder, "SELECT min(low), max(high) FROM grp WHERE step = 8 AND mode = 'train'")[0]
    assert low <= values["groups/worst", 8] <= values["groups/best", 8] <= high
    # evaluated in batches of 16 and 8 completions, and told of all 24
    evaluated = (
        "SELECT avg(value >= 1), count(*) FROM score JOIN grp ON grp.id = grp JOIN reward_function AS f ON f.id = "
        "function WHERE mode = 'eval' AND step = 8 AND name = 'correctness'"
    )
    assert ask_db(folder, evaluated) == [(pytest.approx(values["eval_groups/solved", 8]), 24)]
    of_groups = "SELECT avg(high), avg(low), avg(std) FROM grp WHERE mode = 'eval' AND step = 8"
    told = [values[f"eval_groups/{name}", 8] for name in ("best", "worst", "spread")]
    assert ask_db(folder, of_groups)[0] == pytest.approx(told)


def test_what_was_measured_since_the_last_log_is_logged_before_the_last_evaluation(registry_home: Path) -> None:
    """TRL dropped it: a run of 25 steps was told by steps 11–20 at its end, as it evaluated at step 25."""
    folder = run_here(training={"logging_steps": 4, "max_steps": 6, "eval_strategy": "steps", "eval_steps": 3,
                                "per_device_eval_batch_size": 16}, data={"holdout": 4})  # fmt: skip
    at = "SELECT step FROM metric JOIN metric_key ON id = key WHERE name = ? ORDER BY step"
    for name in ("reward", "loss", "learning_rate"):
        assert ask_db(folder, at, name) == [(4,), (6,)], name
    assert ask_db(folder, at, "eval_reward") == [(3,), (6,)]


def test_where_no_completion_ended_by_itself_there_is_no_length_of_those_that_did(registry_home: Path) -> None:
    """TRL logs 0 tokens there, which no completion has, and counts them into its means over several generations."""
    settings = {"max_completion_length": 3, "eval_strategy": "steps", "eval_steps": 4, "per_device_eval_batch_size": 4}
    folder = run_here(training={**settings, "temperature": 3.0}, data={"holdout": 6})
    ended = "SELECT grp.mode, grp.step, avg(tokens) FROM completion JOIN grp ON grp.id = grp "
    lengths = ask_db(folder, ended + "WHERE NOT truncated GROUP BY grp.id")
    for mode, before in (("train", ""), ("eval", "eval_")):
        of_name = "SELECT step, value FROM metric JOIN metric_key ON id = key WHERE name = ? ORDER BY step"
        logged = ask_db(folder, of_name, f"{before}completions/mean_terminated_length")
        assert [step for step, _ in logged] == ([4, 8] if before else list(range(1, 9)))
        for step, value in logged:
            own = [length for of, at, length in lengths if (of, at) == (mode, step)]
            assert value == (pytest.approx(statistics.fmean(own)) if own else None)
    assert None in [value for _, value in ask_db(folder, "SELECT step, value FROM metric WHERE value IS NULL")]


def test_a_group_is_one_prompt_and_its_figures_are_trls(registry_home: Path) -> None:
    folder = run_here(training={"per_device_train_batch_size": 8, "max_steps": 3, "max_completion_length": 24})
    logged = dict(
        ask_db(folder, "SELECT name, value FROM metric JOIN metric_key ON id = key WHERE step = 2 AND attempt = 1")
    )
    stored = [groups.read_group(folder.db, row["id"]) for row in groups.at_step(folder.db, 2)]
    completions = [c for group in stored if group for c in group["completions"]]
    assert len(stored) == 2 and len(completions) == 8
    close = {"rel_tol": 1e-4, "abs_tol": 1e-4}
    rewards = [c["reward"] for c in completions]
    assert math.isclose(statistics.fmean(rewards), logged["reward"], **close)
    assert math.isclose(statistics.fmean(c["tokens"] for c in completions), logged["completions/mean_length"], **close)
    assert math.isclose(
        statistics.fmean(c["truncated"] for c in completions), logged["completions/clipped_ratio"], **close
    )
    for function in ("format", "correctness"):
        scores = [s["value"] for c in completions for s in c["scores"] if s["name"] == function]
        assert math.isclose(statistics.fmean(scores), logged[f"rewards/{function}/mean"], **close)
    for group in filter(None, stored):
        question, answer = group["prompt"][0]["content"], group["columns"]["answer"]
        assert sum(map(int, question.rstrip("?").split("+"))) == int(answer)
        inside = [c["reward"] for c in group["completions"]]
        spread = statistics.stdev(inside)
        assert math.isclose(group["std"] or 0.0, spread, **close)
        for c in group["completions"]:
            assert c["reward"] == sum(s["weight"] * s["value"] for s in c["scores"])
            expected = (c["reward"] - statistics.fmean(inside)) / (spread + 1e-4)
            assert math.isclose(c["advantage"], expected, rel_tol=1e-3, abs_tol=1e-3)


def test_token_counts_survive_the_masking_of_truncated_completions(registry_home: Path) -> None:
    folder = run_here(training={"max_steps": 2, "max_completion_length": 3, "mask_truncated_completions": True})
    rows = ask_db(folder, "SELECT tokens, truncated FROM completion")
    assert {tokens for tokens, truncated in rows if truncated} == {3}
    assert any(truncated for _, truncated in rows)


def test_evaluation_is_captured_too_even_when_it_is_larger_than_a_generation(registry_home: Path) -> None:
    folder = run_here(
        data={"holdout": 6},
        training={
            "max_steps": 2, "eval_strategy": "steps", "eval_steps": 1, "per_device_eval_batch_size": 12,
            "num_generations_eval": 2,
        },
    )  # fmt: skip
    assert counts(folder, "eval") == (24, 24)  # 6 prompts × 2, after each of 2 steps
    assert counts(folder, "train") == (8, 8)
    assert ask_db(folder, "SELECT DISTINCT step FROM grp WHERE mode = 'eval' ORDER BY step") == [(1,), (2,)]
    assert ask_db(folder, "SELECT count(*) FROM metric JOIN metric_key ON id = key WHERE name = 'eval_reward'") == [
        (2,)
    ]
    held_out = {p for (p,) in ask_db(folder, "SELECT prompt FROM grp WHERE mode = 'eval'")}
    trained = {p for (p,) in ask_db(folder, "SELECT prompt FROM grp WHERE mode = 'train'")}
    assert len(held_out) == 6 and not held_out & trained


def test_two_real_ranks_store_each_completion_once(registry_home: Path) -> None:
    """Started as the supervisor starts them: accelerate, two processes, gloo."""
    processes = {"processes": 2}
    folder = queue(make_spec(launch=processes, training={"max_steps": 8, "per_device_train_batch_size": 4}))
    done = subprocess.run(
        local.training_command(folder.id, 2),
        cwd=folder.path,
        env={**os.environ, **local.training_environment("test:1:x", 2)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    printed = (done.stdout + done.stderr).splitlines()
    for rank in (0, 1):  # whose line each is can be read
        assert any(line.startswith(f"[rank {rank}] ") for line in printed), printed
    assert all(line.startswith("[rank ") for line in printed if "'loss'" in line)
    assert counts(folder) == (64, 64)  # 8 steps × 4 completions × 2 ranks
    assert ask_db(folder, "SELECT count(*) FROM grp WHERE size = 4") == [(16,)]
    assert ask_db(folder, "SELECT count(*) FROM event WHERE kind = 'begin'") == [(1,)]
    for group_id in (1, 16):
        group = groups.read_group(folder.db, group_id)
        assert group is not None and len(group["completions"]) == 4


def test_a_run_that_no_function_scores_says_so(registry_home: Path) -> None:
    rows = "\n".join(json.dumps({"question": f"1+{n}?", "answer": None}) for n in range(8))
    (paths.data_folder() / "unanswered.jsonl").write_text(rows)
    folder = run_here(
        data={"source": "file:unanswered.jsonl", "limit": None}, rewards=[{"name": "correctness"}],
        training={"max_steps": 2},
    )  # fmt: skip
    assert ask_db(folder, "SELECT DISTINCT status, value FROM score") == [("none", None)]
    assert ask_db(folder, "SELECT count(*) FROM completion WHERE reward IS NULL AND advantage = 0") == [(8,)]
    warnings = ask_db(folder, "SELECT message FROM event WHERE kind = 'warning'")
    assert len(warnings) == 1 and "No reward function scored any completion" in warnings[0][0]
