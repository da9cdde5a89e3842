"""Of what a spec gives twice either may be kept: what is wrong with either is said before the choice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from groupwise.app.pages.new import view
from groupwise.storage.spec.words.problem import BLOCKING, Problem, without_then
from groupwise.worker.builtin import models
from tests.app.test_said_at_once import HEAD, OFFER, clicked, labels_of, said_of
from tests.app.test_said_in_one_round import LONG


@pytest.mark.parametrize(
    ("text", "field", "line", "words"),
    [
        ("model: {id: starter}\nmodel: {id: other, dtype: float15}\n", "model.dtype", 5, "should be “auto”"),
        ("training:\n  max_steps: 5\n  max_steps: abc\n", "training.max_steps", 6, "should be a whole number"),
        ("training:\n  max_steps: 5\ntraining:\n  max_steps: x\n", "training.max_steps", 7, "should be a whole number"),
        ("training:\n  max_steps: 5\nkl: {}\ntraining:\n  beta: x\n", "training.beta", 8, "should be a number"),
    ],
)
def test_what_is_wrong_with_the_second_of_two_is_said_with_there_being_two(
    text: str, field: str, line: int, words: str, own_home: Path
) -> None:
    said = said_of(HEAD + text)
    [second] = [one for one in said if one[0] == field and not one[2].startswith("given twice")]
    assert second[1] == line and second[2].startswith(words), "at once: it is the one that counts"
    part = next(one[0] for one in said if one[2].startswith("given twice"))
    for label in labels_of(HEAD + text, part):
        messages = {without_then(Problem(field, words)) for field, _, words in said}
        assert {words for _, _, words in said_of(clicked(HEAD + text, part, label))} <= messages


def test_what_is_wrong_with_the_first_is_said_once(own_home: Path) -> None:
    said = said_of(HEAD + "model: {id: other, dtype: float15}\nmodel: {id: starter}\n")
    assert [(field, line) for field, line, _ in said] == [("model", 5), ("model.dtype", 4)]


@pytest.mark.parametrize(
    ("text", "field", "line"),
    [
        ("model: {id: 'starter\nmodel: {id: other, dtype: float15}\n", "model.dtype", 5),
        ('model:\n  id: "starter\nlora: {r: 8\nmodel: {dtype: float15}\nlora:\n  r: x\n', "lora.r", 9),
        ("lora: {r: 8\ntraining: {learning_rate: 20 steps}\nlora:\n  rr: 5\n", "lora.rr", 7),
    ],
)
def test_so_it_is_where_the_first_of_the_two_cannot_be_read_yet(
    text: str, field: str, line: int, own_home: Path
) -> None:
    assert [one[1] for one in said_of(HEAD + text) if one[0] == field] == [line]


@pytest.mark.parametrize("other", ["\n  max_steps: 9\n", " {max_steps: 9}\n"])
def test_what_follows_from_one_of_the_two_alone_is_not_said_before_the_choice(other: str, registry_home: Path) -> None:
    """It was said of TRL's 512 tokens that the model has no room for them, though the first of the two sets 48."""
    models.install_starter()
    offered = replace(OFFER, training={**(OFFER.training or {}), "max_completion_length": LONG})

    def fields(text: str) -> list[str]:
        seen = view.describe_text(text, offered, None, {"script", "preflight"})
        listed = seen["problems"] if "problems" in seen else seen["unreadable"]["problems"]
        return [one["field"] for one in listed if one["level"] == BLOCKING]

    text = f"{HEAD}training:\n  max_steps: 5\n  max_completion_length: 48\ntraining:{other}"
    assert fields(text) == ["training"]
    last = next(label for label in labels_of(text, "training") if label.startswith("Keep the last"))
    assert fields(clicked(text, "training", last)) == ["training.max_completion_length"], "once that is chosen"
    assert sorted(fields(text.replace("48", "600"))) == ["training", "training.max_completion_length"], "of both"
