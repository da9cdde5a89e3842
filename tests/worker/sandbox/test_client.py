"""Calling a function in its sandbox: what it is given, what comes back, what goes wrong before and in the call."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import textwrap
import threading
from typing import Any

import numpy
import pytest

from groupwise.worker.sandbox import client, results, tiers
from groupwise.worker.sandbox.client import Code, Host, Limits, Result
from tests.support.sandboxes import WITHOUT_BUBBLEWRAP

BATCH = {"completions": ["a", "bb"]}


def scored(code: str, batch: dict[str, Any] | None = None, **parameters: Any) -> Result:
    with Host([Code("score", textwrap.dedent(code), parameters)]) as host:
        return host.score("score", batch or BATCH, 20.0)


def test_chat_completions_columns_parameters_and_the_trainers_state():
    code = """
        from dataclasses import dataclass
        @dataclass
        class Want:
            text: str
        def score(completions, answer, trainer_state, *, weight: float = 1.0, **kwargs):
            wants = [Want(text) for text in answer]
            return [weight * (c[0]["content"] == w.text) * trainer_state.max_steps for c, w in zip(completions, wants)]
    """
    batch = {
        "completions": [[{"role": "assistant", "content": "4"}], [{"role": "assistant", "content": "5"}]],
        "answer": ["4", "4"], "trainer_state": {"global_step": 1, "max_steps": 10, "epoch": 0.1},
    }  # fmt: skip
    assert scored(code, batch, weight=0.5).values == [5.0, 0.0]


def test_async_logs_and_prints_come_back():
    code = """
        import asyncio, sys
        print("loading")
        async def score(completions, log_extra, log_metric, **kwargs):
            await asyncio.gather(*[asyncio.sleep(0.001) for _ in completions])
            log_extra("length", [len(c) for c in completions])
            log_metric("rate", 0.5)
            print("scoring", file=sys.stderr)
            return [None, 1]
    """
    result = scored(code)
    assert (result.values, result.statuses) == ([None, 1.0], ["none", "ok"])
    assert result.extras == {"length": [1, 2]} and result.metrics == {"rate": 0.5}
    assert result.out == "loading\nscoring\n" and result.seconds > 0


def test_text_of_every_kind_survives_the_way():
    texts = ["\ud800 lone", "\x00", "é😀", "\u2028", ""]
    code = "def score(completions, **kwargs):\n    return [float(sum(map(ord, c))) for c in completions]\n"
    assert scored(code, {"completions": texts}).values == [float(sum(map(ord, text))) for text in texts]


def test_several_functions_share_a_host_and_keep_what_they_remember():
    count = "seen = []\ndef {}(completions):\n    seen.append(1)\n    return [len(seen)] * len(completions)\n"
    with Host([Code("one", count.format("one")), Code("two", count.format("two"))]) as host:
        assert [host.score(name, BATCH, 5.0).values[0] for name in ("one", "one", "two")] == [1.0, 2.0, 1.0]


def test_two_functions_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two functions"):
        Host([Code("one", ""), Code("one", "")])


@pytest.mark.parametrize(
    ("code", "words", "line"),
    [
        ("def score(completions:\n", "cannot be read as Python", 1),
        ("import json\nimport no_such_package\n", "the package ‘no_such_package’, which is not installed", 2),
        ("def other(completions): ...", "defines no function ‘score’", None),
        ("x = 1\n\nraise ValueError('early')", "early", 3),
        ("import os\nos._exit(4)", "exit status 4", None),
        ("def score(completions, anser, **kwargs): ...", "takes ‘anser’, which this data does not have", 1),
    ],
)
def test_what_is_wrong_before_the_call_is_each_calls_failure(code: str, words: str, line: int | None):
    with Host([Code("score", code)]) as host:
        for _ in range(2):
            result = host.score("score", BATCH, 5.0)
            assert result.statuses == ["error", "error"] and words in result.failures[0].message
            assert result.failures[0].line == line


def test_code_that_does_not_come_to_an_end_is_ended_while_it_is_loaded():
    with Host([Code("score", "print('so far')\nwhile True: pass\n")], limits=Limits(load=0.5)) as host:
        result = host.score("score", BATCH, 5.0)
        assert result.statuses == ["timeout", "timeout"] and result.out == "so far\n"
        assert result.failures[0].message.startswith("While its code was being loaded")


def test_a_failure_has_the_line_and_the_source():
    result = scored(
        "def score(completions, **kwargs):\n    return helper(completions)\ndef helper(c):\n    return 1 / 0\n"
    )
    failure = result.failures[0]
    assert failure.line == 4 and 'File "reward/score.py", line 4, in helper\n    return 1 / 0' in failure.traceback
    assert "worker/sandbox" not in failure.traceback


def test_arrays_are_given_as_lists_and_what_cannot_be_given_is_said_only_to_who_asks():
    batch = {**BATCH, "numbers": [numpy.array([1, 2]), numpy.array([3])], "image": [object(), object()]}
    assert scored(
        "def score(completions, numbers, **kwargs):\n    return [sum(n) for n in numbers]\n", batch
    ).values == [3, 3]
    asks = scored("def score(completions, image):\n    return [1, 1]\n", batch)
    assert "cannot be handed to a sandboxed function: it holds object" in asks.failures[0].message


def test_a_function_that_looks_at_its_rest_gets_every_column():
    code = "def score(completions, **kwargs):\n    return [float(x) for x in kwargs['answer']]\n"
    assert scored(code, {**BATCH, "answer": [3, 4]}).values == [3.0, 4.0]


def test_installed_packages_can_be_imported_and_groupwise_cannot():
    assert scored("import numpy\ndef score(completions):\n    return numpy.ones(len(completions))\n").values == [
        1.0,
        1.0,
    ]
    assert "the package ‘app’" in scored("import app\ndef score(completions):\n    return [1, 1]\n").failures[0].message


def test_a_call_after_the_sandbox_was_closed_starts_it_again():
    with Host([Code("score", "def score(completions):\n    return [1, 2]\n")]) as host:
        host.close()
        assert host.score("score", BATCH, 5.0).values == [1.0, 2.0]


@pytest.mark.parametrize("path", [os.environ["PATH"], WITHOUT_BUBBLEWRAP], ids=["bubblewrap", "landlock"])
def test_a_host_that_was_killed_between_calls_is_started_anew_and_the_batch_scored(
    path: str, monkeypatch: pytest.MonkeyPatch
):
    """As by the kernel when memory runs out, of which the sandbox is the first to go."""
    monkeypatch.setenv("PATH", path)
    tiers.probe.cache_clear()
    try:
        with Host([Code("score", "def score(completions):\n    return [1, 2]\n")]) as host:
            for _ in range(3):
                assert host.score("score", BATCH, 5.0).statuses == ["ok", "ok"]
                assert host._process
                started = host._process._started
                os.kill(started.pid, signal.SIGKILL)
                assert select.select([started.pidfd], [], [], 10)[0]
            result = host.score("score", BATCH, 5.0)
            assert (result.statuses, result.failures) == (["ok", "ok"], [])
    finally:
        tiers.probe.cache_clear()


# Starts a host, and is killed before it was told which process that is; the host holds the descriptor given here.
KILLED_AS_IT_STARTS = """
import os, signal, sys
from groupwise.worker.sandbox import launch, limits, tiers
tier = tiers.probe().name
launch._read_pid = lambda information: os.kill(os.getpid(), signal.SIGKILL)
launch.start_host(tier, limits.Limits(), None, False, int(sys.argv[1]))
"""


@pytest.mark.parametrize("attempt", range(3))  # which comes first, the end or bubblewrap's word, is a race
def test_who_is_killed_as_it_starts_a_host_leaves_none(attempt: int):
    ours, theirs = os.pipe()
    with open(ours, "rb") as lives:
        with open(theirs, "wb"):
            argv = [sys.executable, "-c", KILLED_AS_IT_STARTS, str(theirs)]
            assert subprocess.run(argv, pass_fds=[theirs], timeout=60).returncode == -signal.SIGKILL
        assert select.select([lives], [], [], 20)[0] and lives.read() == b""  # nobody holds its other end


def test_one_that_dies_in_each_call_is_blamed_for_it():
    code = "import ctypes\ndef score(completions):\n    ctypes.string_at(0)\n"
    with Host([Code("score", code)]) as host:
        for _ in range(2):
            result = host.score("score", BATCH, 5.0)
            assert result.statuses == ["error", "error"] and "SIGSEGV" in result.failures[0].message


def test_a_host_outlives_the_thread_that_made_it():
    made: list[Host] = []
    thread = threading.Thread(
        target=lambda: made.append(Host([Code("score", "def score(completions):\n    return [1, 2]\n")]))
    )
    thread.start()
    thread.join()
    with made[0] as host:
        assert host.score("score", BATCH, 5.0).values == [1.0, 2.0]


def test_what_it_left_running_rests_between_calls():
    code = """
        import threading
        counted = [0]
        def count():
            while True:
                counted[0] += 1
        def score(completions, **kwargs):
            if len(completions) == 1:
                threading.Thread(target=count, daemon=True).start()
            return [counted[0]] * len(completions)
    """
    with Host([Code("score", textwrap.dedent(code))]) as host:
        host.score("score", {"completions": ["a"]}, 5.0)
        assert host._process
        wait_for_state(host._process._started.pid, "T")
        assert host.score("score", BATCH, 5.0).statuses == ["ok", "ok"]


def wait_for_state(pid: int, state: str) -> None:
    import time
    from pathlib import Path

    end = time.monotonic() + 10
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != state:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_more_columns_than_a_reply_may_hold_lose_only_the_logs():
    code = """
        def score(completions, log_extra):
            log_extra("much", ["x" * 4000] * len(completions))
            return [1.0] * len(completions)
    """
    result = scored(code, {"completions": ["a"] * 5000})
    assert result.statuses == ["ok"] * 5000 and result.extras == {}


def test_in_process_has_the_same_interface():
    def trusted(completions: list[str], *, k: float = 1.0, **kwargs: Any) -> list[float]:
        print("here")
        completions.pop()
        return [k, None]  # type: ignore[list-item]

    scorer = client.in_process(trusted, {"k": 2.0})
    for _ in range(2):  # what it does to its lists is its own affair
        result = scorer.score("trusted", BATCH, 1.0)
        assert (result.values, result.statuses, result.out) == ([2.0, None], ["ok", "none"], "here\n")
    scorer.close()


@pytest.mark.parametrize(
    "change",
    [
        {"values": [1.0]}, {"values": ["1"]}, {"values": [float("nan"), 1.0]}, {"values": 3},
        {"statuses": ["ok", "fine"]},
        {"statuses": ["none", "ok"]}, {"failures": [3]}, {"failures": None}, {"extras": {"a": [1]}},
        {"metrics": {"a": "x"}}, {"metrics": {"a": float("inf")}}, {"metrics": []},
    ],
)  # fmt: skip
def test_a_reply_that_is_none_is_seen(change: dict[str, Any]):
    good: dict[str, Any] = {"values": [1.0, 1.0], "statuses": ["ok", "ok"], "failures": [], "extras": {}, "metrics": {}}
    assert results.check_reply(good, 2, "", 0.0).values == [1.0, 1.0]
    with pytest.raises(results.NotAReply):
        results.check_reply(good | change, 2, "", 0.0)
