"""What people type or upload may hold a run of a hundred thousand spaces or digits: looking at it ends all the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from groupwise.storage.checks.conditions import write_in_our_signs
from groupwise.storage.checks.name_lists import names_problem
from groupwise.storage.spec.answer_numbers import number_of_answer, written_with
from groupwise.storage.spec.rows.heading_names import numbered_names
from groupwise.storage.spec.words.odd_spaces import trim_spaces
from groupwise.storage.spec.words.problem import SpecError
from groupwise.storage.spec.yaml.slips import read_past_slips
from groupwise.storage.spec.yaml.yaml_text import MAX_NAME, parse_document
from groupwise.worker.data.files.heading import is_a_row

SPACES, DIGITS = " " * 100_000, "1" * 100_000


@pytest.mark.parametrize(
    ("look", "seen"),
    [
        (lambda: trim_spaces(f"\u00a0a{SPACES}b\u200b "), f"a{SPACES}b"),
        (lambda: names_problem("lora.target_modules", "q_proj  " * 40 + "$"), None),
        (lambda: number_of_answer(f"-{SPACES}x 5", "point"), "5"),
        (lambda: number_of_answer(f"- €{SPACES}5", "point"), "-5"),
        (lambda: written_with([DIGITS, "58,0"]), "comma"),
        (lambda: is_a_row([f"1{SPACES}x"], [{f"1{SPACES}x": f"2{SPACES}y"}]), False),
        (lambda: len(set(numbered_names(["q"] * 20_000))), 20_000),
        (lambda: write_in_our_signs(f"a >{SPACES}3"), None),
    ],
)
def test_a_long_run_is_looked_at_once(look: Callable[[], object], seen: object) -> None:
    assert look() == seen


@pytest.mark.parametrize("line", [f"a: x{SPACES}y: z", "[!" * 50_000, f"a: {SPACES}b: 'c", f"a{SPACES}= 1 ="])
def test_a_slip_in_a_long_line_is_found(line: str) -> None:
    assert read_past_slips(f"name: a\n{line}\n").problems[0].line == 2


def test_a_name_without_end_is_refused_before_it_stands_before_each_of_its_values() -> None:
    """A list of 9,000 values under a name of 200 KB was 2 GB of names."""
    parse_document(f"? {'n' * MAX_NAME}\n: [1]\n")
    with pytest.raises(SpecError, match=f"The name of a setting has more than {MAX_NAME:,} characters"):
        parse_document(f"a: 1\n? {'n' * 200_000}\n: [{'1,' * 9000}]\n")
