"""The number in an answer: what is kept of each way to write one, and what stays as it is."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupwise.storage.spec.answer_numbers import number_of_answer
from groupwise.worker.builtin.rewards.correctness import numeral_value

# (as written, with a decimal comma, with a decimal point)
WAYS = [
    ("58", "58", "58"), ("58,0", "58", "58,0"), ("58.0", "58.0", "58"), ("58 Stück", "58", "58"), ("= 58", "58", "58"),
    ("x=58", "58", "58"), ("1.234,5", "1234.5", "1.234,5"), ("1,234.5", "1,234.5", "1234.5"),
    ("1,234", "1.2340", "1234"), ("1.234", "1234", "1.234"), ("1.234.567", "1234567", "1.234.567"),
    ("58 €", "58", "58"), ("€58", "58", "58"), ("58.", "58", "58"), ("$58", "58", "58"), ("50 %", "50", "50"),
    ("-58", "-58", "-58"), ("−58", "-58", "-58"), ("- 5", "-5", "-5"), ("-$5", "-5", "-5"), ("-0", "0", "0"),
    ("58kg", "58", "58"), ("5 m²", "5", "5"), ("1 234", "1234", "1234"), ("1\u202f234,5", "1234.5", "1\u202f234,5"),
    ("1'234", "1234", "1234"), ("007", "7", "7"), ("0,50", "0.5", "0,50"), (r"\boxed{58}", "58", "58"),
    ("#### 58", "58", "58"), ("58.-", "58", "58"), ("Typ -58", "-58", "-58"),
]  # fmt: skip
KEPT = ["", "Zwei", "2/3", "5-3", "3 + 4", "10:30", "12.03.2024", "H2O", "A4", "5e3", "3²", "12 3", "1,2,3", "v1.2.3"]


@pytest.mark.parametrize(("written", "comma", "point"), WAYS)
def test_one_number_is_kept_by_the_decimal_mark_that_is_said(written: str, comma: str, point: str) -> None:
    assert (number_of_answer(written, "comma"), number_of_answer(written, "point")) == (comma, point)


@pytest.mark.parametrize("written", KEPT)
def test_what_holds_no_one_number_stays_as_it_is(written: str) -> None:
    assert number_of_answer(written, "comma") == written == number_of_answer(written, "point")


@pytest.mark.parametrize("answer", [58, 58.5, None, True, ["58 kg"]])
def test_what_is_no_text_stays_as_it_is(answer: object) -> None:
    assert number_of_answer(answer, "comma") is answer


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3), st.sampled_from(["comma", "point"]))
def test_a_number_written_either_way_is_what_a_plain_one_equals(number: Decimal, decimal: str) -> None:
    marks = {"comma": ".,", "point": ",."}[decimal]
    written = f"{number:,f}".replace(",", "\0").replace(".", marks[1]).replace("\0", marks[0])
    kept = number_of_answer(f"= {written} Stück", decimal)
    assert numeral_value(str(kept), decimal) == number  # a comma's 1.2340 is no 12,340 either
    assert number_of_answer(kept, decimal) == kept


@given(st.text(max_size=60), st.sampled_from(["comma", "point"]))
def test_any_text_becomes_one_plain_number_or_stays(written: str, decimal: str) -> None:
    kept = number_of_answer(written, decimal)
    assert kept == written or isinstance(numeral_value(str(kept), decimal), Decimal)
