"""The list of a step's groups: its orders, and what ties the tied ones."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from groupwise.app.pages.run.group import other_columns, standing
from groupwise.app.pages.run.group_list import group_line, order_groups, tell_apart, tie, verdict

SEEN = (0.0, 3.0)


def group(n: int, low: float | None, high: float | None, std: float | None = 0.0) -> dict[str, Any]:
    mean = None if low is None or high is None else (low + high) / 2
    tied = low is not None and low == high
    return {"id": n, "prompt": f"{n}?", "mean": mean, "std": std, "low": low, "high": high, "tied": tied}


GROUPS = [
    group(1, 1.0, 1.0),
    group(2, 0.0, 3.0, 1.2),
    group(3, 0.0, 0.0),
    group(4, 3.0, 3.0),
    group(5, None, None, None),
]


@pytest.mark.parametrize(
    ("pick", "ids"),
    [
        ("", [1, 2, 3, 4, 5]), ("worst", [3, 1, 2, 4, 5]), ("best", [4, 2, 1, 3, 5]), ("spread", [2, 1, 3, 4, 5]),
        ("tied", [3, 1, 4, 2, 5]), ("<script>", [1, 2, 3, 4, 5]),
    ],
)  # fmt: skip
def test_the_group_that_was_picked_comes_first(pick: str, ids: list[int]):
    assert [one["id"] for one in order_groups(GROUPS, pick)] == ids


def test_random_is_the_same_after_a_reload():
    assert order_groups(GROUPS, "random") == order_groups(GROUPS[::-1], "random") != GROUPS


def test_infinite_means_have_a_place():
    odd = [group(1, -math.inf, 0.0, math.nan), group(2, 0.0, math.inf), group(3, 1.0, 2.0, 0.5)]
    for pick in ("worst", "best", "spread", "tied"):
        assert order_groups(odd, pick)[0]["id"] == 3
        assert len(order_groups(odd, pick)) == 3


def test_a_tie_is_all_low_all_high_or_neither():
    assert [tie(one, SEEN) for one in GROUPS] == ["other", "", "all_low", "all_high", ""]
    assert [group_line(one, SEEN)["spread"] for one in GROUPS] == [
        "tied otherwise",
        "1.20",
        "all at lowest score",
        "all at top score",
        "–",
    ]
    assert group_line(GROUPS[2], None)["spread"] == "tied"
    assert [group_line(one, SEEN, {2})["starred"] for one in GROUPS[:2]] == [False, True]


def test_prompts_that_begin_alike_are_whole_and_parted_where_they_differ():
    texts = [
        "Natalia sold clips to 48 of her friends", "Natalia sold clips to 42 of her friends", "What is 3 + 4?",
        "What is 3 + 5?", "Natalia sold clips to 48 of her friends", "Thisisonelongwordofmanyletters1",
        "Thisisonelongwordofmanyletters2", "Wie viel ist 17 − 4?", "Wie viel ist 17 − 52?",
    ]  # fmt: skip
    lines = [group_line(group(n, 0, 1) | {"prompt": text}, SEEN) for n, text in enumerate(texts)]
    tell_apart(lines)
    assert [line["prompt"] for line in lines] == [
        ["Natalia sold clips to ", "48 of her friends"], ["Natalia sold clips to ", "42 of her friends"],
        ["What is 3 + 4?"], ["What is 3 + 5?"], ["Natalia sold clips to ", "48 of her friends"],
        ["Thisisonelongwordofmanyletters", "1"], ["Thisisonelongwordofmanyletters", "2"],
        ["Wie viel ist 17 − 4?"], ["Wie viel ist 17 − 52?"],
    ]  # fmt: skip
    assert [line["whole"] for line in lines] == texts
    same = [group_line(group(n, 0, 1) | {"prompt": texts[0]}, SEEN) for n in (1, 2)]
    tell_apart(same)
    assert [line["prompt"] for line in same] == [[texts[0]]] * 2
    long = [group_line(group(n, 0, 1) | {"prompt": f"{'word ' * 40}{n}"}, SEEN) for n in (1, 2)]
    tell_apart(long)
    assert [line["prompt"][1] for line in long] == ["1", "2"] and len(long[0]["prompt"][0]) <= 71


def test_the_ties_of_a_step_are_told_in_words():
    top = f"1 all at top score: {SEEN[1]:.2f}, the highest seen"
    assert verdict(GROUPS, "train", SEEN) == (
        f"3 of 5 groups are tied (1 all at lowest score, {top}, 1 tied otherwise): "
        "every completion scored the same, so there is no learning signal from them."
    )
    assert "1 all at top score, 1 tied otherwise)" in verdict(GROUPS, "train", SEEN, SEEN[1])
    below = f"1 all at top score: {SEEN[1]:.2f} of 9.00 at most, 1 tied otherwise)"
    assert below in verdict(GROUPS, "train", SEEN, 9.0)
    assert verdict([GROUPS[2]], "train", SEEN).startswith("This group is tied (all at lowest score):")
    assert verdict(GROUPS[:2], "eval", SEEN) == "1 of 2 groups is tied: every completion scored the same."
    assert verdict([GROUPS[1]]) == ""


def test_a_group_of_answers_that_earn_alike_is_at_the_highest_where_that_is_all_there_is() -> None:
    found = {**group(4, SEEN[1], SEEN[1]), "mode": "train", "completions": [{"text": "1"}, {"text": "1"}]}
    told = [standing(found, SEEN, most) for most in (SEEN[1], 9.0, None)]
    assert "Tied, all at top score: every completion earned the most that is possible." in told[0]
    assert "the most seen in this run, of 9.00 at most." in told[1]
    assert ": every completion earned the most seen in this run, which need not be" in told[2]


def test_a_group_without_an_answer_says_nothing_about_its_prompt() -> None:
    found = {**group(3, 0.0, 0.0), "mode": "train", "completions": [{"text": "<<<<<<<"}, {"text": ""}]}
    ruined, seen = standing(found, SEEN), "this says nothing about the prompt"
    assert "all at lowest score" in ruined and seen in ruined and "too hard" not in ruined
    tried = standing({**found, "completions": [{"text": "<<<<<<<"}, {"text": "< 7"}]}, SEEN)
    assert "The prompt may still be too hard" in tried and seen not in tried


@pytest.mark.parametrize(
    ("answer", "status", "is_told"),
    [("", "none", True), (None, "none", True), ("4", "none", False), (0, "none", False), ("", "ok", False)],
)
def test_of_a_row_without_an_answer_it_is_not_said_that_its_prompt_is_too_hard(
    answer: str | int | None, status: str, is_told: bool
) -> None:
    scores = [{"name": "format", "status": "ok"}, {"name": "correctness", "status": status}]
    completions = [{"text": "7", "scores": scores}, {"text": "8", "scores": scores}]
    columns = {"stufe": 1, "answer": answer}
    said = standing({**group(3, 0.0, 0.0), "mode": "train", "completions": completions, "columns": columns}, SEEN)
    assert ("Does the row lack its answer?" in said, "too hard" in said) == (is_told, not is_told)


def test_a_tied_group_whose_row_has_no_answer_is_not_called_failed() -> None:
    lacking = {**GROUPS[2], "no_answer": True}
    assert [group_line(lacking, seen)["spread"] for seen in (SEEN, None)] == ["no answer in row"] * 2
    assert "nothing can be learned from this row" in group_line(lacking, SEEN)["why"]
    assert "(1 all at lowest score, 1 no answer in row)" in verdict([lacking, GROUPS[2], GROUPS[1]], "train", SEEN)
    assert group_line({**GROUPS[1], "no_answer": True}, SEEN)["spread"] == "1.20"


def test_a_group_of_wrong_answers_has_none_right_whatever_it_earned() -> None:
    """“all failed” stood beside a mean of 1.00, in the run that paid everybody 1 for the format."""
    for seen in (SEEN, (1.0, 2.0), (1.0, 1.0)):
        wrong = {**GROUPS[0], "none_right": True, "mode": "train", "completions": [{"text": "7"}, {"text": "8"}]}
        line = group_line(wrong, seen)
        assert (line["mean"], line["spread"]) == ("1.00", "none right") and "none is right" in line["why"]
        assert "Tied, none right: " in standing(wrong, seen) and "still be too hard" in standing(wrong, seen)
    nothing = {**GROUPS[2], "none_right": True}
    assert group_line(nothing, SEEN)["spread"] == "none right", "as Statistics says of it"
    told = verdict([wrong, nothing, GROUPS[1]], "train", SEEN)
    assert told.startswith("2 of 3 groups are tied (2 none right):")


def test_of_a_rows_empty_columns_only_the_answer_is_told() -> None:
    row = {"answer": "", "Lösung": None, "Einheit": " ", "stufe": 0}
    assert re.findall(r'<span class="mut">(.*?)</span> <b dir="auto">(.*?)</b>', other_columns(row, "1 + 1")) == [
        ("answer", "empty"), ("stufe", "0")
    ]  # fmt: skip
    assert other_columns({"Einheit": ""}, "1 + 1") == ""
