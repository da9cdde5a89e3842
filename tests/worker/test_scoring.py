"""Reward functions of one's own in a training: apart from it, in the sandbox, and none of their failures is its end."""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.home import files
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.library.rewards import library
from groupwise.storage.record import checkpoint_files, groups
from groupwise.storage.registry import judge_ports, registry
from groupwise.storage.registry.messages.facts import TrustRewardCode
from groupwise.storage.spec.spec import RewardSpec
from groupwise.worker.launchers import local
from groupwise.worker.sandbox import client, tiers
from groupwise.worker.training import scoring, train
from tests.support.judges import Answers
from tests.support.runs import ask_db, make_spec, queue

LIKE_FORMAT = '''
"""Kept with its helper and its docstring."""
def mine(completions, answer, trainer_state, log_extra, log_metric, *, bonus: float = 0.25, **kwargs):
    print("hello from step", trainer_state.global_step)
    log_extra("words", [len(text_of(c).split()) for c in completions])
    log_metric("mine/answers", float(len(answer)))
    return [bonus * ("<answer>" in text_of(c)) for c in completions]

def text_of(completion):
    return completion if isinstance(completion, str) else completion[-1]["content"]
'''
# Whether a function runs where torch is loaded: in the trainer's process.
WITH_TORCH = """
import sys
def {name}(completions, **kwargs):
    return [float("torch" in sys.modules)] * len(completions)
"""
WEIGHT = (
    "SELECT m.step, m.value FROM metric m JOIN metric_key ON id = key WHERE name = 'rewards/mine/weight' "
    "AND attempt = ? ORDER BY 1"
)
BESIDE_FORMAT = (
    "SELECT g.step, c.reward - s.value FROM completion c JOIN grp g ON g.id = c.grp JOIN score s USING (grp, idx) "
    "JOIN reward_function f ON f.id = s.function WHERE f.name = 'format'"
)


pytestmark = pytest.mark.usefixtures("keep_signal_handler")


def run(code: str, *, reward: dict[str, Any] | None = None, **parts: Any) -> tuple[RunFolder, dict[str, Any]]:
    """A run with the built-in format and one's own function `mine`; its folder and exit record."""
    library.save_reward("mine", code)
    rewards = [{"name": "format"}, {"name": "mine", **(reward or {})}]
    folder = queue(make_spec(rewards=rewards, **parts))
    train.main(folder.id)
    record = files.read_json(folder.exit)
    assert isinstance(record, dict)
    return folder, record


def scores_of(folder: RunFolder) -> list[tuple[float | None, str]]:
    return ask_db(
        folder,
        "SELECT value, status FROM score JOIN reward_function ON id = function WHERE name = 'mine' ORDER BY grp, idx",
    )  # type: ignore[return-value]


def events(folder: RunFolder) -> list[tuple[str, dict[str, Any]]]:
    rows = ask_db(folder, "SELECT message, data FROM event WHERE kind = 'reward' ORDER BY id")
    return [(message, json.loads(data)) for message, data in rows]


def test_ones_own_function_scores_logs_and_prints(registry_home: Path, capfd: pytest.CaptureFixture[str]):
    folder, record = run(LIKE_FORMAT, reward={"weight": 2.0, "parameters": {"bonus": 0.5}})
    assert record["outcome"] == "finished"
    texts = [text for (text,) in ask_db(folder, "SELECT text FROM completion ORDER BY grp, idx")]
    assert [value for value, _ in scores_of(folder)] == [0.5 * ("<answer>" in text) for text in texts]
    assert (folder.rewards / "mine.py").read_text() == LIKE_FORMAT  # exactly what ran
    logged = [json.loads(row) for (row,) in ask_db(folder, "SELECT columns FROM extra ORDER BY grp, idx")]
    assert logged == [{"words": len(text.split())} for text in texts]
    metrics = {name for (name,) in ask_db(folder, "SELECT name FROM metric_key")}
    assert {"mine/answers", "rewards/mine/mean"} <= metrics
    assert "mine: hello from step 0" in capfd.readouterr().out
    [first, *_] = [groups.read_group(folder.db, row["id"]) for row in groups.at_step(folder.db, 1)]
    assert first is not None and first["completions"][0]["extra"] == logged[0]


def test_a_row_that_fails_has_no_score_and_the_event_says_why(registry_home: Path):
    code = (
        "def mine(completions, answer, **kwargs):\n"
        "    return [score(str(a)) for a in answer]\n\n"
        "def score(answer):\n"
        "    if int(answer) % 2:\n"
        "        raise ValueError(f'odd: {answer}')\n"
        "    return 1.0\n"
    )
    folder, record = run(code)
    assert record["outcome"] == "finished" and record["step"] == 8
    found = scores_of(folder)
    assert {status for _, status in found} == {"ok", "error"}
    assert all((value is None) == (status == "error") for value, status in found)
    message, data = events(folder)[0]
    assert (
        message.startswith("mine gave no score to all 4 completions: ") and "odd: " in message and "line 6" in message
    )
    assert (
        data["function"] == "mine"
        and data["row"] == 0
        and 'raise ValueError(f"odd' in data["traceback"].replace("'", '"')
    )
    totals = ask_db(folder, "SELECT reward FROM completion JOIN score USING (grp, idx) WHERE status = 'error'")
    assert all(reward is not None for (reward,) in totals)  # the other function still counts


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("import os; os._exit(0)", "ended"),
        ("\n    while True: pass", "took longer"),
        ("return 'high'", "text"),
        ("return [0.5]", "1"),
        ("return [float('inf')] * len(completions)", "inf"),
        ("import no_such_package", "no_such_package"),
        ("import ctypes; ctypes.string_at(0)", "crashed"),
    ],
)
def test_a_function_that_scores_nothing_ends_the_run_with_its_reason(registry_home: Path, body: str, words: str):
    folder, record = run(
        f"def mine(completions, **kwargs):\n    {body}\n",
        reward={"timeout": 0.5},
        launch={"reward_failures": 3},
    )
    assert record["outcome"] == "failed" and record["step"] == 3, record
    assert "“mine” failed in 3 calls in a row" in record["reason"] and words in record["reason"]
    assert {status for _, status in scores_of(folder)} <= {"error", "timeout"}
    assert checkpoint_files.step_of(checkpoint_files.latest_sealed(folder.checkpoints)) == 3  # type: ignore[arg-type]
    assert len(events(folder)) == 3  # the 1st, the 2nd, and the one that ends the run
    stored = ask_db(folder, "SELECT count(*) FROM completion")
    assert stored == [(12,)]


def test_failures_are_counted_in_a_row(registry_home: Path):
    code = """def mine(completions, trainer_state, **kwargs):
    if trainer_state.global_step % 2:
        raise ValueError
    return [1.0] * len(completions)
"""
    folder, record = run(code, launch={"reward_failures": 2})
    assert record["outcome"] == "finished"
    assert [status for _, status in scores_of(folder)] == (["ok"] * 4 + ["error"] * 4) * 4


def test_with_no_limit_the_run_goes_on(registry_home: Path):
    folder, record = run("def mine(completions, **kwargs):\n    raise ValueError\n", launch={"reward_failures": 0})
    assert record["outcome"] == "finished" and len(events(folder)) == 4  # the 1st, 2nd, 4th and 8th


def test_none_does_not_apply(registry_home: Path):
    folder, record = run("async def mine(completions, **kwargs):\n    return [None] * len(completions)\n")
    assert record["outcome"] == "finished" and events(folder) == []
    assert set(scores_of(folder)) == {(None, "none")}


def test_a_completion_without_any_score_is_said_in_words_without_trls_dict(
    registry_home: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
):
    code = "def mine(completions, **kwargs):\n    return [None] * len(completions)\n"
    library.save_reward("mine", code)
    assert train.main(queue(make_spec(rewards=[{"name": "mine"}])).id) == 0
    said = [line for line in caplog.text.splitlines() if "all reward functions gave a completion no score" in line]
    assert len(said) == 4, "the 1st, the 2nd, the 4th and the 8th"
    assert re.search(r"no score, at row \d+ of the data\.$", said[0]), said
    assert re.search(r"no score; the last of 4 such completions was at row \d+ of the data\.$", said[2]), said
    printed = caplog.text + "".join(capfd.readouterr())
    assert "kwargs" not in printed and "groupwise_row" not in printed


def test_without_a_sandbox_ones_own_functions_are_refused(registry_home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr("groupwise.worker.sandbox.landlock.abi", lambda: 0)
    tiers.probe.cache_clear()
    try:
        _, record = run(LIKE_FORMAT)
    finally:
        tiers.probe.cache_clear()
    assert record["outcome"] == "failed" and "bubblewrap" in record["reason"], record


def test_a_judge_here_scores_a_training_when_its_port_is_open_and_its_reason_is_an_event_when_not(registry_home: Path):
    asks = "def mine(completions, **kwargs):\n    url = 'http://localhost:{}/'\n    import urllib.request\n"
    asks += "    return [float(urllib.request.urlopen(url, timeout=10).status) for _ in completions]\n"
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, args=[0.02], daemon=True).start()
        code = asks.format(server.server_port)
        library.save_reward("mine", code, network=True)
        judge_ports.publish_ports([server.server_port])
        opened = queue(make_spec(rewards=[{"name": "format"}, {"name": "mine"}]))
        assert train.main(opened.id) == 0 and set(scores_of(opened)) == {(200.0, "ok")}
        judge_ports.publish_ports([])
        closed = queue(make_spec(rewards=[{"name": "format"}, {"name": "mine"}], launch={"reward_failures": 0}))
        assert train.main(closed.id) == 0 and {status for _, status in scores_of(closed)} == {"error"}
        server.shutdown()
    assert f"GROUPWISE_JUDGE_PORTS={server.server_port}" in str(events(closed)[0])


def test_trusted_code_runs_in_the_trainers_own_process(registry_home: Path):
    code = WITH_TORCH.format(name="mine")
    folder, _ = run(code)
    assert {value for value, _ in scores_of(folder)} == {0.0}
    registry.publish_fact(TrustRewardCode(trusted=True))
    folder, _ = run(code)
    assert {value for value, _ in scores_of(folder)} == {1.0}


def test_a_built_in_that_was_changed_in_the_folder_runs_apart(registry_home: Path):
    folder = queue(make_spec(rewards=[{"name": "format"}]))
    (folder.rewards / "format.py").write_text(WITH_TORCH.format(name="format"))
    assert train.main(folder.id) == 0
    assert ask_db(folder, "SELECT DISTINCT value FROM score") == [(0.0,)]


def test_a_weight_follows_its_schedule_and_is_known_of_each_step(registry_home: Path):
    schedule = [{"step": 2, "weight": 1.0}, {"step": 6, "weight": 0.0}]
    folder, _ = run(
        "def mine(completions, **kwargs):\n    return [1.0] * len(completions)\n",
        reward={"schedule": schedule},
        training={"logging_steps": 4},
    )
    expected = [1.0, 1.0, 1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
    rows = ask_db(folder, WEIGHT, 1)
    assert [value for _, value in sorted(rows)] == pytest.approx(expected)
    # the stored totals are those that trained
    assert [(step, round(rest, 6)) for step, rest in sorted(set(ask_db(folder, BESIDE_FORMAT)))] == [
        (step + 1, weight) for step, weight in enumerate(expected)
    ]


def test_a_weight_follows_the_success_rate_over_a_resume(registry_home: Path):
    code = """def mine(completions, trainer_state, **kwargs):
    return [float(trainer_state.global_step >= 4)] * len(completions)
"""
    library.save_reward("mine", code)
    adapt = {"every": 2, "up": 2.0, "down": 0.5}
    parts = {"rewards": [{"name": "mine", "adapt": adapt}], "training": {"save_strategy": "steps", "save_steps": 4}}
    folder = queue(make_spec(**parts))
    train.main(folder.id)
    first = [value for _, value in ask_db(folder, WEIGHT, 1)]
    assert first == [1.0, 1.0, 2.0, 2.0, 4.0, 4.0, 2.0, 2.0]  # down only after two steps of success
    checkpoint = next(path for path in folder.checkpoints.iterdir() if path.name == "checkpoint-8")
    for path in sorted(checkpoint.iterdir()):
        path.unlink()
    registry.set_facts(folder.id, attempt=2)
    assert train.main(folder.id) == 0
    assert [value for _, value in ask_db(folder, WEIGHT, 2)] == [4.0, 4.0, 2.0, 2.0]  # as if it had not been cut


def test_two_ranks_have_a_host_each_and_end_together(registry_home: Path):
    """Failures are counted over all ranks, and a run that cannot go on ends on all of them."""
    code = (
        "def mine(completions, trainer_state, log_extra, **kwargs):\n"
        "    log_extra('size', [len(completions)] * len(completions))\n"
        "    if trainer_state.global_step >= 2:\n"
        "        raise ValueError('enough')\n"
        "    return [1.0] * len(completions)\n"
    )
    library.save_reward("mine", code)
    launch = {"processes": 2, "reward_failures": 2}
    folder = queue(make_spec(rewards=[{"name": "mine"}], launch=launch))
    done = subprocess.run(
        local.training_command(folder.id, 2),
        cwd=folder.path,
        env={**os.environ, **local.training_environment("test:1:x", 2)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    record = files.read_json(folder.exit)
    assert record is not None and record["outcome"] == "failed" and record["step"] == 4, done.stderr[-2000:]
    assert "ValueError: enough" in record["reason"]
    assert [status for _, status in scores_of(folder)] == ["ok"] * 16 + ["error"] * 16
    assert events(folder)[0][0].startswith("mine gave no score to all 8 completions: ValueError: enough")
    assert ask_db(folder, "SELECT DISTINCT columns FROM extra") == [('{"size":4}',)]


def test_of_what_a_call_printed_the_log_says_how_much_is_left_out(capfd: pytest.CaptureFixture[str]) -> None:
    def scored(printed: int, *failures: client.Failure) -> str:
        result = client.Result([1.0], ["ok"], [*failures], "x" * printed)
        scoring.Scorer(RewardSpec(name="mine"), lambda *_: result)(completions=["a"], prompts=["b"])
        return capfd.readouterr().out.strip().partition("…")[2]

    assert scored(2000) == "" and scored(3000) == " cut: 3,000 characters in all."
    assert scored(64 << 10, client.Failure(None, client.FLOODED)) == " cut: more than 64 KB in all."
