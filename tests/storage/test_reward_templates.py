"""The templates really score: right and wrong, chat and plain, one by one with their parameters."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from groupwise.storage.library.rewards.templates import async_call, blank, compare_answer, logging_more, partial_credit
from groupwise.storage.library.rewards.templates import regular_expression as expression
from groupwise.storage.library.rewards.templates import several_columns as columns


def awaited(answer: Any) -> Any:
    """In a thread of its own: a browser test before this may have left a loop running in ours."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, answer).result()


def chat(text: str | None) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": text}]


@pytest.mark.parametrize("wrapped", [str, chat], ids=["plain", "chat"])
def test_each_scores_plain_text_and_chat_alike(wrapped: Any):
    assert blank.my_reward([wrapped("x"), wrapped(" ")]) == [1.0, 0.0]
    given = [wrapped("<answer> Paris </answer>"), wrapped("Rome"), wrapped("x")]
    assert compare_answer.right_answer(given, ["paris", "Paris", None]) == [1.0, 0.0, None]
    assert expression.finds_pattern([wrapped("it is 4"), wrapped("four")]) == [1.0, 0.0]
    assert expression.finds_pattern([wrapped("it is 4"), wrapped(" 4 ")], whole=True) == [0.0, 1.0]
    whole = "<think>a</think><answer>b</answer>"
    given = [wrapped(whole), wrapped("<think>a</think>"), wrapped(whole + "x" * 100), wrapped("")]
    assert partial_credit.tags_in_place(given) == [1.0, 0.5, 0.9, 0.0]
    assert awaited(async_call.slow_check([wrapped("Yes."), wrapped("and")], at_once=1)) == [1.0, 0.0]


def test_a_message_without_text_and_no_message_at_all_are_empty():
    assert blank.my_reward([chat(None), []]) == [0.0, 0.0]


def test_several_columns_are_used_row_by_row():
    scores = columns.uses_the_facts(
        ["a and b", "a", "a", "asked", "x"], ["asked"] * 5, [["a", "b"], ["a", "b"], ["a", "b"], ["a"], []],
        [1, 1, 3, 1, None],
    )  # fmt: skip
    assert scores == [1.0, 0.5, 1.0, 0.0, None]


def test_what_is_logged_comes_with_the_scores_and_the_step_changes_the_limit():
    logged: dict[str, Any] = {}
    late = SimpleNamespace(global_step=20)
    scores = logging_more.short_enough(
        ["a b", "a b c d"], trainer_state=late, log_extra=logged.__setitem__, log_metric=logged.__setitem__, most=2
    )
    assert scores == [1.0, 0.5] and logged == {"words": [2, 4], "words/mean": 3.0}
    assert logging_more.short_enough(["a b c d"], most=2) == [1.0]


def test_a_check_that_fails_is_no_score(monkeypatch: pytest.MonkeyPatch):
    def fail(text: str) -> bool:
        raise ConnectionRefusedError(text)

    monkeypatch.setattr(async_call, "check", fail)
    assert awaited(async_call.slow_check(["a"])) == [None]
