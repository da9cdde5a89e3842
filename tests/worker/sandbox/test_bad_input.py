"""All that reward code does wrong or tries has its message: in both tiers, as this user and as an ordinary one."""

from __future__ import annotations

import re

import pytest

from tests.support.bad_input import FLOOD, HELPERS, ONE_ROW, code, codes, line
from tests.support.sandboxes import Way, ways

GOOD = "def hostile(completions, **kwargs):\n    return [2.0] * len(completions)\n"


@pytest.fixture(params=ways())
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Way:
    tier, nobody = request.param
    return Way(tier, nobody, monkeypatch)


def test_each_leaves_no_score_and_one_reason_and_the_next_call_works(way: Way) -> None:
    way.environment["HF_TOKEN"] = "hf_canary"
    every = codes()
    texts = [text for text, _ in every.values()]
    answers = way.scores(*texts, GOOD, rows=3, timeout=1.5, name="hostile")
    for (name, (text, bad)), answer in zip(every.items(), answers, strict=False):
        failure = next(iter(answer["failures"]), {})
        assert answer["values"] == [None] * 3 and set(answer["statuses"]) == {bad.status}, (name, answer)
        assert re.search(bad.words, failure["message"]), (name, failure)
        assert failure["line"] == line(text), (name, failure)
        assert "canary" not in str(answer) and "root:" not in str(answer)
    assert answers[-1]["values"] == [2.0] * 3


def test_one_row_that_raises_is_named_and_the_others_have_their_scores(way: Way) -> None:
    answer = way.scores(code(ONE_ROW), rows=3, name="hostile")[0]
    assert answer["values"] == [1.0, None, 1.0] and answer["statuses"] == ["ok", "error", "ok"]
    (failure,) = answer["failures"]
    assert failure["row"] == 1 and re.search(ONE_ROW.words, failure["message"])
    assert HELPERS.split("\n")[failure["line"] - 1].strip() == 'raise ValueError("one row is odd")'


def test_a_gigabyte_of_print_is_cut_and_said_and_costs_no_score(way: Way) -> None:
    answer = way.scores(code(FLOOD), rows=3, timeout=60.0, name="hostile")[0]
    assert answer["values"] == [1.0] * 3 and len(answer["out"]) < 66_000 and "more bytes, left out" in answer["out"]
    (failure,) = answer["failures"]
    assert re.search(FLOOD.words, failure["message"]) and failure["row"] is None
