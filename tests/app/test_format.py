"""Numbers, durations, ages and sizes, as a person reads them."""

from __future__ import annotations

import math

import pytest

from groupwise.app.core import format


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "–"), (math.nan, "–"), (math.inf, "∞"), (-math.inf, "−∞"), (0, "0"), (0.0, "0"), (1.4242, "1.42"),
        (0.876, "0.88"), (0.0512, "0.051"), (0.0023, "0.0023"), (1.2e-5, "1.2e-5"), (38.14, "38.1"), (284.4, "284"),
        (12840.2, "12,840"), (-0.42, "−0.42"), (1.0, "1.00"), (1.125, "1.13"), (-100.5, "−101"),
        (0.97499996, "0.98"), (0.97500002, "0.98"), (0.99500000476837, "1.00"), (0.995, "1.00"), (1.535, "1.54"),
        (12345678.5, "12,345,679"),
    ],
)  # fmt: skip
def test_a_number_has_about_three_digits(value: float | None, words: str) -> None:
    assert format.number(value) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.421, "0.42 s"), (4.24, "4.2 s"), (12.4, "12 s"), (0.125, "0.13 s"), (4.25, "4.3 s"), (12.5, "13 s"),
        (59.4, "59 s"), (59.6, "1 min"), (73, "1 min 13 s"), (89.4, "1 min 29 s"),
        (93.1, "1 min 33 s"), (119.7, "2 min"), (150, "2 min 30 s"), (599.6, "10 min"),
        (700, "12 min"), (5430, "1 h 31 min"), (300, "5 min"), (4800, "80 min"), (7200, "2 h"),
        (8000, "2 h 13 min"), (90000, "25 h"), (3 * 86400 + 4 * 3600, "3 d 4 h"), (-1, "0.00 s"),
    ],
)  # fmt: skip
def test_a_duration_names_its_largest_units(seconds: float, words: str) -> None:
    assert format.duration(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "now"), (5, "5 s ago"), (59.4, "59 s ago"), (80, "1 min ago"), (110, "2 min ago"), (200, "3 min ago"),
        (7300, "2 h ago"), (90000, "yesterday"), (400000, "4 days ago"),
    ],
)  # fmt: skip
def test_an_age_is_in_words(seconds: float, words: str) -> None:
    assert format.age(1e9, 1e9 + seconds) == words


@pytest.mark.parametrize("trained", [0.4, 59, 59.6, 61, 89.4, 91, 100, 149, 151, 3000, 5399])
def test_no_run_was_launched_later_than_it_has_trained_for(trained: float) -> None:
    """As it was seen: it took “2 min”, and was launched “1 min ago”."""
    took, launched = format.duration(trained, roughly=True), format.age(1e9, 1e9 + trained + 0.01)
    assert trained < 10 or launched == f"{took} ago"


def test_an_age_of_nothing_is_never() -> None:
    assert format.age(None) == "never"


@pytest.mark.parametrize(
    ("value", "words"),
    [(1.6, "+1.6"), (-0.4, "−0.4"), (0.0, "0.0"), (-0.01, "0.0"), (3e38, "+3.0e+38"), (-2500.0, "−2,500")],
)
def test_an_advantage_has_its_sign(value: float, words: str) -> None:
    assert format.signed_number(value) == words


@pytest.mark.parametrize(
    ("nbytes", "words"),
    [(812, "812 B"), (3_200_000, "3.2 MB"), (1.5e9, "1.5 GB"), (2e12, "2.0 TB"), (3.2e18, "1,000+ TB")],
)
def test_a_size_has_a_unit(nbytes: int, words: str) -> None:
    assert format.size(nbytes) == words


def test_a_long_text_is_cut_to_one_line() -> None:
    assert format.shorten("a\nb  c", 10) == "a b c"
    assert format.shorten("x" * 100_000, 10) == "x" * 9 + "…"


def test_a_sentence_is_cut_between_words_where_that_leaves_most_of_it() -> None:
    assert format.shorten_sentence("failed with one answer", 22) == "failed with one answer"
    assert format.shorten_sentence("failed with one answer, it", 24) == "failed with one answer…"
    assert format.shorten_sentence("failed with one answer", 21) == "failed with one…"
    assert format.shorten_sentence("failed with " + "x" * 90, 30) == "failed with " + "x" * 17 + "…"


def test_steps_are_named_by_the_first_and_the_last_with_commas() -> None:
    """“steps 1200–1300” stood in the Statistics, “steps 1,200–1,300” in Checkpoints."""
    assert [format.step_range(one) for one in ((3, 3), (1200, 1200), (901, 1000))] == [
        "step 3", "step 1,200", "steps 901–1,000",
    ]  # fmt: skip


def test_progress_without_a_plan_names_the_step_only() -> None:
    assert format.progress(12, 60) == "step 12 of 60"
    assert format.progress(12, 0) == "step 12"
