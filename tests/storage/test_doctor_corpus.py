"""The doctor on real runs whose cause is known: the first verdict is the cause, a healthy run gets none, and the table
in the docs is what was measured."""

from __future__ import annotations

from collections import Counter

import pytest

from bench.doctor_corpus import judge, kinds, records
from bench.doctor_corpus.judge import Judged
from tests.conftest import REPOSITORY

LEAST = 0.9  # of the sick runs, of each half
SIZE = 3 * 2**20  # bytes of all records


@pytest.fixture(scope="module")
def judged() -> list[Judged]:
    return judge.judge(records.all_kept())


def test_the_corpus_is_as_large_as_it_says_and_drawn_as_the_script_draws_it() -> None:
    kept = [records.name_of(path) for path in records.all_kept()]
    count = Counter(kind for kind, _ in kept)
    assert count.pop("healthy") >= 30
    assert len(count) >= 12 and min(count.values()) >= 5
    assert sum(path.stat().st_size for path in records.all_kept()) < SIZE
    for path in records.all_kept():
        assert records.read(path)["spec"] == kinds.drawn(*records.name_of(path))


@pytest.mark.parametrize("held_out", [False, True])
def test_the_first_verdict_is_the_cause(judged: list[Judged], held_out: bool) -> None:
    half = [one for one in judged if one.is_held_out == held_out]
    assert len(half) >= 0.4 * len(judged)
    wrong = {f"{one.kind}-{one.number}": one.said for one in half if one.cause and not one.is_right}
    assert judge.share_right(half) >= LEAST, wrong


def test_no_healthy_run_is_told_that_it_is_sick_at_any_step(judged: list[Judged]) -> None:
    healthy = [one for one in judged if one.cause is None]
    assert {one.number: one.said for one in healthy if not one.is_right} == {}


def test_the_table_in_the_docs_is_what_was_measured(judged: list[Judged]) -> None:
    """`python -m bench.doctor_corpus judge` prints it."""
    assert judge.table(judged) in (REPOSITORY / "docs" / "understand.md").read_text(encoding="utf-8")
