"""code_tests for its tests: a right program, its tests, and the share of them that a program passes."""

from __future__ import annotations

from typing import Any

from tests.support.rewards import score

ADD = ["assert add(1, 2) == 3", "assert add(-1, 1) == 0"]
RIGHT = "def add(a, b):\n    return a + b"


def share(code: str, tests: Any = ADD, **given: Any) -> float | None:
    """The share of tests that this code passes."""
    return score("code_tests", code, tests=[tests], partial=True, **{"timeout": 60, **given})
