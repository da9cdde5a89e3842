"""A try in the workbench of all that reward code does wrong or tries: its message, its line, and the others' scores."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.registry.questions import SCORE
from tests.support.bad_input import FLOOD, ONE_ROW, Bad, code, codes, line
from tests.support.workbench import READS, answered, end_warm_hosts, group, own

GROUPS = [group("0", "1"), group("2", "3")]


@pytest.fixture(autouse=True)
def prepared(registry_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("HF_TOKEN", "hf_canary")
    yield
    end_warm_hosts()


def tried(text: str, timeout: float = 1.5) -> dict[str, Any]:
    hostile = {"name": "hostile", "code": text, "timeout": timeout}
    found = answered(SCORE, {"functions": [hostile, own(READS)], "groups": GROUPS})
    assert [one["total"] - (one["scores"]["hostile"]["value"] or 0) for each in found["groups"]
            for one in each["completions"]] == [0.0, 1.0, 2.0, 3.0]  # fmt: skip
    function: dict[str, Any] = found["functions"][0]
    return function


@pytest.mark.parametrize("kind", codes())
def test_what_leaves_no_score_is_said_with_its_line(kind: str) -> None:
    text, bad = codes()[kind]
    function = tried(text)
    failure = function["failures"][0]
    assert function["errors"] == 4 and function["mean"] is None
    assert function["histogram"] == {"edges": [], "counts": []}
    assert re.search(bad.words, failure["message"]) and failure["line"] == line(text), failure
    assert "canary" not in str(function) and "root:" not in str(function)


@pytest.mark.parametrize(("bad", "errors"), [(ONE_ROW, 1), (FLOOD, 0)], ids=["one row", "a gigabyte of print"])
def test_what_leaves_some_scores_is_said_too(bad: Bad, errors: int) -> None:
    function = tried(code(bad), timeout=240.0)
    assert (function["errors"], function["mean"]) == (errors, 1.0), function["failures"]
    (failure,) = function["failures"]
    assert re.search(bad.words, failure["message"]) and (failure["group"], failure["index"]) == (
        (0, 1) if errors else (None, None)
    )
