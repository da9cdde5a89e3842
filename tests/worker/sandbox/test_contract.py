"""What counts of a reward function's answer: every shape it can have, called as the sandbox and the trainer call it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from groupwise.worker.sandbox import contract


def answered(answer: Any, rows: int = 2) -> dict[str, Any]:
    return contract.call(lambda completions, **rest: answer, {"completions": ["a"] * rows}, {}, rows)


@pytest.mark.parametrize(
    ("answer", "values", "statuses"),
    [
        ([1, 0.5], [1.0, 0.5], ["ok", "ok"]),
        ([True, None], [1.0, None], ["ok", "none"]),
        ((1.0, 2.0), [1.0, 2.0], ["ok", "ok"]),
        ([float("nan"), 1.0], [None, 1.0], ["error", "ok"]),
        ([float("-inf"), 1.0], [None, 1.0], ["error", "ok"]),
        ([1e10, 1.0], [None, 1.0], ["error", "ok"]),
        (["0.5", 1.0], [None, 1.0], ["error", "ok"]),
        ([10**400, 1.0], [None, 1.0], ["error", "ok"]),
        ([[1.0], 1.0], [None, 1.0], ["error", "ok"]),
        (1.0, [None, None], ["error", "error"]),
        ("ab", [None, None], ["error", "error"]),
        (None, [None, None], ["error", "error"]),
        ({"a": 1, "b": 2}, [None, None], ["error", "error"]),
        ([1.0], [None, None], ["error", "error"]),
        ([1.0, 1.0, 1.0], [None, None], ["error", "error"]),
    ],
)
def test_each_shape(answer: Any, values: list[float | None], statuses: list[str]):
    reply = answered(answer)
    assert (reply["values"], reply["statuses"]) == (values, statuses)
    assert bool(reply["failures"]) == ("error" in statuses)


def test_numbers_of_numpy_and_torch_count():
    import numpy
    import torch

    assert answered(numpy.array([1, 2]))["values"] == [1.0, 2.0]
    assert answered([numpy.float32(1), torch.tensor(2)])["values"] == [1.0, 2.0]
    assert answered(torch.tensor([1.0, float("nan")]))["statuses"] == ["ok", "error"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (["0.5", 1], "the text '0.5'"), (3.5, "3.5 (float)"), ([1], "1 score for 2 completions"),
        ([float("inf"), 1], "inf"), (None, "None"), ([10**400, 1], "(int); a score lies between -1e9 and 1e9."),
    ],
)  # fmt: skip
def test_a_failure_names_the_value(answer: Any, words: str):
    assert words in answered(answer)["failures"][0]["message"]


def test_a_failure_names_the_row():
    assert answered([1.0, "x"])["failures"][0]["row"] == 1


def hurt(completions, **kwargs):  # type: ignore[no-untyped-def]
    return [1 / len(text) for text in completions]


def test_only_the_row_that_raises_has_no_score():
    reply = contract.call(hurt, {"completions": ["a", "", "cc"]}, {}, 3)
    assert reply["values"] == [1.0, None, 0.5] and reply["statuses"] == ["ok", "error", "ok"]
    failure = reply["failures"][0]
    assert failure["row"] == 1 and failure["message"].startswith("ZeroDivisionError")
    assert failure["line"] == hurt.__code__.co_firstlineno + 1 and "1 / len(text)" in failure["traceback"]
    assert "sandbox/contract.py" not in failure["traceback"]


def test_a_fault_of_the_batch_leaves_no_score():
    def together(completions: list[str], **kwargs: Any) -> list[float]:
        assert len(completions) == 1, "not together"
        return [1.0]

    reply = contract.call(together, {"completions": ["a", "b"]}, {}, 2)
    assert reply["statuses"] == ["error", "error"] and "not together" in reply["failures"][0]["message"]


def test_rows_are_called_alone_no_longer_than_the_call_may_take():
    def broken(completions: list[str], **kwargs: Any) -> list[float]:
        raise ValueError("always")

    reply = contract.call(broken, {"completions": ["a"] * 3}, {}, 3, seconds=-1.0)
    assert reply["statuses"] == ["error"] * 3


def test_no_row_is_called_alone_that_would_take_the_call_over_its_time():
    """Else the whole call would be ended, and why it failed be lost."""
    calls = []

    def slow(completions: list[str], **kwargs: Any) -> list[float]:
        calls.append(len(completions))
        time.sleep(0.2)
        raise ValueError("late")

    reply = contract.call(slow, {"completions": ["a"] * 8}, {}, 8, seconds=0.5)
    assert reply["statuses"] == ["error"] * 8 and reply["failures"][0]["message"] == "ValueError: late"
    assert calls[0] == 8 and len(calls) <= 2


def test_a_failure_reads_the_same_each_time():
    (first, second) = (answered(one for one in "ab")["failures"][0]["message"] for _ in range(2))
    assert first == second and "(generator)" in first


@pytest.mark.parametrize("state", [{"global_step": 7}, None])
def test_it_gets_by_name_what_it_asks_for(state: dict[str, int] | None):
    def asks(completions: list[str], answer: list[str], trainer_state: Any, *, scale: float = 1.0) -> list[float]:
        return [
            scale * (text == right) * trainer_state.global_step for text, right in zip(completions, answer, strict=True)
        ]

    batch = {"completions": ["4", "5"], "answer": ["4", "4"], "other": [0, 0]} | (
        {"trainer_state": state} if state else {}
    )
    reply = contract.call(asks, batch, {"scale": 2.0}, 2)
    if state:
        assert reply["values"] == [14.0, 0.0]
    else:
        assert "takes ‘trainer_state’" in reply["failures"][0]["message"]


def test_a_parameter_wins_over_a_column_of_its_name():
    def f(completions: list[str], *, answer: str = "", **kwargs: Any) -> list[float]:
        return [float(answer == "mine")] * len(completions)

    assert contract.call(f, {"completions": ["a"], "answer": ["x"]}, {"answer": "mine"}, 1)["values"] == [1.0]


def test_a_parameter_it_does_not_take_is_named():
    reply = contract.call(lambda completions: [1.0], {"completions": ["a"]}, {"tags": []}, 1)
    assert reply["failures"][0]["message"] == "It takes no parameter ‘tags’."


def test_async_functions_are_awaited():
    async def slow(completions: list[str], **kwargs: Any) -> list[float]:
        await asyncio.sleep(0)
        return [1.0] * len(completions)

    async def cancelled(completions: list[str], **kwargs: Any) -> list[float]:
        raise asyncio.CancelledError

    assert contract.call(slow, {"completions": ["a", "b"]}, {}, 2)["values"] == [1.0, 1.0]

    async def within_a_loop() -> list[Any]:
        """As a notebook calls: its own loop runs."""
        return [contract.call(one, {"completions": ["a"]}, {}, 1) for one in (slow, cancelled)]

    assert contract.call(cancelled, {"completions": ["a"]}, {}, 1)["statuses"] == ["error"]
    with ThreadPoolExecutor(1) as thread:  # one in which no loop runs yet
        replies = thread.submit(asyncio.run, within_a_loop()).result()
    assert [reply["statuses"] for reply in replies] == [["ok"], ["error"]]


def logs(
    completions: list[str], log_extra: Callable[..., None], log_metric: Callable[..., None], **kw: Any
) -> list[float]:
    log_extra("length", [len(text) for text in completions])
    log_metric("mean", len(completions[0]))
    log_metric("mean", 3.0)
    return [1 / len(text) for text in completions]


def test_log_extra_and_log_metric_are_collected():
    reply = contract.call(logs, {"completions": ["a", "bb"]}, {}, 2)
    assert reply["extras"] == {"length": [1, 2]} and reply["metrics"] == {"mean": 2.0}


def test_logs_of_rows_called_alone_are_put_together():
    reply = contract.call(logs, {"completions": ["a", "", "bb"]}, {}, 3)
    assert reply["extras"] == {"length": [1, None, 2]} and reply["metrics"] == {"mean": 2.25}


def test_a_log_of_the_wrong_length_is_left_out_and_said():
    def f(completions: list[str], log_extra: Callable[..., None], **kwargs: Any) -> list[float]:
        log_extra("x", [1, 2, 3])
        return [1.0]

    reply = contract.call(f, {"completions": ["a"]}, {}, 1)
    assert reply["statuses"] == ["ok"] and reply["extras"] == {}
    assert "got 3 values for 1 completion" in reply["failures"][0]["message"]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ModuleNotFoundError("No", name="foo.bar"), "needs the package ‘foo’"), (MemoryError(), "out of memory"),
        (SystemExit(2), "SystemExit"), (RecursionError("deep"), "RecursionError"),
    ],
)  # fmt: skip
def test_an_exception_in_words(error: BaseException, words: str):
    def f(completions: list[str], **kwargs: Any) -> list[float]:
        raise error

    assert words in contract.call(f, {"completions": ["a"]}, {}, 1)["failures"][0]["message"]


def test_an_exception_that_cannot_be_shown_is_a_failure_all_the_same():
    class Nasty(Exception):
        def __str__(self) -> str:
            raise ValueError

    def f(completions: list[str], **kwargs: Any) -> list[Any]:
        raise Nasty

    assert "Nasty" in contract.call(f, {"completions": ["a"]}, {}, 1)["failures"][0]["message"]
